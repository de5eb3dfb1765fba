package ask

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestWhichQuestionIsAnsweredAndHow(t *testing.T) {
	tests := []struct {
		name, args string
		flags      answerFlags
		want       string // of the usage error; "" for none
	}{
		{"answers", "3 OAuth", answerFlags{}, ""},
		{"JSON", "3", answerFlags{json: "[]"}, ""},
		{"decline", "3", answerFlags{decline: true}, ""},
		{"no id, and no terminal to ask at", "", answerFlags{}, "give the number"},
		{"no id", "", answerFlags{json: "[]"}, "give the number"},
		{"not a number", "x y", answerFlags{}, `"x" is not the number`},
		{"zero", "0 y", answerFlags{}, `"0" is not the number`},
		{"no answers, and no terminal to ask at", "3", answerFlags{}, "or --decline"},
		{"answers twice", "3 OAuth", answerFlags{json: "[]"}, "give either"},
		{"an answer to decline with", "3 OAuth", answerFlags{decline: true}, "give either"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { usage(t, tt.flags.check(strings.Fields(tt.args)), tt.want) })
	}
}

// usage checks an error in how a command was called; want is "" for none.
func usage(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v", err)
	case want != "" && (!errors.As(err, new(exit.UsageError)) || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestAnswersAsJSON(t *testing.T) {
	for _, tt := range []struct{ name, raw, in, want string }{
		{"list", `[{"id":"a","selectedOptions":["x"]}]`, "", ""},
		{"one object", ` {"id":"a"}`, "", ""},
		{"standard input", "-", `[{"id":"a"}]`, ""},
		{"not JSON", "yes", "", "not a JSON list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fromJSON(strings.NewReader(tt.in), tt.raw)
			usage(t, err, tt.want)
		})
	}
}

func TestAnswersInWordsAndInADialog(t *testing.T) {
	auth := questions.Question{ID: "auth", Question: "How?", Kind: questions.Choice, Options: []questions.Option{{Label: "OAuth"}, {Label: "API key"}}}
	where := questions.Question{ID: "where", Question: "Where?", Kind: questions.Choice, AllowOther: true, Options: []questions.Option{{Label: "EU"}, {Label: "US"}}}
	tags := questions.Question{ID: "tags", Question: "Which?", Kind: questions.Choice, Multi: true, Options: []questions.Option{{Label: "a"}, {Label: "b"}, {Label: "c"}}}
	free := questions.Question{ID: "name", Question: "Name?", Kind: questions.Text}
	items := []questions.Listed{
		{ID: 3, Questions: []questions.Question{auth}},
		{ID: 4, Questions: []questions.Question{where}},
		{ID: 5, Questions: []questions.Question{tags}},
		{ID: 6, Questions: []questions.Question{auth, free}},
		{ID: 7, Questions: []questions.Question{{ID: "form", Kind: questions.Form}}},
	}
	for _, tt := range []struct {
		name     string
		args     []string
		in, want string
		wrong    string
	}{
		{name: "a label", args: []string{"3", "oauth"}, want: "3 OAuth/"},
		{name: "a number", args: []string{"3", "2"}, want: "3 API key/"},
		{name: "no option", args: []string{"3", "Basic"}, wrong: `"Basic" is not one of its options: OAuth, API key`},
		{name: "a text of one's own", args: []string{"4", "on the moon"}, want: "4 /on the moon"},
		{name: "several options", args: []string{"5", "a", "3"}, want: "5 a,c/"},
		{name: "several options of one", args: []string{"3", "1", "2"}, wrong: "takes one answer"},
		{name: "two questions", args: []string{"6", "OAuth", "Ana"}, want: "6 OAuth/ /Ana"},
		{name: "too few answers", args: []string{"6", "OAuth"}, wrong: "it has 2 questions"},
		{name: "a form", args: []string{"7", "x"}, wrong: "answer it with --json"},
		{name: "a dialog about one", args: []string{"6"}, in: "1\nAna Maria\n", want: "6 OAuth/ /Ana Maria"},
		{name: "a dialog", in: "5\n1 2\n", want: "5 a,b/"},
		{name: "a dialog about none of them", in: "9\n", wrong: `"9" is not the number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := answerCommand(nil)
			c.SetIn(strings.NewReader(tt.in))
			var shown strings.Builder
			c.SetErr(&shown)
			id, results, err := new(answerFlags).answers(c, tt.args, func() ([]questions.Listed, error) { return items, nil })
			usage(t, err, tt.wrong)
			if tt.wrong != "" {
				return
			}
			got := []string{strconv.Itoa(id)}
			for _, r := range results {
				got = append(got, strings.Join(r.SelectedOptions, ",")+"/"+r.CustomInput)
			}
			if s := strings.Join(got, " "); s != tt.want || !strings.Contains(shown.String(), strconv.Itoa(id)+"  ") {
				t.Errorf("got %q, want %q, after\n%s", s, tt.want, shown.String())
			}
		})
	}
}

func TestConfigurationOfEachClientParses(t *testing.T) {
	s := Settings{Program: "/opt/mcpdeck"}
	for _, name := range clientNames() {
		t.Run(name, func(t *testing.T) {
			c, _ := clients.Find(name)
			text, err := setup.Snippet(c, entry(s, "/run/s-1.sock", "payments"))
			if err != nil {
				t.Fatal(err)
			}
			m, err := c.Grammar.Decode([]byte(text))
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			for _, want := range []string{"/opt/mcpdeck", "ask-server", "/run/s-1.sock", "payments", "mcpdeck"} {
				if !strings.Contains(text, want) {
					t.Errorf("lacks %s: %s", want, text)
				}
			}
			for _, servers := range m {
				if n := len(servers.(map[string]any)); n != 1 {
					t.Errorf("%d servers", n)
				}
			}
			// A limit that nothing raises is said, and the server is not told of another.
			told, raised := strings.Contains(text, clients.LimitHint), c.Form.Timeout != ""
			said := strings.Contains(strings.Join(notes(c), "\n"), "has no setting to raise that")
			if told != raised || said != (!raised && c.Limit > 0) {
				t.Errorf("limit %v, raised %v: told %v, said %v", c.Limit, raised, told, said)
			}
		})
	}
}

func TestConfigurationFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(path, "new"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestTheListSaysWhoAsks(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	item := func(change func(*questions.Listed)) []questions.Listed {
		it := questions.Listed{
			ID: 3, Asker: "claude", Cwd: "/home/ana/shop", Verified: true, Arrived: now.Add(-2 * time.Minute),
			Questions: []questions.Question{{ID: "auth", Question: "Which login?", Options: []questions.Option{{Label: "OAuth"}, {Label: "API key"}}}},
		}
		change(&it)
		return []questions.Listed{it}
	}
	const asked = "\n   auth: Which login?\n     - OAuth\n     - API key\n"
	for name, row := range map[string]struct {
		items []questions.Listed
		want  string
	}{
		"none":           {nil, "no open questions\n"},
		"known":          {item(func(*questions.Listed) {}), "3  claude in shop, 2 m ago" + asked},
		"no folder":      {item(func(l *questions.Listed) { l.Cwd = "" }), "3  claude, 2 m ago" + asked},
		"unverified":     {item(func(l *questions.Listed) { l.Verified = false }), "3  claude in shop (unverified), 2 m ago" + asked},
		"from elsewhere": {item(func(l *questions.Listed) { l.Verified, l.Via = false, "ssh" }), "3  claude in shop (unverified, via ssh), 2 m ago" + asked},
		"gone":           {item(func(l *questions.Listed) { l.Absent = questions.Gone }), "3  claude in shop, 2 m ago, gone" + asked},
		"a form": {
			item(func(l *questions.Listed) {
				l.Questions = []questions.Question{{ID: "form", Question: "Where to?", Kind: questions.Form, Schema: json.RawMessage(`{"properties":{"at":{"properties":{"town":{"type":"string"}}},"n":{"type":"integer"}},"required":["n"]}`)}}
			}), "3  claude in shop, 2 m ago\n   form: Where to?\n     - at (object)\n     - at/town (text)\n     - n (number, required)\n",
		},
		"control characters": {
			item(func(l *questions.Listed) { l.Asker, l.Questions[0].Question = "clau\x1b[2Jde", "Which\nlogin?" }), "3  claude in shop, 2 m ago" + asked,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			printList(&b, row.items, now)
			if got := b.String(); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestTheListSaysWhatAnAgentWantsToRun(t *testing.T) {
	var b strings.Builder
	now := time.Now()
	printList(&b, []questions.Listed{{
		ID: 4, Asker: "claude", Cwd: "/src/api", Verified: true, Arrived: now,
		Questions: []questions.Question{{ID: "permission", Question: "Allow Bash?", Options: []questions.Option{{Label: "Allow once"}, {Label: "Always"}}}},
		Prompt:    &questions.Prompt{Kind: questions.Permission, Tool: "Bash", Command: "make\nrm -rf \x1b[2K/", Door: questions.Held, Grants: []questions.Grant{{}, {Effect: "Bash(make:*)"}}},
	}}, now)
	for _, want := range []string{"permission, its terminal shows nothing\n", "Bash wants to run:\n   | make\n   | rm -rf <U+001B>[2K/\n", "- Allow once\n", "- Always: Bash(make:*)\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
}

func TestWithoutADeckTheCommandsSayHowToOpenOne(t *testing.T) {
	load := func() (Settings, error) { return Settings{Socket: filepath.Join(t.TempDir(), "none.sock")}, nil }
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"answer", "1", "--decline"}, {"answer", "1", "--json", "[]"}} {
		ask := Commands(load)[1]
		ask.SetArgs(args)
		ask.SilenceUsage, ask.SilenceErrors = true, true
		if err := ask.ExecuteContext(t.Context()); err == nil || err.Error() != "no deck is running; open one with: mcpdeck" {
			t.Errorf("%v: got %v", args, err)
		}
	}
}
