package plugin

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	clippyscreen "github.com/mcpdeck/mcpdeck/tui/page/clippy"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

func TestApprove(t *testing.T) {
	tests := []struct {
		name   string
		answer func(q *ask.Queue, id int) error
		want   bool
		after  time.Duration
	}{
		{"allowed", func(q *ask.Queue, id int) error {
			return q.Answer(id, []ask.Result{{ID: q.Pending().Items[0].Request.Questions[0].ID, SelectedOptions: []string{"Allow it"}}})
		}, true, 0},
		{"refused", func(q *ask.Queue, id int) error {
			return q.Answer(id, []ask.Result{{ID: q.Pending().Items[0].Request.Questions[0].ID, SelectedOptions: []string{"Refuse"}}})
		}, false, 0},
		{"declined", func(q *ask.Queue, id int) error { return q.Decline(id, "no") }, false, 0},
		{"no answer", func(*ask.Queue, int) error { return nil }, false, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				running, err := router.New(router.Options{})
				if err != nil {
					t.Fatal(err)
				}
				h := &Env{Host: func() *router.Host { return running }, Queue: ask.New(ask.Options{Hold: -1})}
				begun := time.Now()
				got := make(chan bool, 1)
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // as the tools do
					defer cancel()
					got <- h.approve(ctx, clippy.Approval{Tool: "haunt_desktop", Agent: "claude", AgentID: "a1", Detail: "n.txt (3 bytes)"})
				}()
				synctest.Wait()
				items := h.Queue.Pending().Items
				if len(items) != 1 || items[0].Request.Questions[0].Question != "May claude use haunt_desktop?" {
					t.Fatalf("the user is asked %+v", items)
				}
				if err := tt.answer(h.Queue, items[0].ID); err != nil {
					t.Fatal(err)
				}
				if allowed := <-got; allowed != tt.want || time.Since(begun) != tt.after {
					t.Errorf("allowed %v after %v, want %v after %v", allowed, time.Since(begun), tt.want, tt.after)
				}
				if err := h.Queue.Close(); err != nil {
					t.Fatal(err)
				}
				if err := running.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// What an agent wants to do is the agent's to name, and the user has to see the name as it
// is.
func TestWhatIsToBeApprovedIsDrawnExactly(t *testing.T) {
	th := theme.New(theme.Options{})
	for _, detail := range []string{
		"n.txt (3 bytes)", "> n.txt (3 bytes)", "*a* `b` [c](d/e).txt (3 bytes)", "# n.txt # (3 bytes)", "- n.txt (3 bytes)", "write ```", "```", "```` (3 bytes)", "~~~", "---",
	} {
		synctest.Test(t, func(t *testing.T) {
			running, err := router.New(router.Options{})
			if err != nil {
				t.Fatal(err)
			}
			h := &Env{Host: func() *router.Host { return running }, Queue: ask.New(ask.Options{Hold: -1})}
			go h.approve(t.Context(), clippy.Approval{Tool: "haunt_desktop", Agent: "claude", Detail: detail})
			synctest.Wait()
			q := h.Queue.Pending().Items[0].Request.Questions[0]
			if rows := ansi.Strip(strings.Join(widget.Markdown(th, sanitize.BareText(q.Description), 80), "\n")); !strings.Contains(rows, detail) {
				t.Errorf("%s is drawn as %q", detail, rows)
			}
			if err := h.Queue.Close(); err != nil {
				t.Fatal(err)
			}
			if err := running.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestBellGoesToTheScreen(t *testing.T) {
	h := &Env{Config: config.With(&Clippy{})}
	var shown atomic.Pointer[clippyscreen.Bell]
	bell := clippyscreen.NewBell()
	shown.Store(bell)
	feed := bell.Feed()
	if feed.Load() != nil {
		t.Error("it rings by itself")
	}
	rung := make(chan error, 1)
	go func() { rung <- clippyOptions(h, &shown).Bell() }()
	<-feed.Hint
	select {
	case err := <-rung:
		t.Errorf("it rang before the screen had heard: %v", err)
	default:
	}
	if feed.Load() == nil {
		t.Error("the screen hears nothing")
	}
	if err := <-rung; err != nil {
		t.Error(err)
	}
	if clippyOptions(h, &shown).Approve != nil {
		t.Error("without a user there is somebody to ask")
	}
}

func TestClippyFollowsTheConfiguration(t *testing.T) {
	service := clippy.New(clippy.Options{Dir: t.TempDir()})
	cfg := func(enabled, muted bool) *config.Config {
		return config.With(&Clippy{Enabled: enabled, Muted: muted})
	}
	apply := clippyFollows(service, cfg(true, false))
	service.Mute(true) // by the key
	for _, step := range []struct {
		name           string
		enabled, muted bool
		wantMuted      bool
	}{
		{"another setting leaves what the key did", false, false, true},
		{"back again", true, false, true},
		{"muted there as well", true, true, true},
		{"loud again", true, false, false},
	} {
		apply(cfg(step.enabled, step.muted))
		if off := service.Off("manage_memory") != ""; off == step.enabled || service.Muted() != step.wantMuted {
			t.Errorf("%s: got turned off %v, muted %v; want %v, %v", step.name, off, service.Muted(), !step.enabled, step.wantMuted)
		}
	}
}
