package clippy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

type fakeTools struct {
	muted    bool
	repaired int
	err      error
}

func (f *fakeTools) Muted() bool { return f.muted }

func (f *fakeTools) Mute(on bool) { f.muted = on }

func (f *fakeTools) RepairMemory(context.Context) (string, error) {
	f.repaired++
	return "/some/where/m.json.corrupt-1", f.err
}

// results runs a command and the commands it brings.
func results(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		var all []tea.Msg
		for _, c := range batch {
			all = append(all, results(c)...)
		}
		return all
	}
	return []tea.Msg{msg}
}

func line(w *Widget) string {
	return ansi.Strip(w.Note(&tui.Frame{Theme: theme.New(theme.Options{Dark: true})}, 40))
}

func action(t *testing.T, w *Widget, id string) tui.Action {
	t.Helper()
	for _, a := range w.Actions() {
		if a.ID == id {
			return a
		}
	}
	t.Fatalf("no action %s", id)
	return tui.Action{}
}

func TestTheBellRingsInTheTerminal(t *testing.T) {
	b := NewBell()
	feed := b.Feed()
	if msg := feed.Load(); msg != nil {
		t.Fatalf("it rang before anybody rang it: %v", msg)
	}
	w := NewWidget(&fakeTools{})
	raw := 0
	rung := make(chan error, 3)
	for range 3 {
		go func() { rung <- b.Ring() }()
	}
	for heard := 0; heard < 3; {
		select {
		case err := <-rung:
			if err != nil {
				t.Fatal(err)
			}
			heard++
		case <-feed.Hint:
			for _, msg := range results(w.Update(feed.Load())) {
				if m, ok := msg.(tea.RawMsg); ok && m.Msg == "\a" {
					raw++
				}
			}
		}
	}
	if raw < 1 || raw > 3 {
		t.Errorf("%d bells for three rings", raw)
	}
}

func TestNobodyHearsTheBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := NewBell().Ring(); err == nil {
			t.Error("it rang, and no screen heard")
		}
	})
}

func TestSoundsAreMutedAndUnmuted(t *testing.T) {
	f := &fakeTools{}
	w := NewWidget(f)
	if got := line(w); got != "" {
		t.Errorf("nothing to say, said %q", got)
	}
	for _, want := range []bool{true, false} {
		results(action(t, w, "clippy.mute").Run())
		if f.muted != want || strings.Contains(line(w), "muted") != want {
			t.Errorf("muted %v, line %q, want %v", f.muted, line(w), want)
		}
	}
}

func TestWhatTheKeyForSoundsDidIsKept(t *testing.T) {
	for _, usual := range []bool{false, true} {
		f := &fakeTools{muted: usual}
		w := NewWidget(f)
		press := func() { results(action(t, w, "clippy.mute").Run()) }
		press()
		kept := w.SaveState()
		next := &fakeTools{muted: usual}
		again := NewWidget(next)
		again.LoadState(kept)
		if next.muted == usual || again.SaveState() != kept {
			t.Errorf("after a restart sounds are muted: %v, as without the key; kept %q, then %q", next.muted, kept, again.SaveState())
		}
		f.muted = usual // by the configuration, which has changed
		if kept := w.SaveState(); kept != "" {
			t.Errorf("the configuration has changed, and it keeps %q", kept)
		}
		f.muted = !usual
		press()
		if kept := w.SaveState(); kept != "" {
			t.Errorf("all is as without the key, and it keeps %q", kept)
		}
		again.LoadState("nonsense")
		if next.muted == usual {
			t.Error("what it does not know changed something")
		}
	}
}

func TestOnlyADamagedMemoryCanBeRepaired(t *testing.T) {
	f := &fakeTools{}
	w := NewWidget(f)
	state := func(s snapshot.State) {
		w.Update(tui.DeckMsg{Snapshot: &snapshot.Snapshot{Servers: []snapshot.Server{{Name: "clippy", State: s}}}})
	}
	if why := action(t, w, "clippy.repair").Enabled(); why == "" {
		t.Error("a sound memory can be repaired")
	}
	state(snapshot.State{Status: snapshot.Degraded, Reason: "the memory file is corrupted\x1b[31m"})
	a := action(t, w, "clippy.repair")
	if why := a.Enabled(); why != "" {
		t.Errorf("cannot be repaired: %s", why)
	}
	for _, err := range []error{nil, errors.New("the disk is full")} {
		f.err = err
		if len(results(a.Run())) != 1 {
			t.Errorf("the user is not told (%v)", err)
		}
	}
	if f.repaired != 2 {
		t.Errorf("repaired %d times", f.repaired)
	}
	state(snapshot.State{Status: snapshot.Ready})
	if why := a.Enabled(); why == "" {
		t.Error("it can still be repaired")
	}
}
