package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// The sequences that put the window's title on the terminal's stack and take it
// from there (XTWINOPS).
const (
	pushTitle = "\x1b[22;2t"
	popTitle  = "\x1b[23;2t"
)

// fps is how often Bubble Tea's own ticker has the renderer write what has
// changed, where its ticks could not be taken.
const fps = 60

// wheelEvery is the least time between two notches of the wheel that count:
// some terminals send hundreds a second.
const wheelEvery = 16 * time.Millisecond

// Run shows the screen until the user quits or ctx ends, and leaves the
// terminal as it was. It returns nil when the user quit, context.Cause(ctx)
// when ctx ended.
func Run(ctx context.Context, o Options) error {
	m := New(o)
	defer m.pump.close()
	// Bubble Tea leaves an empty title behind; the terminal keeps the old one.
	out := m.opts.Output
	if m.opts.Colors == colorprofile.Unknown && o.Environ != nil {
		m.opts.Colors = colorprofile.Detect(out, o.Environ)
	}
	_, _ = io.WriteString(out, pushTitle)
	m.firstFrame(out)
	p := tea.NewProgram(m, m.programOptions(ctx)...)
	m.ticks = takeTicks(p)
	_, err := p.Run()
	if err != nil && !errors.Is(err, tea.ErrProgramPanic) {
		// Before its own first frame, Bubble Tea does not know of this one.
		_, _ = io.WriteString(out, ansi.ResetModeAltScreenSaveCursor+ansi.SetModeTextCursorEnable)
	}
	_, _ = io.WriteString(out, ansi.ClearProgramStatusID(statusID)+popTitle)
	m.pictures.free(m.opts.Output)
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted):
		return nil
	case ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic):
		return context.Cause(ctx)
	}
	return fmt.Errorf("run the screen: %w", err)
}

// firstFrame shows the screen before Bubble Tea does, whose renderer first
// waits for a tick and then draws everything anew.
func (m *Model) firstFrame(out io.Writer) {
	f, ok := out.(*os.File)
	if !ok {
		return
	}
	w, h, err := term.GetSize(f.Fd())
	if err != nil {
		return
	}
	m.w, m.h = w, h
	m.first = m.introduce()
	if runtime.GOOS == "windows" { // the console is not ready for sequences
		return
	}
	frame := ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable + ansi.CursorHomePosition +
		strings.ReplaceAll(m.View().Content, "\n", "\r\n")
	_, _ = io.WriteString(&colorprofile.Writer{Forward: out, Profile: m.opts.Colors}, frame) // the next frame will tell
}

func (m *Model) programOptions(ctx context.Context) []tea.ProgramOption {
	o := m.opts
	opts := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithFPS(fps), tea.WithFilter(m.filter()),
		tea.WithoutSignalHandler(), // signals end ctx
	}
	switch in := o.Input.(type) {
	case nil:
		opts = append(opts, tea.WithInput(&terminalInput{File: os.Stdin}))
	case *os.File:
		opts = append(opts, tea.WithInput(&terminalInput{File: in}))
	default:
		opts = append(opts, tea.WithInput(in))
	}
	opts = append(opts, tea.WithOutput(m.pictures.gallery.Output(m.opts.Output)))
	if o.Environ != nil {
		opts = append(opts, tea.WithEnvironment(o.Environ))
	}
	if o.Colors != colorprofile.Unknown {
		opts = append(opts, tea.WithColorProfile(o.Colors))
	}
	return append(opts, o.Program...)
}

// free frees what the terminal still holds when the program did not end by
// its own will. Pictures belong to the alternate screen, so that is entered once more.
func (p *pictures) free(out io.Writer) {
	if bytes := p.gallery.Close(); bytes != "" {
		_, _ = io.WriteString(out, ansi.SetModeAltScreenSaveCursor+bytes+ansi.ResetModeAltScreenSaveCursor)
	}
}

// filter sees every message before the program does.
func (m *Model) filter() func(tea.Model, tea.Msg) tea.Msg {
	wheel := wheelFilter()
	return func(model tea.Model, msg tea.Msg) tea.Msg {
		if _, ok := msg.(tickMsg); ok {
			m.ticks.come()
			return nil
		}
		return wheel(model, msg)
	}
}

// wheelFilter drops notches that come too fast, and motion, before they cost a
// frame.
func wheelFilter() func(tea.Model, tea.Msg) tea.Msg {
	var last time.Time
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg := msg.(type) {
		case tea.MouseMotionMsg:
			now := time.Now()
			if msg.Button != tea.MouseLeft && msg.Button != tea.MouseNone || now.Sub(last) < wheelEvery {
				return nil
			}
			last = now
		case tea.MouseWheelMsg:
			now := time.Now()
			if now.Sub(last) < wheelEvery {
				return nil
			}
			last = now
		}
		return msg
	}
}

// Close ends what New started listening to. Run does it itself; it is for
// programs that run the Model on their own.
func (m *Model) Close() { m.pump.close() }
