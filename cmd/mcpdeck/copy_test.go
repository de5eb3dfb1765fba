//go:build linux

package main

import (
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// copied is what the program put on the clipboard last.
func (w *window) copied() string {
	w.t.Helper()
	text := w.text()
	_, text, _ = strings.Cut(text[max(strings.LastIndex(text, "\x1b]52;c;"), 0):], "\x1b]52;c;")
	text, _, _ = strings.Cut(text, "\a")
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		w.t.Fatalf("on the clipboard: %v: %q", err, text)
	}
	return string(b)
}

// TestCopiedCommandsRepeatACall runs what the page of calls copies in a shell.
func TestCopiedCommandsRepeatACall(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	program, err := exec.LookPath("echo-server")
	if err != nil {
		t.Fatal(err)
	}
	d.turnedOn("echo", "mode = 'on'\ncommand = ['"+program+"']\n")
	d.path += ":" + filepath.Dir(d.program)
	d.choosePort()
	w := d.window("--port", d.port(), "--page", "calls")
	w.wide()
	w.shows(d, "Calls appear here")
	a := d.relay()
	a.Handshake("claude")
	d.until("the tools", func() bool { return a.lists("echo_echo") })
	args := rawjson.Object{{Key: "text", Value: rawjson.Quote("it's \"$HOME\" `id` $(id) \\ %s!\n<b> 🎉")}}.JSON()
	first := textOf(t, a.Request("tools/call", `{"name":"echo_echo","arguments":`+string(args)+`}`)["result"])
	if parsed(first) == nil {
		t.Fatalf("the tool says %s", first)
	}
	for key, said := range map[string]func(out []byte) string{
		"3": func(out []byte) string { return strings.TrimSuffix(string(out), "\n") },
		"4": func(out []byte) string {
			var m map[string]any
			if err := json.Unmarshal(out, &m); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return textOf(t, m["result"])
		},
	} {
		if key == "4" {
			if _, err := exec.LookPath("curl"); err != nil {
				t.Log("the command with curl is not run: there is no curl")
				continue
			}
		}
		w.key("G")
		w.shows(d, "echo_echo")
		w.key("c")
		w.shows(d, "The same with curl")
		before := len(w.text())
		w.key(key)
		d.until("a command on the clipboard", func() bool { return strings.Contains(w.text()[before:], "\x1b]52;c;") && w.copied() != "" })
		c := d.command()
		c.Path, c.Args = "/bin/sh", []string{"sh", "-c", w.copied()}
		out, err := c.Output()
		if got := said(out); err != nil || !reflect.DeepEqual(parsed(got), parsed(first)) {
			t.Errorf("%s\n says %q, %v, want %q", w.copied(), got, err, first)
		}
	}
}

// parsed is a JSON value, whose strings may be written in several ways.
func parsed(text string) (v any) {
	_ = json.Unmarshal([]byte(text), &v) // nil is unlike any
	return v
}

// textOf returns the text of a tool's result.
func textOf(t *testing.T, result any) string {
	t.Helper()
	r, _ := result.(map[string]any)
	content, _ := r["content"].([]any)
	if len(content) != 1 {
		t.Fatalf("a result: %v", result)
	}
	block, _ := content[0].(map[string]any)
	text, _ := block["text"].(string)
	return text
}
