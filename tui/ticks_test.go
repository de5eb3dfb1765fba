package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// Written keeps what a program writes.
type Written struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *Written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

// String is what was written, since the last take.
func (w *Written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// take is what was written since the last take.
func (w *Written) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.buf.Reset()
	return w.buf.String()
}

// show is a model that shows the last text it was sent.
type show struct {
	text   string
	drawn  func() // by View, when it has the text
	ticks  *ticks
	shaken int // messages that came
}

func (s *show) Init() tea.Cmd { return nil }

func (s *show) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	s.shaken++
	switch msg := msg.(type) {
	case string:
		s.text = msg
	case tea.Cmd:
		return s, msg
	}
	return s, nil
}

func (s *show) View() tea.View {
	s.ticks.want()
	if s.drawn != nil {
		s.drawn()
	}
	return tea.NewView(s.text)
}

// runShow runs a program with ticks of ours in virtual time. Those of held
// programs never come.
func runShow(t *testing.T, s *show, held bool, test func(p *tea.Program, out *Written)) {
	t.Helper()
	// The runtime's goroutine for signals starts with the first Notify and must
	// not belong to the bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		out, in := &Written{}, io.Reader(nil)
		p := tea.NewProgram(s, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(20, 3),
			tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignals(),
			tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
				if _, ok := msg.(tickMsg); ok {
					if !held {
						s.ticks.come()
					}
					return nil
				}
				return msg
			}))
		s.ticks = takeTicks(p)
		if s.ticks == nil {
			t.Fatal("Bubble Tea's Program has no field \"ticker\" of type *time.Ticker that is nil before it runs: see how its renderer works now, and whether ticks are still needed")
		}
		done := make(chan struct{})
		go func() { defer close(done); _, _ = p.Run() }()
		testwait.Pass(time.Second)
		test(p, out)
		cancel()
		<-done
	})
}

func TestTheRendererWritesAtOurTicksAlone(t *testing.T) {
	s := &show{text: "first"}
	runShow(t, s, true, func(p *tea.Program, out *Written) {
		testwait.Pass(time.Hour)
		if got := out.take(); got != "" {
			t.Fatalf("without a tick, Bubble Tea wrote %q: its renderer has another clock than the one that was taken", got)
		}
		s.ticks.due <- time.Now()
		synctest.Wait()
		if got := out.take(); !strings.Contains(got, "first") {
			t.Errorf("at a tick, %q was written, want the frame", got)
		}
	})
}

func TestEveryFrameIsWritten(t *testing.T) {
	tests := []struct {
		name string
		slow time.Duration // of View
	}{
		{"drawn at once", 0},
		{"drawn slowly", time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &show{drawn: func() { time.Sleep(tt.slow) }} // on the bubble's clock
			runShow(t, s, false, func(p *tea.Program, out *Written) {
				for _, text := range []string{"alpha", "beta", "gamma"} {
					p.Send(text)
					testwait.Pass(tt.slow + 2*frameEvery)
					if got := out.take(); !strings.Contains(got, text) {
						t.Errorf("%q was written, want %q", got, text)
					}
				}
			})
		})
	}
}

func TestAStillScreenIsLeftAlone(t *testing.T) {
	s := &show{text: "still"}
	runShow(t, s, false, func(_ *tea.Program, out *Written) {
		before, last := s.shaken, s.ticks.last
		testwait.Pass(24 * time.Hour)
		if s.shaken != before || s.ticks.last != last || s.ticks.sent {
			t.Errorf("%d messages came, the last tick %s later", s.shaken-before, s.ticks.last.Sub(last))
		}
	})
}

func TestFramesAreNotWrittenMoreOftenThanTheyAreDrawn(t *testing.T) {
	s := &show{}
	var ticks []time.Time
	s.drawn = func() {
		if n := len(ticks); n == 0 || ticks[n-1] != s.ticks.last {
			ticks = append(ticks, s.ticks.last)
		}
	}
	runShow(t, s, false, func(p *tea.Program, _ *Written) {
		for i := range 1000 {
			p.Send(strings.Repeat("x", i%20))
			testwait.Pass(time.Millisecond / 10)
		}
	})
	if len(ticks) < 5 {
		t.Fatalf("%d ticks in 100 ms", len(ticks))
	}
	for i := 2; i < len(ticks); i++ {
		if d := ticks[i].Sub(ticks[i-1]); d < frameEvery {
			t.Errorf("tick %d came after %s, want %s", i, d, frameEvery)
		}
	}
}

// quiet is a program that takes the terminal and gives it back.
type quiet struct{ run func() }

func (q quiet) Run() error        { q.run(); return nil }
func (quiet) SetStdin(io.Reader)  {}
func (quiet) SetStdout(io.Writer) {}
func (quiet) SetStderr(io.Writer) {}

func TestFramesAreWrittenAfterAnotherProgramHadTheTerminal(t *testing.T) {
	tests := []struct {
		name string
		give func(p *tea.Program, back func())
	}{
		{"tea.Exec", func(p *tea.Program, back func()) {
			p.Send(tea.Exec(quiet{back}, nil))
		}},
		{"ReleaseTerminal and RestoreTerminal", func(p *tea.Program, back func()) {
			p.Send(tea.Cmd(func() tea.Msg {
				_ = p.ReleaseTerminal()
				back()
				_ = p.RestoreTerminal()
				return nil
			}))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &show{text: "before"}
			runShow(t, s, false, func(p *tea.Program, out *Written) {
				for range 3 { // again and again: the ticker is stopped and reset
					tt.give(p, func() { testwait.Pass(time.Minute); out.take() })
					testwait.Pass(2 * time.Minute)
					p.Send("after")
					testwait.Pass(time.Second)
					if got := out.take(); !strings.Contains(got, "after") {
						t.Errorf("%q was written, want the frame", got)
					}
					p.Send("before")
					testwait.Pass(time.Second)
				}
			})
		})
	}
}
