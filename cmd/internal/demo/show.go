// Package demo plays a session on a deck with stand-ins for agents' programs, so that
// anyone sees the whole deck at work in a minute and a half.
package demo

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// Deck is the deck that is shown.
type Deck interface {
	Snapshot() *snapshot.Snapshot
	Calls(since uint64) ([]snapshot.Call, uint64)
}

// Options are what a Show needs.
type Options struct {
	Folder  Folder
	Environ []string
	Deck    Deck
	Queue   *ask.Queue
	TurnOn  func(server string) error
	// Pace is how long each scene waits for the user before it presses the keys itself; 0:
	// not at all.
	Pace time.Duration
	// Line gets what is said where there is no screen, and returns once it and all that
	// happened before is printed, or ctx has ended; nil: there is a screen.
	Line func(ctx context.Context, text string)
}

// Show plays the scenes, and says on the screen what can be tried. It is a [tui.Guide].
type Show struct {
	o      Options
	agents map[string]*agent

	again chan struct{} // the user wants to go on
	hints notify.Feed
	mu    sync.Mutex // guards what follows
	now   tui.GuideMsg
	seen  seen
	asked int // permissions, by agents that number them
}

// seen is what the screen has told of the user.
type seen struct {
	page    string    // that is on the screen
	touched time.Time // a key was pressed
	next    bool      // the user wants to go on
}

// New makes a Show. Run plays it.
func New(o Options) *Show {
	s := &Show{o: o, agents: map[string]*agent{}, again: make(chan struct{}, 1)}
	s.now = tui.GuideMsg{Badge: "demo", About: "stand-in agents, temporary folder", Say: "Three stand-in agents are starting …", Idle: goesOn}
	return s
}

const goesOn = "The demo plays on its own; ctrl+n brings the next scene, q quits."

// Feed implements [tui.Guide].
func (s *Show) Feed() tui.Feed {
	hints, stop := s.hints.Subscribe()
	return tui.Feed{Hint: hints, Stop: stop, Load: func() tea.Msg {
		s.mu.Lock()
		defer s.mu.Unlock()
		msg := s.now
		s.now.Press = "" // once
		return msg
	}}
}

// Pressed implements [tui.Guide].
func (s *Show) Pressed() { s.with(func() { s.seen.touched = time.Now() }) }

// Shown implements [tui.Guide].
func (s *Show) Shown(page string) { s.with(func() { s.seen.page = page }) }

// Next implements [tui.Guide].
func (s *Show) Next() {
	s.with(func() { s.seen.next = true })
	notify.Poke(s.again)
}

func (s *Show) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// say shows what happens and what to press.
func (s *Show) say(badge, text, try string) {
	changed := false
	s.with(func() {
		before := s.now
		s.now.Badge, s.now.Say, s.now.Try = badge, text, try
		changed = s.now != before
	})
	if changed {
		s.hints.Send()
	}
}

// press has a key pressed on the screen.
func (s *Show) press(key string) {
	if strings.Contains("CDPS", key) {
		key = "alt+" + strings.ToLower(key) // which leads to the page also from a text field
	}
	s.with(func() { s.now.Press = key })
	s.hints.Send()
}

// Run plays all scenes, again and again with a screen, once without one, until ctx ends.
func (s *Show) Run(ctx context.Context) error {
	defer func() {
		for _, a := range s.agents {
			a.end()
		}
	}()
	for _, a := range cast() {
		started, err := startAgent(ctx, s.o.Folder, s.o.Environ, a.program, a.client, a.version)
		if err != nil {
			return s.failed(ctx, err)
		}
		s.agents[a.program] = started
	}
	for {
		all := script()
		for i, sc := range all {
			if err := s.play(ctx, fmt.Sprintf("%d/%d", i+1, len(all)), sc); err != nil {
				return s.failed(ctx, err)
			}
		}
		if s.o.Line != nil {
			return nil
		}
		s.say("demo", "That was the deck. Look around: I, A, C, S, P and D are its pages.", "ctrl+n plays it again, q quits. Then run mcpdeck setup.")
		if !s.repeated(ctx) {
			return nil
		}
	}
}

// repeated waits for the user to want the demo once more, without looking again and again: what
// is over takes no processor. It returns false if ctx ends before.
func (s *Show) repeated(ctx context.Context) bool {
	select {
	case <-s.again: // a scene was skipped
	default:
	}
	select {
	case <-s.again:
		s.skipped()
		return true
	case <-ctx.Done():
		return false
	}
}

// failed says on the screen what went wrong.
func (s *Show) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	s.say("demo", "The demo cannot go on: "+err.Error(), "q quits.")
	return err
}

// play plays one scene.
func (s *Show) play(ctx context.Context, number string, sc scene) error {
	s.tell(ctx, number, sc.begins, "")
	acted := s.act(ctx, sc)
	over := func() bool {
		select {
		case err := <-acted:
			acted <- err
			return true
		default:
			return false
		}
	}
	// A scene is ready when the deck shows it, unless it went wrong before.
	if err := s.wait(ctx, func() bool { return over() || sc.ready(s) }); err != nil {
		return err
	}
	s.tell(ctx, number, sc.say, sc.try)
	if err := s.lead(ctx, number, sc, over); err != nil {
		return err
	}
	select {
	case err := <-acted:
		if err != nil {
			return fmt.Errorf("scene %s: %w", number, err)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	if sc.ends != "" {
		s.tell(ctx, number, sc.ends, "")
	}
	return s.linger(ctx)
}

// tell says what a scene has to say.
func (s *Show) tell(ctx context.Context, number, text, try string) {
	if text != "" && s.o.Line != nil {
		s.o.Line(ctx, "demo "+number+": "+text)
		return
	}
	s.hint(number, text, try)
}

// hint says on the screen, if there is one, what can be pressed now.
func (s *Show) hint(number, text, try string) {
	if text != "" && s.o.Line == nil {
		s.say("demo "+number, text, try)
	}
}

// act has the agents play their part.
func (s *Show) act(ctx context.Context, sc scene) chan error {
	done := make(chan error, 1)
	if sc.agents == nil {
		done <- nil
		return done
	}
	recovery.Go("agents of the demo", func() { done <- sc.agents(ctx, s) })
	return done
}

// lead waits for what the scene asks of the user, and does it in their place when they do
// nothing.
func (s *Show) lead(ctx context.Context, number string, sc scene, over func() bool) error {
	done := func() bool {
		if !s.onPage(ctx, number, sc) {
			return false
		}
		return sc.agents == nil || over() || sc.did != nil && sc.did(s)
	}
	for !done() {
		if s.left(sc) {
			s.hint(number, sc.say, "Sent in a moment; until then, u undoes it.")
			if err := s.wait(ctx, func() bool { return done() || !s.left(sc) }); err != nil {
				return err
			}
			s.hint(number, sc.say, s.tries(sc))
			continue
		}
		try := s.tries(sc)
		if err := s.idle(ctx, func() bool { return done() || s.left(sc) || s.tries(sc) != try }); err != nil {
			return err
		}
		if s.left(sc) {
			continue
		}
		if now := s.tries(sc); now != try {
			s.hint(number, sc.say, now)
			continue
		}
		if s.o.Line != nil {
			if sc.alone == nil {
				return nil
			}
			if err := sc.alone(s); err != nil {
				return err
			}
			return s.wait(ctx, over)
		}
		for _, key := range sc.keys {
			if done() || s.left(sc) {
				break
			}
			s.press(key)
			if err := process.Pause(ctx, min(max(s.o.Pace/6, keyGap), time.Second)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tries is what can be pressed now, of what waits on the Inbox.
func (s *Show) tries(sc scene) string {
	if sc.then != nil && sc.then(s) {
		return sc.next
	}
	return sc.try
}

// left reports whether the user has answered all that a scene asks, and the rest is left to
// the agents. Whoever wants to go on then, wants it once they have done it.
func (s *Show) left(sc scene) bool { return sc.page == "" && len(open(s)) == 0 }

// onPage reports whether the user is where a scene wants them, and says what can be pressed
// where they are.
func (s *Show) onPage(ctx context.Context, number string, sc scene) bool {
	switch {
	case s.o.Line != nil || sc.page == "":
		return true
	case s.user().page == sc.page:
		s.tell(ctx, number, sc.say, sc.there)
		return true
	}
	s.tell(ctx, number, sc.say, sc.try)
	return false
}

const (
	lookEvery = 20 * time.Millisecond
	keyGap    = 150 * time.Millisecond // between two keys, at least
)

// wait waits for the state that is wanted.
func (s *Show) wait(ctx context.Context, wanted func() bool) error {
	for !wanted() {
		if err := process.Pause(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}

// idle waits until the user has done nothing for a while, wants to go on, or done.
func (s *Show) idle(ctx context.Context, done func() bool) error {
	since := time.Now()
	return s.wait(ctx, func() bool {
		last := s.user().touched
		if last.Before(since) {
			last = since
		}
		return done() || s.skipped() || time.Since(last) >= s.o.Pace
	})
}

// linger leaves time to read.
func (s *Show) linger(ctx context.Context) error {
	return s.idle(ctx, func() bool { return s.o.Line != nil })
}

// user is what the screen has told by now.
func (s *Show) user() seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// skipped reports whether the user wants to go on. It does so once for each time.
func (s *Show) skipped() (next bool) {
	s.with(func() { next, s.seen.next = s.seen.next, false })
	return next
}

// Plain reports whether there is no screen.
func (s *Show) Plain() bool { return s.o.Line != nil }
