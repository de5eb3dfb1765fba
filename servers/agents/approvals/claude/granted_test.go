package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestMarksOfClaudesRulesSayWhatTheyLetThrough(t *testing.T) {
	for rule, want := range map[string][]string{
		`Bash(xargs:*)`:            {granted.RunsAnything},
		`Bash(timeout:*)`:          {granted.RunsAnything},
		`Bash(git log:*)`:          {granted.WritesFiles},
		`Bash(git:*)`:              {granted.RunsAnything, granted.WritesFiles},
		`Bash(git log)`:            {},
		`Bash(git status:*)`:       {},
		`Bash(ls:*)`:               {},
		`Bash(find *)`:             {granted.RunsAnything, granted.WritesFiles},
		`Bash(find . -name * -ls)`: {},
		`Bash(rm -rf build)`:       {granted.WritesFiles},
		`Bash`:                     {granted.RunsAnything, granted.WritesFiles},
		`Bash(*)`:                  {granted.RunsAnything, granted.WritesFiles},
		`Edit(/docs/**)`:           {granted.WritesFiles},
		`Read(//etc/**)`:           {},
		`WebFetch(domain:x.test)`:  {},
		`mcp__db__query`:           {},
		`Bash(push it)`:            {granted.Shadowed},
		`mcp__bad__tool`:           {granted.Shadowed},
	} {
		home := t.TempDir()
		file := filepath.Join(home, ".claude", "settings.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "{\"permissions\":{\"deny\":[\"Bash(push:*)\",\"mcp__bad\"],\n\"allow\":[\n\"" + rule + "\"]}}"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l := grants().Read(agent, granted.Where{Folders: clients.Folders{Home: home}, System: home})
		if len(l.Skipped) > 0 || len(l.Entries) != 3 {
			t.Fatalf("%s: %+v", rule, l)
		}
		e := l.Entries[2]
		if e.Text != rule || e.Line != 3 || e.File != file || e.Verdict != granted.Allow || strings.TrimSpace(e.Says) == "" {
			t.Errorf("%s is listed as %+v", rule, e)
		}
		if !slices.Equal(e.Marks, want) {
			t.Errorf("%s: marks %q, want %q", rule, e.Marks, want)
		}
	}
}
