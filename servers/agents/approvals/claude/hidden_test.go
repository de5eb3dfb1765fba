package claude

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestOnlyConversationsHaveRows(t *testing.T) {
	const job = "9f3a11c2"
	id := job + "-0000-4000-8000-000000000000"
	spare := session{ID: id, PID: 9, Kind: "bg", Agent: "claude", Job: job, Name: job, Status: "idle"}
	for _, tt := range []struct {
		name       string
		all        []session
		begun      bool // the task of job
		want       map[string]string
		background int // process at whose terminal the background session is
	}{
		{name: "one that waits for a task", all: []session{{ID: "s", PID: 7, Spare: true}}, want: map[string]string{"s": spareSession}},
		{name: "of a version that does not say so", all: []session{spare}, want: map[string]string{id: spareSession}, background: 9},
		{name: "which has begun", all: []session{spare}, begun: true, want: map[string]string{id: ""}, background: 9},
		{name: "with a name", all: []session{{ID: id, PID: 9, Kind: "bg", Agent: "claude", Job: job, Name: "Mend it", Status: "idle"}}, want: map[string]string{id: ""}, background: 9},
		{name: "a terminal that shows another session", all: []session{{ID: "t", PID: 7, Parked: job, Tmux: "main:@1.%3"}, {ID: id, PID: 9, Kind: "bg", Job: job, Name: "Mend it"}}, want: map[string]string{"t": parkedSession, id: ""}, background: 7},
		{name: "one that is gone", all: []session{{ID: "t", PID: 7, Parked: job}}, want: map[string]string{"t": ""}},
		{name: "of two terminals", all: []session{{ID: "t", PID: 7, Parked: job}, {ID: "u", PID: 8}, {ID: id, PID: 9, Kind: "bg", Job: job, Name: "Mend it"}}, want: map[string]string{"t": parkedSession, "u": "", id: ""}, background: 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				known := map[string]session{}
				for i, s := range tt.all {
					s.config = d.folder
					known[string(rune('a'+i))] = s
				}
				if tt.begun {
					dir := filepath.Join(d.folder, "jobs", job)
					if err := os.MkdirAll(dir, 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte("{}"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				shown := map[string]snapshot.Session{}
				d.a.report(known, shown)
				for id, why := range tt.want {
					if shown[id].Hidden != why {
						t.Errorf("%s is hidden: %q, want %q", id, shown[id].Hidden, why)
					}
				}
				if len(shown) != len(tt.want) || shown[id].PID != tt.background {
					t.Errorf("%d sessions, the one in the background in the terminal of %d", len(shown), shown[id].PID)
				}
			})
		})
	}
}

func TestNamesThatWereMadeOfAFolderAreNoTitles(t *testing.T) {
	for source, want := range map[string]snapshot.Session{
		"user": {Title: "shop-ba", Named: true}, "auto": {Title: "shop-ba"}, "derived": {Handle: "shop-ba"}, "collision": {Handle: "shop-ba"}, "": {Handle: "shop-ba"},
	} {
		s := session{ID: "s", Name: "shop-ba", Source: source}
		if r := s.row(nil); r.Title != want.Title || r.Named != want.Named || r.Handle != want.Handle {
			t.Errorf("%q: title %q, named %v, handle %q", source, r.Title, r.Named, r.Handle)
		}
	}
	background := session{ID: "0a1b2c3d-1", Job: "0a1b2c3d", Kind: "bg", Name: "Mend the build"}
	if r := background.row(nil); r.Title != "Mend the build" {
		t.Errorf("a session that went to the background: title %q, handle %q", r.Title, r.Handle)
	}
	if background.Name = background.Job; background.row(nil).Title != "" {
		t.Error("the ID of a session in the background is its title")
	}
}
