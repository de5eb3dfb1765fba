package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

var errUsage = errors.New("called in a wrong way")

func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := Command(&cli.Globals{})
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.Execute()
	return out.String(), err
}

func TestCheckSaysWhatEachPartMayDo(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	shop := filepath.Join(dir, "shop")
	if err := os.MkdirAll(filepath.Join(shop, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(shop, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "check", "--cwd", filepath.Join(shop, "sub"), "cat ../a | tail -5 > ~/t; echo hi; sudo ls")
	want := `
cat ../a  read       reads a
tail -5   write-out  writes outside the project: ~/t
echo hi              text only
ls        read       reads sub
by itself priv       has other rights: sudo`
	if err != nil || strings.Join(strings.Fields(out), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCheckAsJSON(t *testing.T) {
	dir := t.TempDir()
	out, err := run(t, "check", "--json", "--project", dir, "--cwd", dir, "--shell", "zsh", "rm =(ls) x")
	var got Checked
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || got.Class != "never" || got.Shell != "zsh" || got.Effects[0] != "opaque" || got.Segments == nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTestNamesEachDifference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	for _, r := range []struct {
		name, cases, want string
		err               error
	}{
		{"none", `{"cmd":"ls","effects":["read"]}` + "\n\n" + `{"cmd":"rm a","effects":["delete"],"segments":["rm a"],"rule_may_allow":"rule"}`, "2 commands, 0 differences\n", nil},
		{"an effect", `{"cmd":"rm a","effects":["read"]}`, "cases.jsonl:1 rm a\n   effects [delete], not [read]", exit.Failed},
		{"the class", `{"cmd":"rm a","effects":["delete"],"rule_may_allow":"never"}`, "a rule may allow it: rule, not never", exit.Failed},
		{"the segments", `{"cmd":"ls; ls","effects":["read"],"segments":["ls"]}`, `segments ["ls" "ls"], not ["ls"]`, exit.Failed},
		{"no case", `ls`, "", errUsage},
	} {
		t.Run(r.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(r.cases), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, "test", path)
			if !strings.Contains(out, r.want) || !errors.Is(err, r.err) && !errors.Is(r.err, errUsage) || errors.Is(r.err, errUsage) && !errors.As(err, new(exit.UsageError)) {
				t.Errorf("%v: %q", err, out)
			}
		})
	}
}

func TestCheckSaysOfEveryCommandWhatItsListSays(t *testing.T) {
	b, err := os.ReadFile("../../../servers/rules/testdata/commands.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		var want Case
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", "/home/u")
		shell := want.Shell
		if shell == "" {
			shell = "bash"
		}
		out, err := run(t, "check", "--json", "--project", "/home/u/shop", "--cwd", "/home/u/shop", "--shell", shell, "--", want.Command)
		var got Checked
		if err == nil {
			err = json.Unmarshal([]byte(out), &got)
		}
		if err != nil || got.Reading == nil {
			t.Fatalf("%s: %v\n%s", want.Command, err, out)
		}
		if d := want.differences(got.Reading); len(d) > 0 || got.Class != want.Class {
			t.Errorf("%s: %v, %s", want.Command, d, got.Class)
		}
		n++
	}
	if n < 202 {
		t.Errorf("%d commands", n)
	}
}

func TestTheListSaysHowOftenARuleHasAnswered(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	for _, dir := range []string{home, state} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	book := "version = 1\n[[rule]]\nid = 'p9'\nverdict = 'deny'\ncommand = { words = ['git', 'push'] }\n[[rule]]\nid = 'p8'\nverdict = 'ask'\nmcp = { server = 'db', tool = '*' }\n" +
		"[[program]]\nname = 'terraform'\neffects = ['net']\n"
	history := `{"id":1,"request":{},"reply":{},"rule":{"id":"p9","say":"x"},"ended":"2026-01-01T00:00:00Z"}` + "\n{\n" +
		`{"id":2,"request":{},"reply":{},"ended":"2026-01-02T00:00:00Z"}` + "\n" + `{"id":3,"request":{},"reply":{},"rule":{"id":"p9","say":"x"},"ended":"2026-01-03T00:00:00Z"}` + "\n"
	for path, text := range map[string]string{filepath.Join(home, "rules.toml"): book, filepath.Join(state, "history.jsonl"): history} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	c := Command(&cli.Globals{Flags: config.Flags{File: filepath.Join(home, "config.toml"), State: state}})
	c.SetArgs([]string{"list", "--json"})
	c.SetOut(&out)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	var got Listed
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Rules) != 2 {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if u := got.Rules[0].Used; u == nil || u.Times != 2 || u.Last.Day() != 3 || got.Rules[1].Used != nil {
		t.Errorf("it is %+v, %+v", u, got.Rules[1].Used)
	}
}
