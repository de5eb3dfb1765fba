package copilot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"runtime"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

const hookVersion = 1

// hooks returns the file that Copilot CLI reads. command is the hook's, as a shell reads it; to
// Copilot CLI, a hook that fails denies.
func hooks(_, command string) []byte {
	key, shell := "bash", clients.Sh
	if runtime.GOOS == "windows" {
		key, shell = "powershell", clients.PowerShell
	}
	const day = 86400
	b, err := rawjson.Encode(map[string]any{"version": hookVersion, "hooks": map[string]any{
		"permissionRequest": []any{map[string]any{"type": "command", key: shell.Guard(command), "timeoutSec": day}},
	}}, "  ")
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// own reports whether a file is as some mcpdeck wrote it, and which version it is.
func own(file []byte) (version int, ours bool) {
	var f struct {
		Hooks struct {
			Permission []struct{ Bash, PowerShell string } `json:"permissionRequest"`
		}
	}
	if json.Unmarshal(file, &f) != nil || len(f.Hooks.Permission) != 1 {
		return 0, false
	}
	e := f.Hooks.Permission[0]
	command := clients.Bare(cmp.Or(e.Bash, e.PowerShell))
	return hookVersion, strings.Contains(command, "mcpdeck") && bytes.Equal(file, hooks("", command))
}
