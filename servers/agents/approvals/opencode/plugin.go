package opencode

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// PluginVersion counts the changes of the plugin.
const PluginVersion = 3

//go:embed plugin.js
var plugin []byte

// Plugin returns the file that OpenCode loads: a line with its version and hash, and a
// program. socket is the path of the deck's prompt socket; "" for the default one, which
// the program finds from the user's home.
func Plugin(socket string) []byte {
	path := []byte(`join(homedir(), ".local/state/mcpdeck/run/prompts.sock")`)
	if socket != "" {
		path = rawjson.Quote(socket)
	}
	text := bytes.Replace(plugin, []byte("|| SOCKET"), append([]byte("|| "), path...), 1)
	return append(headline(PluginVersion, text), text...)
}

func headline(version int, text []byte) []byte {
	sum := sha256.Sum256(text)
	return fmt.Appendf(nil, "// mcpdeck plugin %d, SHA-256 %s\n", version, hex.EncodeToString(sum[:]))
}

// Own reports whether a file is as some mcpdeck wrote it, and which version it is.
func Own(file []byte) (version int, ours bool) {
	first, text, _ := bytes.Cut(file, []byte("\n"))
	var number, sum string
	if _, err := fmt.Sscanf(string(first), "// mcpdeck plugin %s SHA-256 %s", &number, &sum); err != nil {
		return 0, false
	}
	version, err := strconv.Atoi(string(bytes.TrimSuffix([]byte(number), []byte(","))))
	return version, err == nil && bytes.Equal(append(first, '\n'), headline(version, text))
}
