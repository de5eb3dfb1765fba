package book

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

const text = `version = 1
# mine
[[rule]]
id = "p9"
say = "Deny ` + "`git push` with --force or -f" + `"
verdict = "deny"
command = { words = ["git", "push"], with = ["--force", "-f"] }
[[rule]]
id = "q1"
verdict = "ask"
agent = ["codex", "claude"]
project = "~/shop"
command = { words = ["make"], without = ["-n"] }
[[rule]]
id = "m2"
say = "my own words"
verdict = "allow"
agent = ["claude"]
until = 2027-01-01T00:00:00Z
command = { only = ["read"] }
`

func parsed(t *testing.T, text string) *Book {
	t.Helper()
	b, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheWordsOfAnAllowForCodexSayThatItRunsOutsideItsSandbox(t *testing.T) {
	r := Rule{ID: "m1", Verdict: Allow, Agent: []string{"claude", "codex"}, Command: &Command{Only: []rules.Effect{rules.Reads}}}
	if got, want := r.Words(), "Allow commands that only read inside the project for Claude Code and Codex (outside its sandbox)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWordsAreMadeOfTheRule(t *testing.T) {
	var got []string
	for _, r := range parsed(t, text).Rules {
		w := r.Words()
		if r.ByHand() {
			w += " (by hand)"
		}
		got = append(got, w)
	}
	want := []string{
		"Deny `git push` with --force or -f",
		"Ask for `make` without -n in ~/shop for Codex and Claude Code",
		"Allow commands that only read inside the project for Claude Code until 2027-01-01 (by hand)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("words\n%s", strings.Join(got, "\n"))
	}
}

func TestABookIsUnderstoodWhollyOrNotAtAll(t *testing.T) {
	rule := func(more string) string { return "version = 1\n[[rule]]\nid = \"a\"\n" + more + "\n" }
	for _, c := range []struct{ text, why string }{
		{"version = 2\n[[rule]]\nid='a'", "version"},
		{"version = 1\nextra = 1", "line 2: extra is not known"},
		{rule("verdict = 'deny'\ncommand = { word = ['a'] }"), "line 5"},
		{rule("verdict = 'no'\ncommand = { words = ['a'] }"), "line 2: rule \"a\": verdict"},
		{rule("verdict = 'deny'"), "command"},
		{rule("verdict = 'deny'\ncommand = {}"), "words"},
		{rule("verdict = 'ask'\ncommand = { words = ['a'], with = ['x'] }"), "dash"},
		{rule("verdict = 'ask'\nagent = ['nobody']\ncommand = { words = ['a'] }"), "agent"},
		{rule("verdict = 'ask'\nproject = 'shop'\ncommand = { words = ['a'] }"), "absolute"},
		{rule("verdict = 'ask'\ntell = 'x'\ncommand = { words = ['a'] }"), "tell"},
		{rule("verdict = 'allow'\nagent = ['claude']\ncommand = { only = ['read', 'net'] }"), "only"},
		{rule("verdict = 'allow'\nagent = ['claude']\ncommand = { only = ['read'], words = ['ls'] }"), "one of words"},
		{rule("verdict = 'allow'\ncommand = { only = ['read'] }"), "agents"},
		{text + "[[rule]]\nid = 'q1'\nverdict = 'ask'\ncommand = { words = ['a'] }\n", "another rule"},
		{text[:len(text)/2], "line"},
		{strings.Repeat("#", MostBytes+1), "more than"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v, not %q, of\n%.200s", err, c.why, c.text)
		}
	}
}

func TestDenyComesBeforeAskAndAskBeforeAllow(t *testing.T) {
	b := parsed(t, text)
	slices.Reverse(b.Rules)
	for _, c := range []struct{ command, want string }{
		{"cat a", "allow m2"},
		{"cat a | head -3 && echo x", "allow m2"},
		{"cat a > b", ""},
		{"cat /etc/hosts", ""},
		{"make", "ask q1"},
		{"make -n", ""},
		{"make; git push -f", "deny p9"},
		{"git push", ""},
		{"git push origin --force main", "deny p9"},
		{"git push -uf", "deny p9"},
		{"git -C . push --force=x", "deny p9"},
		{"git --no-pager push -f", "deny p9"},
		{"/usr/bin/git push -f", "deny p9"},
		{"timeout 5 bash -c 'git push -f'", "deny p9"},
		{"(cd x && git push -f)", "deny p9"},
		{"for i in 1; do git push -f; done", "deny p9"},
		{"git push --forc", "ask p9"},
		{"git push $X", "ask p9"},
		{"git $X -f", "ask p9"},
		{"git --odd push status -f", "deny p9"},
		{"git --odd status push -f", "ask p9"},
		{"git status", "allow m2"},
		{"echo git push -f", "allow m2"},
		{"git push -- -f", ""},
	} {
		in := rules.Place{Cwd: "/home/u/shop", Root: "/home/u/shop", Home: "/home/u"}
		d := b.Decide(Request{Agent: "claude", Project: in.Root, Home: in.Home, Now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Reading: rules.Read(c.command, in)})
		got := string(d.Verdict)
		if d.Rule != nil {
			got += " " + d.Rule.ID
		} else if d.Why == "" {
			t.Errorf("%s: it does not say why it is asked", c.command)
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q (%s)", c.command, got, c.want, d.Why)
		}
	}
}

func TestARuleIsForItsAgentProjectAndTime(t *testing.T) {
	b := parsed(t, text)
	in := rules.Place{Cwd: "/home/u/shop", Root: "/home/u/shop", Home: "/home/u"}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		command, agent, project string
		at                      time.Time
		want                    Verdict
	}{
		{"make", "codex", "/home/u/shop", at, Ask},
		{"make", "opencode", "/home/u/shop", at, ""},
		{"make", "codex", "/home/u/other", at, ""},
		{"cat a", "claude", "/home/u/shop", at, Allow},
		{"cat a", "claude", "", at, ""},
		{"cat a", "codex", "/home/u/shop", at, ""},
		{"cat a", "claude", "/home/u/shop", at.AddDate(1, 0, 0), ""},
	} {
		d := b.Decide(Request{Agent: c.agent, Project: c.project, Home: in.Home, Now: c.at, Reading: rules.Read(c.command, in)})
		if d.Verdict != c.want {
			t.Errorf("%+v: %q", c, d.Verdict)
		}
	}
}

func TestOneRuleIsAddedOrForgottenAndAllElseStays(t *testing.T) {
	more, err := With([]byte(text), OnlyReads("m3", "claude"))
	if err != nil || !strings.HasPrefix(string(more), text) {
		t.Fatalf("%v\n%s", err, more)
	}
	b := parsed(t, string(more))
	if last := b.Rules[3]; last.ID != "m3" || last.ByHand() || !last.Until.IsZero() {
		t.Errorf("it is %+v", last)
	}
	less, err := Without(more, "q1")
	if b := parsed(t, string(less)); err != nil || len(b.Rules) != 3 || !strings.Contains(string(less), "# mine") {
		t.Errorf("%v\n%s", err, less)
	}
	if _, err := Without([]byte("version = 1\nrule = [{id='a', verdict='ask', command={words=['a']}}]"), "a"); err == nil {
		t.Error("a rule is cut out of a text whose lines do not tell where it is")
	}
}

func stored(t *testing.T) *Store {
	t.Helper()
	config, state := t.TempDir(), t.TempDir()
	for _, dir := range []string{config, state} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return NewStore(config, state)
}

func TestRulesAreOffUntilTheBookIsAcceptedAsItWasShown(t *testing.T) {
	s := stored(t)
	if now := s.Now(); now.Enabled || now.Fault != "" || now.Edited {
		t.Errorf("without a book: %+v", now)
	}
	if err := s.Keep(OnlyReads("m2", "claude")); err != nil {
		t.Fatal(err)
	}
	shown := s.Now()
	if err := s.Keep(OnlyReads("m3", "claude")); err == nil {
		t.Error("the same rule is kept twice")
	}
	if err := os.WriteFile(s.Path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Accept(shown); err == nil || s.Now().Enabled {
		t.Error("another book than was shown is accepted")
	}
	if err := s.Accept(s.Now()); err != nil {
		t.Fatal(err)
	}
	now := s.Now()
	if !now.Answers() || now.State(&now.Listed.Rules[2], time.Time{}) != "on" {
		t.Errorf("it is %+v", now)
	}
	if err := s.Forget("q1"); err != nil || !s.Answers() {
		t.Errorf("a rule that was forgotten here is taken for an edit: %v", err)
	}
	if err := s.Pause("m2"); err != nil {
		t.Fatal(err)
	}
	if now := s.Now(); now.State(&now.Listed.Rules[1], time.Time{}) != "paused" {
		t.Errorf("it is %q", now.State(&now.Listed.Rules[1], time.Time{}))
	}
	if err := s.Off(); err != nil || s.Now().Enabled {
		t.Errorf("they are not off: %v", err)
	}
}

func (s *Store) Answers() bool {
	now := s.Now()
	return now.Answers()
}

func TestADamagedRecordOfWhatWasAcceptedAllowsNothing(t *testing.T) {
	s := stored(t)
	if err := os.WriteFile(s.Path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.state), "rules.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Answers() || s.Now().Fault == "" {
		t.Error("rules answer")
	}
}

// BenchmarkDecide reads the commands of a list and decides by 1,000 rules, and says how long the slowest hundredth takes.
func BenchmarkDecide(b *testing.B) {
	book := &Book{}
	for i := range 999 {
		book.Rules = append(book.Rules, Rule{ID: "p" + strconv.Itoa(i), Verdict: Deny, Command: &Command{Words: []string{"git", "push"}, With: []string{"--force", "-f"}}})
	}
	book.Rules = append(book.Rules, OnlyReads("m", "claude"))
	list, err := os.ReadFile("../testdata/commands.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	var commands []string
	for line := range strings.Lines(string(list)) {
		var row struct{ Cmd string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			b.Fatal(err)
		}
		commands = append(commands, row.Cmd)
	}
	in, took, allowed := rules.Place{Cwd: "/home/u/shop", Root: "/home/u/shop", Home: "/home/u"}, []time.Duration{}, 0
	for i := 0; b.Loop(); i++ {
		before := time.Now()
		r := rules.Read(commands[i%len(commands)], in)
		if book.Decide(Request{Agent: "claude", Project: in.Root, Home: in.Home, Reading: r}).Verdict == Allow {
			allowed++
		}
		took = append(took, time.Since(before))
	}
	if len(took) >= len(commands) && allowed == 0 {
		b.Error("nothing is allowed")
	}
	slices.Sort(took)
	for name, at := range map[string]int{"p50": len(took) / 2, "p99": len(took) * 99 / 100, "most": len(took) - 1} {
		b.ReportMetric(float64(took[at].Microseconds()), name+"-µs")
	}
}
