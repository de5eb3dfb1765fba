package book

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

// weekPast are the prompts of the week, each with whether the user allowed it.
func weekPast(t *testing.T) (all []Past) {
	t.Helper()
	for line := range bytes.Lines(weekText(t)) {
		var p prompted
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		in := rules.Place{Cwd: p.Cwd, Root: p.Project, Home: "/home/u"}
		q := Request{Agent: p.Agent, Project: p.Project, Home: in.Home, Now: p.Time}
		switch p.Tool {
		case "bash":
			q.Reading = rules.Read(p.Text, in)
		case "edit", "write":
			q.Edits = &Edits{In: in, Files: []rules.Edit{{Path: p.Text, Make: p.Tool == "write"}}}
		case "fetch":
			q.Fetch = p.Text
		case "mcp":
			server, tool, _ := strings.Cut(p.Text, " ")
			q.Call = &Called{Server: server, Tool: tool, Args: []byte(p.Args), In: in}
		}
		all = append(all, Past{Request: q, Allowed: p.Answer == "y"})
	}
	return all
}

// TestOfAWeekFiveRulesAnswerWhatWasAllowedAndNothingThatWasDenied has the odd prompts of the week teach, and counts the
// even ones. Rules may allow what the adapters of the agents say: commands and edits of all three, and all that Claude Code asks.
func TestOfAWeekFiveRulesAnswerWhatWasAllowedAndNothingThatWasDenied(t *testing.T) {
	var taught, counted []Past
	for i, p := range weekPast(t) {
		if i%2 == 1 {
			counted = append(counted, p)
		} else {
			taught = append(taught, p)
		}
	}
	for agent, least := range map[string]int{"": 65, "claude": 15} {
		of := func(all []Past) (out []Past) {
			for _, p := range all {
				if agent == "" || p.Agent == agent {
					out = append(out, p)
				}
			}
			return out
		}
		ruled := func(all []Past) []Past {
			return slices.DeleteFunc(of(all), func(p Past) bool { return p.Reading == nil && p.Edits == nil && p.Agent != "claude" })
		}
		b := &Book{}
		for _, p := range b.Suggest(ruled(taught), 5) {
			t.Logf("%s %s: %s", p.Rule.ID, p.Rule.Words(), p.Says())
			b.Rules = append(b.Rules, p.Rule)
		}
		if len(b.Rules) > 5 {
			t.Errorf("%d rules are proposed", len(b.Rules))
		}
		answered, commands, denied := 0, 0, 0
		for _, p := range of(counted) {
			if !p.Allowed {
				denied++
			}
			if p.Reading != nil {
				commands++
			}
			switch {
			case b.Decide(p.Request).Verdict != Allow:
			case p.Allowed:
				answered++
			default:
				t.Errorf("a rule allows what was denied: %s", p.Text())
			}
		}
		t.Logf("%q: five rules answer %d of %d prompts, %d of them commands, and none of the %d that were denied; %d remain", agent, answered, len(of(counted)), commands, denied, len(of(counted))-answered)
		if answered < least {
			t.Errorf("%q: they answer %d", agent, answered)
		}
	}
}

func TestWhatWasDeniedLongAgoIsNotSuggested(t *testing.T) {
	in := rules.Place{Cwd: "/src/shop", Root: "/src/shop", Home: "/home/u"}
	of := func(command string, allowed bool) Past {
		return Past{Request: Request{Agent: "claude", Project: in.Root, Home: in.Home, Now: time.Now(), Reading: rules.Read(command, in)}, Allowed: allowed}
	}
	past := []Past{of("go test ./old", false), of("go vet ./old", true)}
	for range mostLearned {
		past = append(past, of("go test ./...", true), of("go vet ./...", true))
	}
	all := (&Book{}).Suggest(past, 5)
	if len(all) != 1 || !strings.Contains(all[0].Rule.Words(), "go vet") || all[0].Answered != mostLearned+1 || all[0].Asked != len(past) || all[0].Denials != 1 {
		t.Errorf("suggested is %+v", all)
	}
}

func TestWhatWasNotKeptWholeIsNotJudgedButHeldAgainstARule(t *testing.T) {
	in := rules.Place{Cwd: "/src/shop", Root: "/src/shop", Home: "/home/u"}
	of := func(command string, allowed bool) Past {
		return Past{Request: Request{Agent: "claude", Project: in.Root, Home: in.Home, Now: time.Now(), Reading: rules.Read(command, in)}, Allowed: allowed, Cut: strings.Contains(command, "[redacted]")}
	}
	past := []Past{of("cat a", true), of("cat b", false), of("cat c", true), of("cat 'password=[redacted]'", true)}
	reads := []Rule{(&Book{}).Reads([]string{"claude"})}
	s := (&Book{}).Simulate(reads, past)
	if says := s.Says(); says != "It would have answered 3 of the last 3 prompts, none of the 1 that you denied; not kept whole and so not judged: 1." || s.Against != "cat b" {
		t.Errorf("%s, against it %q", says, s.Against)
	}
	if s = (&Book{}).Simulate(reads, []Past{of("cat 'password=[redacted]'", false)}); s.Against == "" || s.Asked != 0 {
		t.Errorf("of what was denied it says %+v", s)
	}
}

func TestARuleForWhatRunsInTheProjectsEnvironmentIsForThatProgramAlone(t *testing.T) {
	for asked, c := range map[string]struct {
		words        string
		allows, asks []string
	}{
		"uv run pytest tests -q": {
			"uv run pytest",
			[]string{"uv run pytest", "uv run pytest -q tests/a_test.py", "uv run -q pytest"},
			[]string{
				"uv run pytest -x", "uv run pytest ../other", "uv run ./pytest", "uv run -q ./pytest", "uv run mypy pytest", "uv run -q mypy pytest", "uv run other pytest", "uv run --package pytest other", "uv run sh -c pytest",
				"uv run --with pytest other", "uv run python pytest", "uv run env pytest", "uv run pytest; uv run other", "uv run $x pytest", "pytest", "poetry run pytest", "uv run pytest $(rm x)", "uv run pytest > ../a", "for i in pytest rm; do uv run $i; done",
			},
		},
		"poetry run ruff check .":         {"poetry run ruff check", []string{"poetry run ruff check src"}, []string{"poetry run ruff format .", "poetry run ruff", "poetry run ruff -q check", "poetry run ruff format check"}},
		"uv run --package=a tool":         {"uv run tool", []string{"uv run --package=b tool x"}, []string{"uv run --package tool other", "uv run --package=a other tool", "uv run other"}},
		"uv run --frozen go test ./...":   {"uv run go test", []string{"uv run go test ./a"}, []string{"uv run go run ./a", "uv run --frozen go vet", "uv run go test -exec x ./a"}},
		"uv run make lint":                {},
		"uv run npm test":                 {},
		"uv run python -m pytest":         {},
		"uv run ./pytest":                 {},
		"uv run scripts/pytest":           {},
		"uv run pytest $x":                {},
		"uv run uv run pytest":            {},
		"find . -execdir ./pytest {} ';'": {},
	} {
		t.Run(asked, func(t *testing.T) {
			ask := func(command string) Request {
				in := rules.Place{Cwd: "/home/u/shop", Root: "/home/u/shop", Home: "/home/u"}
				return Request{Agent: "claude", Project: in.Root, Home: in.Home, Now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC), Reading: rules.Read(command, in)}
			}
			q := ask(asked)
			all, _ := (&Book{}).Propose(&q, nil)
			b, words := &Book{}, ""
			for _, p := range all {
				if len(p.Rule.Command.Words) > 0 {
					b.Rules, words = append(b.Rules, p.Rule), strings.Join(p.Rule.Command.Words, " ")
				}
			}
			if words != c.words || words != "" && b.Decide(q).Verdict != Allow {
				t.Fatalf("proposed: %q", words)
			}
			for _, command := range c.allows {
				if d := b.Decide(ask(command)); d.Verdict != Allow {
					t.Errorf("%s: %s", command, d.Why)
				}
			}
			for _, command := range c.asks {
				if d := b.Decide(ask(command)); d.Verdict == Allow {
					t.Errorf("%s is allowed: %v", command, d.Rule.Command)
				}
			}
		})
	}
}
