// Package app makes the deck of its parts: the servers and who may reach them, the questions, the
// log and the journal, the agents' programs, and the pages of the screen.
package app

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"math"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/push"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui/reply"
)

// App is the servers and their host, however they are reached.
type App struct {
	Config  *config.Config
	person  bool        // one can answer here
	lost    func() bool // without: whether a deck was there and has gone; may be nil
	redact  redact.Rules
	Host    *router.Host
	Queue   *ask.Queue     // nil when headless: there is no person to answer here
	gate    *userauth.Gate // nil when headless
	pusher  *push.Pusher   // nil: nothing is pushed
	Yield   func()         // ends a deck that makes room for the user's own; nil: this one stays
	Agents  *sessions.Programs
	others  machines
	Own     []included
	Servers *Switches
	user    *userServers
	marks   *marking
	denied  *denied
	line    *reply.Line // in which the next prompt of a session is typed
	forms   forms
	journal *journal.Journal // nil: none is kept
	Earlier *earlier         // nil with it
	logFile *logFile
	level   slog.LevelVar                 // of the log
	now     atomic.Pointer[config.Config] // the configuration as it is now; cfg is that at the start
	waiting atomic.Pointer[[]string]      // options that need a restart
}

// New makes a deck without starting it. With a user, questions go to a
// queue; without one, to a deck if there is one, else to the agent's own client.
// lost says whether a deck was there and has gone; it may be nil.
func New(cfg *config.Config, person bool, lost func() bool) (*App, error) {
	if err := cfg.Paths.Make(); err != nil {
		return nil, err
	}
	limitMemory()
	return Assemble(cfg, person, lost)
}

// Assemble is New without a look at the state folder: what it makes can be examined. It must
// not run.
func Assemble(cfg *config.Config, person bool, lost func() bool) (*App, error) {
	h := &App{Config: cfg, person: person, lost: lost, redact: redact.Rules{ShapeOnly: cfg.File.Journal.ShapeOnly, Known: &redact.Known{}}}
	if person {
		o := cfg.AskOptions()
		o.Redact = h.redact
		rules := sessions.Book(cfg.Paths)
		o.Past = &ask.Past{Path: cfg.Paths.Past, On: func() bool { return rules.Now().Enabled }}
		h.Queue = ask.New(o)
		h.gate = userauth.New(userauth.Options{Method: cfg.File.Ask.CLIAnswers.Method(), Path: cfg.Paths.Passphrase})
	}
	h.level.Set(logLevel(cfg))
	h.now.Store(cfg)
	h.Agents = sessions.New(cfg, &h.now, h.Queue)
	h.Agents.Redact = h.redact
	h.others = newMachines(h)
	if person {
		h.line = reply.New(reply.Options{Send: h.others.send, TakeBack: h.others.takeBack, Mode: func() string { return h.now.Load().File.Sessions.Reply }, Drafts: ask.NextDrafts{Queue: h.Queue}})
	}
	h.prepare()
	modules, err := h.include()
	if err != nil {
		return nil, err
	}
	host, err := router.New(router.Options{
		Name: cfg.Name(), Version: cli.Version(), Root: cfg.Dir, Roots: cfg.Roots, Redact: h.redact, Recorder: h.recorder(person),
		Servers: modules, Off: ownIn(cfg, "off"), Wanted: ownIn(cfg, "on", LazyWord), Denied: maps.Clone(h.denied.of), Limits: admission.Limits{Rest: giveBack},
		Approve: h.approve(person),
	})
	if err != nil {
		return nil, err
	}
	h.bind(host)
	h.Agents.Host = host
	for _, name := range plugin.Names() {
		h.Host.SetLazy(name, wasLazy(cfg, name))
	}
	h.Host.SetProfiles(cfg.Profiles())
	h.warnOf(cfg)
	return h, nil
}

// prepare makes the parts that servers are made with.
func (h *App) prepare() {
	h.denied, h.forms = readDenied(h.Config), forms{h.Queue, h.Config.Dir}
	h.marks = &marking{run: h.Config.Paths.Run, warn: func(topic, text string) { h.Host.Warn(topic, text) }}
}

// bind makes the parts that work with the host of all servers.
func (h *App) bind(host *router.Host) {
	h.Host = host
	h.user = &userServers{host: host, person: h.person, form: h.forms.ask, marks: h.marks, consents: readConsents(h.Config)}
	h.Servers = &Switches{h.Config, host, h.gate, h.Own, h.user, h.denied}
}

// limitMemory has the collector keep the process below what all admitted calls, and all that is
// kept, take together; else the heap may grow to twice that before it looks. A limit that the
// user has set in the environment stays.
func limitMemory() {
	const most = 960 << 20
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(most)
	}
}

// giveBack returns memory that is not in use to the system.
func giveBack() {
	for range 2 { // what pools keep outlasts one collection
		debug.FreeOSMemory()
	}
}

// recorder is the journal, where there is one. Only a deck writes its file; what
// is called without one waits in the spool.
func (h *App) recorder(person bool) calllog.Recorder {
	f := h.Config.File.Journal
	if !f.Enabled {
		return nil
	}
	if !person {
		h.journal = spool(h.Config, func(sentence string) { h.Host.Warn("journal", sentence) })
		return h.journal
	}
	h.journal = journal.New(journal.Options{
		Path: h.Config.Paths.Journal, Spool: h.Config.Paths.Spool, MaxCalls: f.MaxCalls, MaxAge: time.Duration(f.MaxDays) * 24 * time.Hour,
		Warn: func(sentence string) { h.Host.Warn("journal", sentence) },
	})
	h.Earlier = newEarlier(h.journal)
	return h.journal
}

// spool is the journal of a process without a deck.
func spool(cfg *config.Config, warn func(string)) *journal.Journal {
	return journal.New(journal.Options{Spool: cfg.Paths.Spool, Warn: warn})
}

// OpenJournal begins to write calls to disk, and tells whether it does.
func (h *App) OpenJournal() bool {
	if h.journal == nil {
		return false
	}
	if err := h.journal.Open(context.Background()); err != nil {
		h.Host.Warn("journal", err.Error())
		return false
	}
	return true
}

// Body implements calllog.Bodies: what a call carried, from memory, else from the
// journal.
func (h *App) Body(ctx context.Context, id uint64) (snapshot.CallBody, bool) {
	if b, ok := h.Host.Body(id); ok || h.journal == nil {
		return b, ok
	}
	return h.journal.Body(ctx, id)
}

// OpenLog sends everything that is logged to the deck's file, since nothing
// may write to the terminal while a screen is up.
// With to, it goes there instead.
func (h *App) OpenLog(to io.Writer) error {
	const most = 8 << 20
	path := h.Config.Paths.Log
	if info, err := os.Stat(path); err == nil && info.Size() > most {
		_ = file.Move(path, path+".old") // the log then goes on in the old file
	}
	f, err := openLogFile(path)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	h.logFile = f
	if to == nil {
		to = f
	}
	logTo(to, &h.level, h.redact)
	h.Host.LogWarnings()
	log.SetOutput(redactor{f, h.redact})
	return nil
}

// Stop ends the deck within two seconds, the last of which are the journal's. Only
// for a child that was killed it waits longer: it must not outlive the deck because the
// machine is busy.
func (h *App) Stop() {
	const grace, servers, killed = 2 * time.Second, 1700 * time.Millisecond, 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if h.Queue != nil {
		if err := h.Queue.Close(); err != nil {
			slog.Error("close the queue of questions", "error", err)
		}
	}
	serving, stop := context.WithTimeout(ctx, servers)
	defer stop()
	if err := h.Host.Stop(serving); err != nil {
		slog.Error("stop the servers", "error", err)
	}
	for _, s := range h.Own {
		if s.Close != nil {
			s.Close()
		}
	}
	if h.journal != nil {
		if err := h.journal.Close(ctx); err != nil {
			slog.Error("close the journal", "error", err)
		}
	}
	late, leave := context.WithTimeout(context.Background(), killed)
	defer leave()
	for _, c := range h.Servers.cards() {
		if err := c.Wait(late); err != nil {
			slog.Error("wait for the server of "+c.Name()+" to end", "error", err)
		}
	}
	h.marks.close()
	if h.logFile != nil {
		_ = h.logFile.Close() // nothing is written after
	}
}

// Stream serves a view of the deck inside the process, and names the tools whose
// calls may be sent again.
func (h *App) Stream(spec router.ViewSpec, who snapshot.Caller) (s transport.Stream, resumable []string, err error) {
	view, err := h.Host.View(spec)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := transport.Pipe()
	agent := h.Host.Connect(who, view.Spec.Servers)
	recovery.Go("stream", func() { serveStream(theirs, view, agent) })
	return ours, view.Resumable(), nil
}

func serveStream(s transport.Stream, view *router.View, agent *router.Agent) {
	defer agent.Close()
	defer s.Close()
	_ = transport.Serve(context.Background(), s, s, view, agent) // how it ended is nobody's concern
}

// TakeCards has the host serve the servers that a configuration names beside mcpdeck's own, and no
// others. It is for one goroutine at a time.
func (h *App) TakeCards(cfg *config.Config) { h.user.take(cfg) }

// EndLeftovers ends the programs of a deck that was killed.
func (h *App) EndLeftovers() { h.marks.endLeftovers() }
