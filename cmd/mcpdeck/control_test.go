//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// evil is what must not reach a terminal: a title, a colour by C1, a bell, text
// that runs backwards, a letter that nobody sees.
const evil = "a\x1b]0;owned\x07b\u009b31mc\u202ed\u200be\x07\x7f"

// obeyed returns what a terminal would obey or hide in the output of a command.
func obeyed(out []byte) []rune {
	var bad []rune
	for len(out) > 0 {
		r, n := utf8.DecodeRune(out)
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) || r == utf8.RuneError && n == 1 {
			bad = append(bad, r)
		}
		out = out[n:]
	}
	return bad
}

func TestCommandsPrintNothingATerminalObeys(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(d.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.ReplaceAll(evil, "/", "")+".txt", "x")
	write("evil.pxl", `{"type":"sprite","name":"`+evil+`","size":[1,1],"palette":{"a":"red"},"regions":{"b`+evil+`":{"points":[[0,0]]}}}`+"\n")
	write(".mcp.json", "{\"mcpServers\":{}, \"x\": \"\u009b31m\u202e\"}\n")
	write("wrong.toml", "x"+evil+" = [")
	state := filepath.Join(d.home, "s\x1b[31m\u202e")
	rows := []struct {
		name string
		args []string
		json bool
	}{
		{"result of a tool", []string{"call", "read_project_context", "directoryPath=."}, false},
		{"result of a tool as JSON", []string{"call", "--raw", "read_project_context", "directoryPath=."}, true},
		{"error of a tool", []string{"call", "read_project_context", "directoryPath=" + evil}, false},
		{"unknown tool", []string{"call", evil}, false},
		{"argument without a value", []string{"call", "manage_memory", evil}, false},
		{"tools as JSON", []string{"tools", "--json"}, true},
		{"unknown server", []string{"tools", evil}, false},
		{"drawing", []string{"render", "evil.pxl", "-o", "x.png"}, false},
		{"file that is not there", []string{"render", evil + ".pxl"}, false},
		{"list of objects", []string{"render", "evil.pxl", "--list"}, false},
		{"objects as JSON", []string{"render", "evil.pxl", "--list", "--json"}, true},
		{"preview of setup", []string{"setup", "claude"}, false},
		{"unknown client", []string{"setup", evil}, false},
		{"doctor", []string{"doctor", "--state", state}, false},
		{"token", []string{"token", "--state", state}, false},
		{"value of a flag", []string{"--port", evil}, false},
		{"unknown flag", []string{"--" + evil}, false},
		{"unknown command", []string{evil}, false},
		{"configuration", []string{"tools", "--config", "wrong.toml"}, false},
		{"filter of the log", []string{"log", "--since", evil}, false},
		{"picture to show", []string{"show", evil}, false},
		{"Pencil", []string{"pencil", evil}, false},
		{"comparison", []string{"logicstamp", "diff", "--baseline", evil}, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if slices.ContainsFunc(r.args, func(a string) bool { return strings.ContainsRune(a, 0) }) {
				t.Fatal("an argument cannot have NUL")
			}
			c := d.command(r.args...)
			var errs bytes.Buffer
			c.Stderr = &errs
			out, _ := c.Output()
			if len(out)+errs.Len() == 0 {
				t.Fatal("it printed nothing")
			}
			if bad := obeyed(append(slices.Clone(out), errs.Bytes()...)); len(bad) > 0 {
				t.Errorf("%U in\n%q\n%q", bad, out, errs.Bytes())
			}
			if r.json && !json.Valid(out) {
				t.Errorf("not JSON: %.300s", out)
			}
		})
	}
	t.Run("JSON holds what was there", func(t *testing.T) {
		out, err := d.command("call", "--raw", "read_project_context", "directoryPath=.").Output()
		var result struct {
			StructuredContent struct{ Entries []struct{ Name string } }
		}
		if err != nil || json.Unmarshal(out, &result) != nil {
			t.Fatalf("%v, %s", err, out)
		}
		for _, e := range result.StructuredContent.Entries {
			if e.Name == evil+".txt" {
				return
			}
		}
		t.Errorf("the file is not in %s", out)
	})
}

func TestTheDeckInLinesPrintsNothingATerminalObeys(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	out, err := os.Create(filepath.Join(d.home, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	deck := d.command("--plain", "--port", "0")
	deck.Stdin, deck.Stdout, deck.Stderr = in, out, out
	if err := deck.Start(); err != nil {
		t.Fatal(err)
	}
	defer d.kill(deck)
	read := func() []byte {
		b, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	d.until("a deck", func() bool { return bytes.Contains(read(), []byte("socket: ")) })
	args, err := json.Marshal(map[string]any{"questions": []any{map[string]any{
		"id": "q", "question": "Really" + evil + "?", "options": []any{map[string]any{"label": "Yes" + evil}, map[string]any{"label": "No"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	question := d.command("call", "ask", "--json", string(args))
	if err := question.Start(); err != nil {
		t.Fatal(err)
	}
	defer d.kill(question)
	d.until("the question", func() bool { return bytes.Contains(read(), []byte("Really")) })
	for _, c := range []*exec.Cmd{d.command("ask", "list"), d.command("ask", "list", "--json")} {
		list, err := c.Output()
		if bad := obeyed(list); err != nil || !bytes.Contains(list, []byte("Really")) || len(bad) > 0 {
			t.Errorf("%v: %v, %U in %q", c.Args[1:], err, bad, list)
		}
	}
	_ = d.command("call", "read_project_context", "directoryPath="+evil).Run() // it fails
	d.until("the call", func() bool { return bytes.Contains(read(), []byte("failed:")) })
	d.logged("read_project_context")
	for _, c := range []*exec.Cmd{d.command("log"), d.command("log", "--json")} {
		log, err := c.Output()
		if bad := obeyed(log); err != nil || len(bad) > 0 {
			t.Errorf("%v: %v, %U in %q", c.Args[1:], err, bad, log)
		}
	}
	if bad := obeyed(read()); len(bad) > 0 {
		t.Errorf("%U in\n%q", bad, read())
	}
}
