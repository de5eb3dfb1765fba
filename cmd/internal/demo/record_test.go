package demo

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestSessionsOfTheDemoRecordWhatRealOnesDo(t *testing.T) {
	s := New(Options{Folder: Folder{Home: t.TempDir()}})
	now := time.Now()
	for agent, tt := range map[string]struct {
		session, file string
		lines         []map[string]any
		format        *usage.Format
		changed       string
	}{
		"claude": {claudeSession, s.transcript(), s.claudeSaid(now), usage.Claude(), "package.json"},
		"codex":  {codexSession, rollout, s.codexSaid(now), usage.Codex(), "migrate.sql"},
	} {
		t.Run(agent, func(t *testing.T) {
			if err := s.writes(tt.file, tt.lines); err != nil {
				t.Fatal(err)
			}
			c := usage.New(usage.Options{Programs: map[string]usage.Program{agent: {Folder: s.o.Folder.Home + "/." + agent, Format: tt.format}}})
			f, _ := c.Look(&snapshot.Session{Agent: agent, ID: tt.session, Folder: s.o.Folder.project(agent), Transcript: s.o.Folder.Home + "/" + tt.file})
			r := f.Record
			if r == nil || r.Prompt == "" || r.Said == "" || !r.Asked.Before(r.SaidAt) || len(r.Steps) != 2 || r.Steps[0].Running || r.Steps[1].Outcome == "" {
				t.Fatalf("recorded is %+v", r)
			}
			if c := r.Changed; len(c.Files) != 1 || c.Files[0].Path != tt.changed || c.Added == 0 {
				t.Errorf("changed is %+v", c)
			}
		})
	}
}
