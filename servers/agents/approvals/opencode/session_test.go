package opencode_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestASessionIsOneRowWithItsSubAgents(t *testing.T) {
	inDeck(t, approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(
			`{"event":"session.updated","properties":{"sessionID":"ses_1","info":{"id":"ses_1","title":"Tests","directory":"/p/api","version":"1.18.33","agent":"build","model":{"id":"big"},"cost":0.5,"tokens":{"input":10,"output":2,"reasoning":1,"cache":{"read":5,"write":3}}}}}`,
			`{"event":"session.status","properties":{"sessionID":"ses_1","status":{"type":"busy"}}}`,
			`{"event":"session.created","properties":{"sessionID":"ses_2","info":{"id":"ses_2","parentID":"ses_1","title":"Sub","directory":"/p/api","version":"1.18.33","agent":"explore","cost":0.25,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}}}`,
			`{"event":"session.status","properties":{"sessionID":"ses_2","status":{"type":"retry","attempt":1}}}`,
		)
		all := w.roster.Sessions()
		if len(all) != 1 {
			t.Fatalf("%d rows: %+v", len(all), all)
		}
		s := all[0]
		s.Since = time.Time{}
		want := snapshot.Session{
			Agent: "opencode", ID: "ses_1", Version: "1.18.33", State: snapshot.Working, Folder: "/p/api", Title: "Tests", Mode: "build", Model: "big", Subagents: 1,
			Usage: snapshot.Usage{In: 11, Out: 3, CacheRead: 5, CacheWrite: 3, Reasoning: 1}, Cost: snapshot.Cost{USD: 0.75, Known: true, Reported: true, Undated: true, Source: "OpenCode"},
		}
		if s != want {
			t.Errorf("got %+v\nwant %+v", s, want)
		}
		p.say(strings.ReplaceAll(bash, "ses_1", "ses_2"))
		if r := w.item().Request; r.Prompt.Session != "ses_1" || r.Prompt.Subagent != "explore" || r.From.Title != "Tests" {
			t.Errorf("the sub-agent's prompt is %+v", r.Prompt)
		}
		if got := w.row(); got != "ses_1 permission permission: bash" {
			t.Errorf("session %s", got)
		}
		p.say(
			`{"event":"permission.replied","properties":{"sessionID":"ses_2","requestID":"per_1","reply":"once"}}`,
			`{"event":"session.idle","properties":{"sessionID":"ses_2"}}`, `{"event":"session.idle","properties":{"sessionID":"ses_1"}}`,
		)
		if got := w.row(); got != "ses_1 idle " {
			t.Errorf("session %s", got)
		}
		p.say(`{"event":"session.status","properties":{"sessionID":"ses_1","status":"new"}}`)
		if got := w.row(); got != "ses_1 unknown " {
			t.Errorf("session %s", got)
		}
		p.say(`{"event":"session.deleted","properties":{"sessionID":"ses_1"}}`)
		if got := w.row(); got != "" {
			t.Errorf("session %s", got)
		}
	})
}

func TestOnlyACallThatWasAllowedIsTheLast(t *testing.T) {
	for reply, want := range map[string]string{"once": "bash echo hi && git status", "always": "bash echo hi && git status", "reject": " "} {
		t.Run(reply, func(t *testing.T) {
			inDeck(t, approvals.Deps{}, func(w *world) {
				w.plugin().say(bash, `{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"`+reply+`"}}`)
				if s := w.roster.Sessions()[0]; s.LastTool+" "+s.LastSubject != want {
					t.Errorf("the last call is %q %q, want %q", s.LastTool, s.LastSubject, want)
				}
			})
		})
	}
}
