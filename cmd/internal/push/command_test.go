package push

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestAMistypedTargetIsNamedByTheTest(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte("[notify.away]\ncomand = [\"true\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := Command(&cli.Globals{Flags: config.Flags{Port: -1, State: filepath.Join(dir, "state"), File: path}})
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs([]string{"test"})
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "nothing to test") || !strings.Contains(err.Error(), "unknown setting notify.away.comand, ignored; did you mean notify.away.command?") {
		t.Errorf("it ends with %v", err)
	}
}
