// Package sessions connects the deck to agents' own programs, for what these ask and do, and
// implements the command that lists their sessions.
package sessions

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	places "github.com/mcpdeck/mcpdeck/servers/agents/terminal"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/reply"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	tokens "github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Programs is what the deck knows of agents' programs: their prompts, and their sessions
// with what these cost.
type Programs struct {
	cfg    *config.Config
	now    *atomic.Pointer[config.Config] // the configuration as it is now; cfg is that at the start
	Host   *router.Host                   // nil without a deck
	queue  *ask.Queue
	Roster *sessions.Roster // empty when headless
	Book   *book.Store      // the user's rules
	Ruled  *approvals.ByRules
	Outbox *reply.Outbox // of what the user sends to sessions; for the screen alone
	watch  process.Watch
	places places.Finder                 // of the terminals that they run in
	Prices atomic.Pointer[tokens.Prices] // nil until they are read
	Redact redact.Rules                  // how secrets are removed from what sessions recorded
	Alone  bool                          // what was not started by this process is none of its concern
}

// New returns what is known of agents' programs: nothing yet. now is the configuration as it is
// at any time, cfg that at the start.
func New(cfg *config.Config, now *atomic.Pointer[config.Config], queue *ask.Queue) *Programs {
	p := &Programs{cfg: cfg, now: now, queue: queue, Roster: &sessions.Roster{}, Book: Book(cfg.Paths), places: places.Finder{Environ: cfg.Environ}}
	p.Ruled = approvals.Ruled(queue, p.Book, cfg.Home, agents.Ruled())
	p.Outbox = reply.New(reply.Options{
		Roster: p.Roster, Off: func() bool { return now.Load().File.Sessions.Reply == "off" }, Notice: func(s string) { p.queue.Notice(s) },
		Taken: func(agent, id, text string) {
			if d := (ask.NextDrafts{Queue: p.queue}); d.NextDraft(agent, id) == text { // else the user has begun another
				d.SetNextDraft(agent, id, "")
			}
		},
	})
	return p
}

// Book is the user's book of rules.
func Book(p config.Paths) *book.Store { return book.NewStore(filepath.Dir(p.Config), p.State) }

// Follow keeps the list of agents' sessions until ctx ends; the channel is closed
// when what was counted is kept.
func (p *Programs) Follow(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	recovery.Go("sessions", func() {
		defer close(ended)
		p.ReadPrices(p.now.Load())
		count := p.counter()
		count.Prune(time.Now())
		p.Roster.Run(ctx, sessions.Options{
			Queue: p.queue, Deck: p.Host, Usage: count, Keep: p.Keeps, Running: p.running,
			Name: p.places.Name, Shown: p.places.Shown,
		})
	})
	return ended
}

// running are the processes that may be agents' programs.
func (p *Programs) running() []process.Running {
	all := p.watch.All()
	if p.Alone {
		all = slices.DeleteFunc(all, func(p process.Running) bool { return p.Parent != os.Getpid() })
	}
	return all
}

// Keeps is how long a session that has ended stays in the list.
func (p *Programs) Keeps() time.Duration { return time.Duration(p.now.Load().File.Sessions.Keep) }

// ReadPrices reads what tokens cost, and warns of what is wrong with the user's own table.
func (p *Programs) ReadPrices(cfg *config.Config) {
	var wrong []string
	list, err := PriceList(cfg)
	if err != nil {
		slog.Error("read the prices", "error", err)
		wrong = []string{err.Error()}
	}
	if !reflect.DeepEqual(list, p.Prices.Load()) { // with another table every session is priced again
		p.Prices.Store(list)
	}
	if p.Host != nil {
		p.Host.SetWarnings("prices", false, wrong...)
	}
}

// counter counts the tokens of sessions.
func (p *Programs) counter() *tokens.Counter {
	folders, programs := p.cfg.ClientFolders(), map[string]tokens.Program{}
	for _, a := range agents.All() {
		programs[a.ID] = tokens.Program{Folder: folders.Program(a.ID), Format: a.Usage}
	}
	return tokens.New(tokens.Options{Programs: programs, Prices: p.Prices.Load, State: filepath.Join(p.cfg.Paths.State, "usage"), Redact: p.Redact})
}

// SessionFiles lists the sessions without a deck, by what the files and sockets of the
// agents' programs say.
func SessionFiles(ctx context.Context, cfg *config.Config) (List, error) {
	h := New(cfg, new(atomic.Pointer[config.Config]), ask.New(ask.Options{}))
	h.now.Store(cfg)
	h.ReadPrices(cfg)
	if err := h.queue.Close(); err != nil { // nothing can be asked here
		return List{}, err
	}
	const quiet, most = 400 * time.Millisecond, 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	hints, stop := h.Roster.Hints()
	defer stop()
	found := false
	for agent, a := range h.adapters() {
		if f, ok := a.(approvals.Finder); !ok || !f.Left() { // without a deck, no other tells of any
			continue
		}
		found = true
		recovery.Go("sessions of "+agent, func() { a.Run(ctx) })
	}
	done, looked := make(chan struct{}), make(chan struct{}, 1)
	recovery.Go("sessions", func() {
		defer close(done)
		h.Roster.Run(ctx, sessions.Options{
			Usage: h.counter(), Keep: h.Keeps, Running: process.All, Looked: func() { notify.Poke(looked) },
		})
	})
	for settled := false; !settled; {
		select {
		case <-looked:
			settled = !found
		case <-hints:
		case <-time.After(quiet):
			settled = true
		case <-ctx.Done():
			settled = true
		}
	}
	all := newSessionList(h.Roster.Sessions())
	cancel()
	<-done
	return all, nil
}

// Jump brings the terminal of a session to the front.
func (p *Programs) Jump(s snapshot.Session) (string, error) {
	return p.places.Jump(context.Background(), s)
}

// JumpTo brings the terminal to the front in which an agent's program asks.
func (p *Programs) JumpTo(r ask.Request) (string, error) {
	if s, ok := p.sessionThatAsks(r); ok {
		return p.Jump(s)
	}
	return "", errors.New("the terminal of this session is not known")
}

// LooksAt reports whether the user looks at the terminal in which an agent's program asks.
func (p *Programs) LooksAt(r ask.Request) bool {
	s, ok := p.sessionThatAsks(r)
	return ok && p.places.Shown(context.Background(), s)
}

func (p *Programs) sessionThatAsks(r ask.Request) (snapshot.Session, bool) {
	for _, s := range p.Roster.Sessions() {
		if p := r.Prompt; p != nil && s.Agent == p.Agent && s.ID == p.Session {
			return s, true
		}
	}
	return snapshot.Session{}, false
}
