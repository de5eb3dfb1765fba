package rules

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
)

func TestRulesAreHeldToWhatTheUserHasAnswered(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	prompt := func(id, days int, agent, command, answer, rule string) string {
		return fmt.Sprintf(`{"id":%d,"arrived":%[2]q,"ended":%[2]q,"request":{"from":{"cwd":"/src/shop"},"questions":[{"options":[{"label":"it"}]}],"prompt":{"kind":"permission","agent":%q,"command":%q,"grants":[{"allow":%t,"scope":"once"}]}},"reply":{"status":"answered","results":[{"selectedOptions":["it"]}]},"delivery":"delivered"%s}`+"\n",
			id, now.AddDate(0, 0, -days).Format(time.RFC3339), agent, command, answer == "allowed", rule)
	}
	prompts := prompt(1, 20, "claude", "go vet ./...", "denied", "") +
		prompt(2, 3, "claude", "git status", "allowed", "") +
		prompt(3, 3, "claude", "git log", "allowed", `,"rule":{"id":"m1","say":"x"}`) +
		prompt(4, 2, "claude", "make", "denied", "") +
		prompt(5, 2, "claude", "curl -H 'Authorization: [redacted]' x.example", "allowed", "") +
		prompt(6, 2, "gemini", "git log", "allowed", "") +
		prompt(7, 1, "claude", "git push -f", "denied", `,"rule":{"id":"p9","say":"x"}`)
	for name, text := range map[string]string{
		"rules.toml": "version = 1\n[[rule]]\nid = 'm1'\nverdict = 'allow'\nagent = ['claude']\ncommand = { only = ['read'] }\n[[rule]]\nid = 'p9'\nverdict = 'deny'\ncommand = { words = ['git', 'push'], with = ['-f'] }\n", "prompts.jsonl": prompts,
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := booktest.Accept(t, book.NewStore(home, home))
	test := func(args ...string) (string, error) {
		t.Helper()
		var out bytes.Buffer
		c := Command(&cli.Globals{Flags: config.Flags{File: filepath.Join(home, "config.toml"), State: home}})
		c.SetArgs(append([]string{"test", "--history"}, args...))
		c.SetOut(&out)
		err := c.Execute()
		return out.String(), err
	}
	out, err := test()
	if err != nil || !strings.HasPrefix(out, "Of 5 prompts in 7 days your rules would answer 3. Not kept whole and so not judged: 1.") || !strings.Contains(out, "m1  2") || !strings.Contains(out, "p9  1") {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.WriteFile(s.Path(), []byte("version = 1\n[[rule]]\nid = 'k1'\nverdict = 'allow'\nagent = ['claude']\ncommand = { words = ['go', 'vet'], may = ['code'] }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err = test("--days", "30"); err != nil || !strings.Contains(out, "your rules would answer 1") || !strings.Contains(out, "was changed outside the screen") {
		t.Errorf("%v\n%s", err, out)
	}
	booktest.Accept(t, s)
	if out, err = test("--days", "30"); err == nil || !strings.Contains(out, "would allow what you denied: go vet ./...") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"--days", "31"}, {"cases.jsonl"}} {
		if out, err = test(args...); err == nil {
			t.Errorf("%q: %s", args, out)
		}
	}
}
