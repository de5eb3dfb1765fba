package codex

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// change is one file of an edit.
type change struct {
	Path string `json:"path"`
	Kind struct {
		Type string `json:"type"`
		Move string `json:"move_path"`
	} `json:"kind"`
	// Diff is one without its header if a file is updated, and all of its text if it is
	// added or deleted.
	Diff string `json:"diff"`
}

// changesOf returns the ID and the files of an item that is an edit.
func changesOf(item json.RawMessage) (id string, changes []change) {
	var it struct {
		Type    string   `json:"type"`
		ID      string   `json:"id"`
		Changes []change `json:"changes"`
	}
	if json.Unmarshal(item, &it) != nil || it.Type != "fileChange" {
		return "", nil
	}
	return it.ID, it.Changes
}

// unified writes an edit as one diff in the unified format. Files in the folder are named
// as seen from there.
func unified(changes []change, folder string) (string, error) {
	var b strings.Builder
	for _, c := range changes {
		from, to := relative(c.Path, folder), relative(c.Path, folder)
		if c.Path == "" {
			return "", approvals.ErrShape
		}
		switch c.Kind.Type {
		case "update":
			if c.Kind.Move != "" {
				to = relative(c.Kind.Move, folder)
			}
			fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", from, to, ended(c.Diff))
		case "add":
			n, text := whole(c.Diff, "+")
			fmt.Fprintf(&b, "--- /dev/null\n+++ %s\n@@ -0,0 +1,%d @@\n%s", to, n, text)
		case "delete":
			n, text := whole(c.Diff, "-")
			fmt.Fprintf(&b, "--- %s\n+++ /dev/null\n@@ -1,%d +0,0 @@\n%s", from, n, text)
		default:
			return "", approvals.ErrShape
		}
	}
	return b.String(), nil
}

// whole puts a sign before each line of a text.
func whole(text, sign string) (lines int, signed string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(sign + ended(line))
		lines++
	}
	return lines, b.String()
}

func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func relative(path, folder string) string {
	if !file.Within(folder, path) {
		return path
	}
	rel, _ := filepath.Rel(folder, path) // it is within
	return filepath.ToSlash(rel)
}
