package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// busy is a deck with a permission, a question, and a session in each state.
func busy(now time.Time) Deck {
	permission := ask.Request{
		Questions: []ask.Question{{ID: "q", Question: "Allow?", Options: []ask.Option{{Label: "Allow once"}}}},
		Peer:      ask.Peer{Cwd: "/home/u/shop"},
		Prompt:    &ask.Prompt{Kind: ask.Permission, Agent: "claude", Session: "s1", Tool: "Bash", Command: "rm -rf build &&\nmake all"},
	}
	question := ask.Request{
		Questions: []ask.Question{{ID: "q", Question: "Which database?"}},
		From:      ask.From{Client: "codex"}, Peer: ask.Peer{Cwd: "/home/u/payments", Key: "c2"},
	}
	return Deck{
		Items: []ask.Item{
			{ID: 3, Request: permission, Arrived: now.Add(-12 * time.Second)},
			{ID: 4, Request: question, Arrived: now.Add(-41 * time.Second)},
			{ID: 5, Request: question, State: ask.Sending},
		},
		Sessions: []snapshot.Session{
			{Agent: "claude", ID: "s1", State: snapshot.WaitsForPermission, Folder: "/home/u/shop"},
			{Agent: "codex", ID: "s2", State: snapshot.WaitsForAnswer, Connection: "c2", Folder: "/home/u/payments"},
			{Agent: "gemini", ID: "s3", State: snapshot.WaitsForAnswer, Folder: "/home/u/docs", WaitingFor: "Trust this folder?", Since: now.Add(-time.Minute)},
			{Agent: "claude", ID: "s4", State: snapshot.Working, Folder: "/home/u/api", Title: "Fix the flaky test", LastTool: "Bash", LastSubject: "go test ./...", Cost: snapshot.Cost{Known: true, Today: 1.5}},
			{Agent: "claude", ID: "s5", State: snapshot.Idle, Unread: true, Folder: "/home/u/rel", Title: "Cut release 1.4.0", Cost: snapshot.Cost{Known: true, Today: 0.27}, Shared: snapshot.Shared{Today: 0.25}},
			{Agent: "claude", ID: "s6", State: snapshot.Idle, Folder: "/home/u/notes"},
			{Agent: "claude", ID: "s7", State: snapshot.Working, Hidden: "a spare"},
			{Agent: "claude", ID: "s8", State: snapshot.Idle, Folder: "/home/u/shop"},
		},
		Spent: 0.25,
		Calls: []snapshot.Call{
			{AgentName: "claude", Status: snapshot.ToolError},
			{AgentName: "mcpdeck", Status: snapshot.ToolError},
			{AgentName: "codex", Status: snapshot.OK},
		},
	}
}

func TestAReportHasOneRowForWhatNeedsWorksAndIsDone(t *testing.T) {
	r := New(busy(time.Now()))
	var got []string
	for _, row := range r.Rows {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%s", row.State, row.Name, row.Kind, row.Detail, row.Fix))
	}
	want := []string{
		"waiting|claude shop#1|allow?|Bash rm -rf build && make all|answer in the deck: mcpdeck",
		"waiting|codex payments|answer?|Which database?|mcpdeck ask answer 4",
		"waiting|gemini docs|answer?|Trust this folder?|answer in its terminal",
		"done|claude rel|done|Cut release 1.4.0|",
		"working|claude api|working|Fix the flaky test · Bash go test ./...|",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if r.Waiting != 3 || r.Working != 1 || r.Done != 1 || r.Failed != 1 || r.cost() != "$1.77" {
		t.Errorf("waiting %d, working %d, done %d, failed %d, %s", r.Waiting, r.Working, r.Done, r.Failed, r.cost())
	}
}

func TestAPlanIsCalledOne(t *testing.T) {
	r := New(Deck{Items: []ask.Item{{Request: ask.Request{
		Questions: []ask.Question{{Question: "Accept this plan?"}}, Prompt: &ask.Prompt{Kind: ask.Plan, Agent: "claude"},
	}}}})
	if len(r.Rows) != 1 || r.Rows[0].Kind != "plan?" || r.Rows[0].Detail != "Accept this plan?" {
		t.Errorf("rows %+v", r.Rows)
	}
	r = New(Deck{Sessions: []snapshot.Session{{Agent: "claude", State: snapshot.WaitsForAnswer, Asks: "plan?"}}})
	if len(r.Rows) != 1 || r.Rows[0].Kind != "plan?" {
		t.Errorf("rows of sessions %+v", r.Rows)
	}
}

func TestFormats(t *testing.T) {
	r := New(busy(time.Now()))
	for _, tt := range []struct{ format, deck, none string }{
		{"tmux", "#[fg=yellow]◆3#[default] #[fg=cyan]●1#[default] #[fg=green]✓1#[default]", ""},
		{"plain", "◆3 ●1 ✓1", ""},
		{"starship", "◆3 ●1 ✓1", ""},
		{"{waiting} {working} {done} {failed}, {cost}", "3 1 1 1, $1.77", ""},
		{"{first}", "claude shop#1: Bash rm -rf build && make all", ""},
		{`{"n": {waiting}}`, `{"n": 3}`, ""},
	} {
		for of, want := range map[*Report]string{&r: tt.deck, nil: tt.none} {
			if got, err := formatted(tt.format, of); err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", tt.format, got, err, want)
			}
		}
	}
	for _, wrong := range []string{"{wating}", "tmxu"} {
		if _, err := formatted(wrong, nil); !errors.As(err, new(exit.UsageError)) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestWaybarGetsJSONWithoutMarkupOfAgents(t *testing.T) {
	d := busy(time.Now())
	d.Items[0].Request.Prompt.Command = "echo '<b>' & exit"
	r := New(d)
	for of, class := range map[*Report]string{&r: "waiting", {}: "idle", nil: "none"} {
		text, err := formatted("waybar", of)
		var v struct{ Text, Tooltip, Class string }
		if err != nil || json.Unmarshal([]byte(text), &v) != nil || v.Class != class || strings.Contains(text, "\n") {
			t.Errorf("%v: %s", err, text)
		}
		if of == &r && !strings.HasPrefix(v.Tooltip, "claude shop#1 allow? Bash echo '&lt;b&gt;' &amp; exit\n") {
			t.Errorf("the tooltip is %q", v.Tooltip)
		}
	}
}

func TestTheExitCodeSaysWhetherSomethingWaits(t *testing.T) {
	busy := New(busy(time.Now()))
	for _, tt := range []struct {
		name, args string
		report     *Report
		code       exit.Code
		out        string
	}{
		{"something waits", "", &busy, Waits, "◆ claude"},
		{"nothing waits", "", &Report{}, 0, "Nothing needs you"},
		{"no deck", "", nil, NoDeck, ""},
		{"something waits, as JSON", "--json", &busy, Waits, `"waiting": 3`},
		{"something waits, as a format", "--format plain", &busy, 0, "◆3 ●1 ✓1\n"},
		{"no deck, as a format", "--format plain", nil, 0, ""},
		{"a server", "github --long", nil, 0, "github true"},
		{"a format of a server", "github --format plain", nil, exit.Usage, ""},
		{"long without a server", "--long", &busy, exit.Usage, ""},
		{"two servers", "github notion", nil, exit.Usage, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Command(Options{
				Ask: func(context.Context) (Report, error) {
					if tt.report == nil {
						return Report{}, transport.ErrNoDeck
					}
					return *tt.report, nil
				},
				Server: func(c *cobra.Command, name string, long bool) error { c.Println(name, long); return nil },
			})
			var out strings.Builder
			c.SetOut(&out)
			c.SetErr(new(strings.Builder))
			c.SilenceErrors, c.SilenceUsage = true, true
			c.SetArgs(strings.Fields(tt.args))
			code, _ := exit.Of(c.Execute())
			if code != tt.code || !strings.Contains(out.String(), tt.out) || tt.out == "" && out.Len() > 0 {
				t.Errorf("exit %d, %q", code, out.String())
			}
		})
	}
}
