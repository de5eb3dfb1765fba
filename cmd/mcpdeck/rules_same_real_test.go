//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// differs are what two runs of an agent differ in anyway, in what they send to the model.
var differs = map[string]*regexp.Regexp{
	"DATE":   regexp.MustCompile(`\d{4}-\d\d-\d\d(T[\d:.]+Z?)?|(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} \d{1,2} \d{4}`),
	"ID":     regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(session|account|user)_+[0-9a-f]{16,}|\b(ses|msg|prt|fc|rs|call)_[0-9A-Za-z]{20,}`),
	"PORT":   regexp.MustCompile(`127\.0\.0\.1:\d+`),
	"TIME":   regexp.MustCompile(`Wall time: [\d.]+ seconds|turn_started_at_unix_ms\\":\d+`), // of Codex: how long a command took, and when a turn began
	"CHUNK":  regexp.MustCompile(`Chunk ID: [0-9a-f]+`),                                      // of Codex: of its output
	"DEVICE": regexp.MustCompile(`device_id\\":\\"[0-9a-f]+`),                                // of Claude Code: made at random in a new home
	"BILLED": regexp.MustCompile(`cc_version=[\w.]+|cch=[0-9a-f]+`),                          // of Claude Code: a sum of what is sent
}

// TestRulesChangeNothingOfWhatIsSentToAModel has real agents do the same without a book of rules, with rules off, with
// an empty book, and with a rule that answers in the user's place.
func TestRulesChangeNothingOfWhatIsSentToAModel(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	for _, a := range ruledAgents(t) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			want := a.sends(t, "", false, false)
			for _, way := range []struct {
				name, book string
				on, rule   bool
			}{{"rules off", ofReading, false, false}, {"an empty book", "version = 1\n", true, false}, {"a rule that answers", ofReading, true, true}} {
				got := a.sends(t, way.book, way.on, way.rule)
				if len(got) != len(want) {
					t.Errorf("with %s it sends %d requests, without %d", way.name, len(got), len(want))
					continue
				}
				bytes, equal := 0, true
				for i := range want {
					if bytes += len(want[i]); got[i] != want[i] {
						at := 0
						equal = false
						for at < min(len(got[i]), len(want[i])) && got[i][at] == want[i][at] {
							at++
						}
						from := max(0, at-200)
						t.Errorf("with %s, request %d differs:\n%s\nnot\n%s", way.name, i, got[i][from:min(len(got[i]), at+200)], want[i][from:min(len(want[i]), at+200)])
					}
				}
				t.Logf("%s: %d requests of %d bytes are equal: %v", way.name, len(want), bytes, equal)
			}
		})
	}
}

// sends has an agent do what it asks about, with a book of rules or none, and returns what it sends to the model but
// for what differs anyway. Claude Code tells its model of midnight: what goes on over that is done again.
func (a *ruledAgent) sends(t *testing.T, rules string, on, rule bool) []string {
	t.Helper()
	commands := []string{"mkdir -p made", "xxd -l 3 a.txt", "touch c.txt"}
	day := time.Now().YearDay()
	d, model := a.works(t, rules, on, commands)
	if time.Now().YearDay() != day {
		d, model = a.works(t, rules, on, commands)
	}
	for command, r := range ruledBy(d, commands) {
		if r.Rule != nil && (!rule || command != commands[1]) {
			t.Errorf("%s was answered by rule %s", command, r.Rule.ID)
		}
	}
	return withoutDifferences(d, model.Bodies())
}

// withoutDifferences is what was sent to a model but for what differs anyway.
func withoutDifferences(d *driver, bodies []string) []string {
	for i := range bodies {
		bodies[i] = sorted(bodies[i])
		bodies[i] = strings.NewReplacer(d.home, "HOME", filepath.Base(d.home), "HOME", strings.ReplaceAll(d.home, "/", "-"), "HOME").Replace(bodies[i])
		for name, found := range differs {
			bodies[i] = found.ReplaceAllString(bodies[i], name)
		}
	}
	return bodies
}

// sorted puts in order what Codex sends in no order.
func sorted(body string) string {
	var of struct {
		Metadata json.RawMessage `json:"client_metadata"`
	}
	var all map[string]any
	if json.Unmarshal([]byte(body), &of) != nil || json.Unmarshal(of.Metadata, &all) != nil {
		return body
	}
	b, _ := json.Marshal(all) // it was JSON
	return strings.Replace(body, string(of.Metadata), string(b), 1)
}

// works has an agent run commands that it asks about; what no rule answers is allowed in the deck.
func (a *ruledAgent) works(t *testing.T, rules string, on bool, commands []string) (*driver, *mockmodel.Server) {
	t.Helper()
	d := newDriver(t)
	a.home(d)
	if strings.HasPrefix(a.name, "claude") { // what it offers depends on whether its servers have started
		knowsClaude(d, map[string]any{})
	}
	hasRules(d)
	file := filepath.Join(d.home, ".config", "mcpdeck", "rules.toml")
	d.puts(file, []byte(rules))
	if rules == "" {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	var steps []mockmodel.Step
	for _, c := range commands {
		steps = append(steps, a.runs(t, c))
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	if on {
		deck.turnsRulesOn(d)
	}
	a.starts(d, model)
	for i, command := range commands {
		var pressed time.Time
		d.until("an answer to "+command, func() bool {
			if time.Since(pressed) > 10*time.Second && steady(func() bool { return deck.asks(command) })() {
				pressed = time.Now()
				deck.key("y")
			}
			return model.Seen()[i].Result != ""
		})
	}
	return d, model
}

// TestNoRuleAllowsARealAgentWhatNoRuleMay has a book that allows all that it can.
func TestNoRuleAllowsARealAgentWhatNoRuleMay(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	const all = onlyReads + `[[rule]]
id = "t1"
verdict = "allow"
agent = ["claude", "codex", "opencode"]
command = { words = ["touch"], may = ["write-in"] }
`
	for _, a := range ruledAgents(t) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			may := []string{"touch c.txt", "xxd -l 3 a.txt"}
			never := []string{"mkdir -p made .claude .opencode", "sudo -n true", "xxd -l 1 .env", "touch .claude/settings.local.json", "touch .git/hooks/x", "touch .opencode/x", "env", "touch c.txt; eval \"$X\""}
			commands := slices.Concat(never[:1], may, never[1:])
			d, _ := a.works(t, all, true, commands)
			by := ruledBy(d, commands)
			for _, command := range never {
				if r, is := by[command]; !is || r.Rule != nil {
					t.Errorf("%s is asked: %v, by rule %v", command, is, r.Rule)
				}
			}
			for _, command := range may {
				r := by[command]
				slow := slices.ContainsFunc(r.Request.Prompt.Notes, func(note string) bool { return strings.Contains(note, tooSlow) })
				if r.Rule == nil && !slow {
					t.Errorf("%s is not allowed, but asked: %q", command, r.Request.Prompt.Notes)
				}
			}
		})
	}
}
