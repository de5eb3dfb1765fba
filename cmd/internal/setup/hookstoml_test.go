package setup

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// tomlBefore are settings of Kimi Code as users have them.
func tomlBefore() []string {
	const other = "[[hooks]]\nevent = \"Stop\"\ncommand = \"notify-send mine\"\n"
	return []string{
		"", "# mine\n", "default_model = \"k\"", other, "a = 1\n\n" + other + "\n[providers.x]\ntype = \"kimi\" # mine\n", strings.ReplaceAll("a = 1\n\n"+other, "\n", "\r\n"),
		"[[hooks]]\nevent = \"Stop\"\ncommand = '''x'''\ntimeout = 5 # \"mine\"\n\n\n[a]\nhooks = [1]\n",
	}
}

func TestHooksInTOMLAreAddedAndUndoneToTheByte(t *testing.T) {
	for _, before := range tomlBefore() {
		p := prompter(t)
		path := prepare(t, "kimi", p, before)
		change := planned(t, "kimi", p)
		if err := change.Apply(); err != nil {
			t.Fatal(err)
		}
		after := string(change.edit.After)
		if !strings.HasPrefix(after, strings.TrimRight(before, "\r\n")) || strings.Count(after, "[[hooks]]") != strings.Count(before, "[[hooks]]")+9 || !strings.Contains(after, `matcher = "^AskUserQuestion$"`) {
			t.Errorf("%q became\n%s", before, after)
		}
		if again := planned(t, "kimi", p); !again.Same() {
			t.Errorf("a second run changes\n%s", again.Edit().After)
		}
		if s := promptStatus(clientOf(t, "kimi"), p); s.State != SetUp {
			t.Errorf("it stands as %+v", s)
		}
		moved := p
		moved.Hook = []string{"/elsewhere/mcpdeck", "hook"}
		if s := promptStatus(clientOf(t, "kimi"), moved); s.State != Differs {
			t.Errorf("with another program it stands as %+v", s)
		}
		if now := string(planned(t, "kimi", moved).edit.After); strings.Count(now, "[[hooks]]") != strings.Count(after, "[[hooks]]") || strings.Contains(now, "/opt/") {
			t.Errorf("with another program it becomes\n%s", now)
		}
		if !takenBack(t, "kimi", p) {
			t.Error("undone, but not to what was there")
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != before {
			t.Errorf("undone: %v\n%q\nwant\n%q", err, b, before)
		}
	}
}

func TestOfTOMLThatChangedSinceTheHooksAloneAreTakenOut(t *testing.T) {
	for _, before := range tomlBefore() {
		p := prompter(t)
		path := prepare(t, "kimi", p, before)
		change := planned(t, "kimi", p)
		if err := change.Apply(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(bytes.Clone(change.edit.After), "\n[later]\nb = 2\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		if takenBack(t, "kimi", p) {
			t.Error("it says that the file is as it was")
		}
		b, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(b), "mcpdeck") || strings.Count(string(b), "mine") != strings.Count(before, "mine") || !strings.HasSuffix(string(b), "[later]\nb = 2\n") {
			t.Errorf("%v, %q became\n%s", err, before, b)
		}
	}
	for _, before := range []string{"hooks = 1\n", "hooks = []\n", "[hooks]\n", "a = \n"} {
		p := prompter(t)
		prepare(t, "kimi", p, before)
		if change, err := PlanPrompts("kimi", p); err == nil {
			t.Errorf("%q became\n%s", before, change.edit.After)
		}
	}
}
