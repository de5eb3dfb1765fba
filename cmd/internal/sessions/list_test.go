package sessions

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func askSessions(t *testing.T, p *Programs, known string) sessionsReply {
	t.Helper()
	args, err := json.Marshal(sessionsRequest{known})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Control(t.Context(), transport.Requester{}, args)
	if err != nil {
		t.Fatal(err)
	}
	return out.(sessionsReply)
}

func TestACommandThatKnowsTheSessionsIsToldWhenTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Programs{Roster: &sessions.Roster{}}
		p.Roster.Report(snapshot.Session{Agent: "claude", ID: "s", State: snapshot.Working})
		first := askSessions(t, p, "")
		if n := len(first.List.Sessions); n != 1 || first.Mark == "" {
			t.Fatalf("%d sessions, mark %q", n, first.Mark)
		}
		time.AfterFunc(time.Minute, func() { p.Roster.Report(snapshot.Session{Agent: "claude", ID: "s", State: snapshot.Idle}) })
		begun := time.Now()
		second := askSessions(t, p, first.Mark)
		if s := second.List.Sessions[0].State; s != "idle" || time.Since(begun) < time.Minute {
			t.Errorf("told %s after %v", s, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Control(ctx, transport.Requester{}, json.RawMessage(`{"known":"`+second.Mark+`"}`)); err == nil {
			t.Error("a command that is gone is still served")
		}
	})
}

func TestWaitingForASession(t *testing.T) {
	all := []Session{{ID: "3f6c-1", State: "permission"}, {ID: "3f6c-2", State: "idle"}, {ID: "77", State: "ended"}}
	tests := []struct {
		session, state string
		done           bool
		fault          string
	}{
		{"3f6c-1", "waiting", true, ""},
		{"3f6c-1", "permission", true, ""},
		{"3f6c-1", "answer", false, ""},
		{"3f6c-2", "idle", true, ""},
		{"3f6c", "idle", false, "the IDs of several sessions begin with it"},
		{"7", "ended", true, ""},
		{"7", "idle", false, "has ended"},
		{"8", "idle", false, "no session has this ID"},
	}
	for _, tt := range tests {
		t.Run(tt.session+" "+tt.state, func(t *testing.T) {
			o := sessionsOptions{wait: tt.state, session: tt.session}
			done, err := o.reached(all)
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			if done != tt.done || !strings.Contains(fault, tt.fault) || (fault == "") != (tt.fault == "") {
				t.Errorf("%v, %q", done, fault)
			}
		})
	}
}

func TestASessionAsJSON(t *testing.T) {
	b, err := json.Marshal(newSessionList([]snapshot.Session{
		{
			Agent: "claude", ID: "s", State: snapshot.WaitsForPermission, Since: time.Unix(1, 0), WaitingFor: "Bash make", Folder: "/src/shop", Title: "Shop", Record: &snapshot.Record{Prompt: "Build it", Said: "Built.", Changed: snapshot.Changed{Files: []snapshot.ChangedFile{{Path: "a"}}, Added: 3, Removed: 1}},
			Usage: snapshot.Usage{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4}, Cost: snapshot.Cost{USD: 0.5, Known: true, Partial: true}, Place: snapshot.Place{TmuxPane: "%3"},
		},
		{Agent: "gemini", ID: "process 7", State: snapshot.StateUnknown, Note: "not set up"},
		{Agent: "claude", ID: "spare", Folder: "/src/shop", Hidden: "spare"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"sessions":[{"id":"s","agent":"claude","state":"permission","kind":"allow?","since":"1970-01-01T00:00:01Z","waitingFor":"Bash make","project":"shop","cwd":"/src/shop",` +
		`"title":"Build it","name":"Shop","prompt":"Build it","said":"Built.","changed":{"files":1,"added":3,"removed":1,"complete":true},"tokens":{"in":1,"out":2,"cacheRead":3,"cacheWrite":4,"reasoning":0},"cost":{"usd":0.5,"complete":false},"place":{"tmux":"%3"},"verified":false},` +
		`{"id":"process 7","agent":"gemini","state":"unknown","kind":"unseen","note":"not set up","title":"no prompt yet","tokens":{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"reasoning":0},"cost":null,"verified":false}]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestSessionsStandUnderTheNamesOfTheirColumns(t *testing.T) {
	c, out := &cobra.Command{}, &strings.Builder{}
	c.SetOut(out)
	var o sessionsOptions
	if err := o.print(c, List{V: 1, Sessions: []Session{{State: "idle", Agent: "codex", ID: "3f6c-1", Project: "shop", Note: "ready"}}}); err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Fields(line))
	}
	if len(lines) != 2 || strings.Join(lines[0], " ") != "STATE AGENT PROJECT NAME AGE TOKENS COST ID ACTIVITY" || lines[1][0] != "idle" {
		t.Errorf("got\n%s", out)
	}
	out.Reset()
	shop := snapshot.Session{Agent: "claude", ID: "1", State: snapshot.Idle, Unread: true, Folder: "/src/shop", Record: &snapshot.Record{Prompt: "Mend the till\nplease"}}
	other := shop
	other.ID, other.State = "2", snapshot.Working
	if err := o.print(c, newSessionList([]snapshot.Session{shop, other})); err != nil || !strings.Contains(out.String(), "done     claude  shop#1   Mend the till  ") || !strings.Contains(out.String(), "working  claude  shop#2 ") {
		t.Errorf("%v\n%s", err, out)
	}
	out.Reset()
	if err := o.print(c, List{V: 1}); err != nil || out.String() != "no sessions\n" {
		t.Errorf("none: %v, %q", err, out)
	}
}

func TestSessionsAsJSONCanBeReadInATerminal(t *testing.T) {
	c, out := &cobra.Command{}, &strings.Builder{}
	c.SetOut(out)
	o := sessionsOptions{json: true}
	if err := o.print(c, List{V: 1, Sessions: []Session{{Title: "make <all> && echo \x1b[2J"}}}); err != nil {
		t.Fatal(err)
	}
	if want := `"title": "make <all> && echo \u001b[2J"`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out)
	}
}

func TestTheListSaysThatAPlanWaits(t *testing.T) {
	list := newSessionList([]snapshot.Session{{Agent: "claude", ID: "s", State: snapshot.WaitsForAnswer, Asks: "plan?"}})
	if row := sessionRow(&list.Sessions[0]); row[0] != "plan?" || list.Sessions[0].State != "answer" {
		t.Errorf("got %q, %+v", row, list.Sessions[0])
	}
}
