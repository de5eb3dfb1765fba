package approvals

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

//go:embed connect.js
var connect string

// Script is JavaScript that an agent's program loads, which comes to the deck with what the
// program asks.
type Script struct {
	Line    string // the first, with the version and the hash of the others: "// mcpdeck plugin %d SHA-256 %s"
	Version int
	Text    string // the part that all have in common is put before its first import
}

// Plugin is the file that it becomes.
func (s Script) Plugin() *Plugin {
	return &Plugin{File: func(socket, _ string) []byte { return s.file(socket) }, Own: s.own}
}

// Is reports whether a file is this script, for whichever socket.
func (s Script) Is(file []byte) bool {
	_, text, _ := strings.Cut(string(file), "\n")
	_, own, _ := strings.Cut(string(s.file("")), "\n")
	before, after, _ := strings.Cut(own, defaultSocket)
	path, begins := strings.CutPrefix(text, before)
	path, ends := strings.CutSuffix(path, after)
	_, err := rawjson.Text([]byte(path))
	return begins && ends && (path == defaultSocket || err == nil)
}

// defaultSocket is how a script finds the deck's socket by itself.
const defaultSocket = `join(homedir(), ".local/state/mcpdeck/run/prompts.sock")`

// file returns the file that the program loads. socket is the path of the deck's prompt socket;
// "" for the default one, which the file finds from the user's home.
func (s Script) file(socket string) []byte {
	path := defaultSocket
	if socket != "" {
		path = string(rawjson.Quote(socket))
	}
	at := strings.Index(s.Text, "import ")
	text := s.Text[:at] + strings.Replace(connect, "|| SOCKET", "|| "+path, 1) + "\n" + s.Text[at:]
	return append(s.head(s.Version, []byte(text)), text...)
}

func (s Script) head(version int, text []byte) []byte {
	sum := sha256.Sum256(text)
	return fmt.Appendf(nil, s.Line+"\n", version, hex.EncodeToString(sum[:]))
}

// own reports whether a file is as some mcpdeck wrote it, and which version it is.
func (s Script) own(file []byte) (version int, ours bool) {
	first, text, _ := bytes.Cut(file, []byte("\n"))
	var sum string
	_, err := fmt.Sscanf(string(first), s.Line, &version, &sum)
	return version, err == nil && bytes.Equal(append(first, '\n'), s.head(version, text))
}
