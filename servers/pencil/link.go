package pencil

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

const (
	handshakeLimit = 10 * time.Second
	maxPages       = 50
	pingEvery      = 30 * time.Second
	pingLimit      = 10 * time.Second
	drainLimit     = 100 * time.Millisecond // for what is in the pipe when the child is gone
	maxGuide       = 8000                   // characters of instructions
	wantProtocol   = "2025-11-25"
)

// link is a child that has shaken hands.
type link struct {
	*rpc.Conn
	proc *process.Child
	note func(text string) // for the log

	server, version string // what the child calls itself
	protocol        string
	instructions    string
	ready           time.Time

	busy atomic.Int32 // calls sent and not ended

	mu      sync.Mutex // guards what follows
	changed func()     // called when the child says that its tools have changed
	missed  bool       // it said so before changed was set

	elicit func(context.Context, Elicitation) (Elicited, error) // nil: nobody can be asked
	person person

	drained chan struct{} // closed when all of its stderr was read
	gone    chan struct{} // closed when the child is of no more use
	cause   string        // after gone: why, in words
}

// openLink starts a child and reads what it offers, within handshakeLimit. It
// leaves nothing behind when it fails.
func openLink(ctx context.Context, start func() (*process.Child, error), log *ring, o *Options) (*link, []json.RawMessage, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	proc, err := start()
	if err != nil {
		return nil, nil, err
	}
	log.add("link", fmt.Sprintf("started, process %d", proc.PID))
	l := newLink(proc, func(text string) { log.add("link", text) }, o.Elicit)
	safe.Go("pencil stderr", func() {
		defer close(l.drained)
		log.drain(proc.Err)
	})
	l.Begin(proc.In, proc.Out)
	tools, err := l.shake(ctx, o.Version)
	if err != nil {
		err = l.explain(ctx, err, log, began)
		l.proc.End(true)
		proc.Out.Close()
		proc.Err.Close()
		<-l.Done()
		return nil, nil, err
	}
	l.ready = time.Now()
	safe.Go("pencil watch", l.watch)
	safe.Go("pencil ping", l.pings)
	return l, tools, nil
}

func newLink(proc *process.Child, note func(text string), elicit func(context.Context, Elicitation) (Elicited, error)) *link {
	l := &link{proc: proc, note: note, elicit: elicit, gone: make(chan struct{}), drained: make(chan struct{})}
	l.Conn = rpc.New(rpc.Options{
		Name: "pencil", Notify: l.notified, Serve: l.serveChild, Note: note,
		Stray: func(line []byte) { note("stdout: " + string(line[:min(len(line), lineRunes)])) },
	})
	return l
}

// explain turns a failed handshake into the reason a person reads.
func (l *link) explain(ctx context.Context, err error, log *ring, began time.Time) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %d s", int(handshakeLimit.Seconds()))
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, rpc.ErrGone):
		if !l.proc.GoneWithin(drainLimit) {
			return errors.New("it closed its output")
		}
		text := "it exited with " + l.proc.Code()
		select {
		case <-l.drained:
		case <-time.After(drainLimit): // something it has started holds the pipe
		}
		if last := log.lastWords(began); last != "" {
			text += ": " + last
		}
		return errors.New(text)
	}
	return err
}

// shake introduces the deck and lists the tools.
func (l *link) shake(ctx context.Context, version string) ([]json.RawMessage, error) {
	capabilities := "{}"
	if l.elicit != nil {
		capabilities = `{"elicitation":{"form":{}}}`
	}
	hello, err := l.Call(ctx, "initialize", json.RawMessage(`{"protocolVersion":"`+wantProtocol+
		`","capabilities":`+capabilities+`,"clientInfo":{"name":"mcpdeck","version":`+string(rawjson.Quote(version))+`}}`))
	if err != nil {
		return nil, err
	}
	o, err := rawjson.SplitObject(hello)
	if err != nil {
		return nil, fmt.Errorf("its introduction is %w", err)
	}
	l.protocol = o.Str("protocolVersion")
	if !slices.Contains([]string{"2024-11-05", "2025-03-26", "2025-06-18", wantProtocol}, l.protocol) {
		return nil, fmt.Errorf("it speaks protocol %q, which mcpdeck does not know", l.protocol)
	}
	if info, err := rawjson.SplitObject(o.Get("serverInfo")); err == nil {
		l.server, l.version = info.Str("name"), info.Str("version")
	}
	l.instructions = strings.TrimSpace(plain.Passed(o.Str("instructions"), maxGuide))
	l.Offer(rpc.Message{Method: "notifications/initialized"}.Line())
	return l.listTools(ctx)
}

// listTools reads all pages of the tool list.
func (l *link) listTools(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	var seen []string
	params := json.RawMessage(`{}`)
	for range maxPages {
		page, err := l.Call(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		o, err := rawjson.SplitObject(page)
		if err != nil {
			return nil, fmt.Errorf("its tool list is %w", err)
		}
		tools, ok := rawjson.SplitArray(o.Get("tools"))
		if !ok {
			return nil, errors.New("its tool list has no tools member")
		}
		all = append(all, tools...)
		next := o.Str("nextCursor")
		if next == "" || slices.Contains(seen, next) {
			break
		}
		seen = append(seen, next)
		params = json.RawMessage(`{"cursor":` + string(rawjson.Quote(next)) + `}`)
	}
	return all, nil
}

// watch notices the end of the child.
func (l *link) watch() {
	select {
	case <-l.proc.Exited:
		select {
		case <-l.Done():
		case <-time.After(drainLimit): // something it has started holds the pipe
		}
		l.cause = "it ended with " + l.proc.Code()
	case <-l.Done():
		l.cause = "it closed its output"
		if l.proc.GoneWithin(drainLimit) {
			l.cause = "it ended with " + l.proc.Code()
		} else {
			l.proc.End(true)
		}
	}
	l.proc.In.Close()
	l.proc.Out.Close()
	l.proc.Err.Close()
	<-l.Done()
	close(l.gone)
}

// end ends the child and waits for that. It may be called any number of times.
func (l *link) end() {
	l.proc.End(l.busy.Load() > 0)
	<-l.gone
}

// pings ends a child that does not answer twice in a row.
func (l *link) pings() {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	misses := 0
	for {
		select {
		case <-l.gone:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
		_, err := l.Call(ctx, "ping", nil)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			misses = 0
			continue
		}
		if misses++; misses == 2 {
			l.note("no answer to two pings: ending it")
			l.proc.Kill()
			return
		}
	}
}

// notified takes a notification of the child, on the reading goroutine.
func (l *link) notified(method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed":
		l.mu.Lock()
		changed := l.changed
		l.missed = changed == nil
		l.mu.Unlock()
		if changed != nil {
			changed()
		}
	case "notifications/cancelled":
		l.person.withdrawn(params)
	case "notifications/message":
		l.note("message: " + string(params[:min(len(params), lineRunes)]))
	}
}

// onChange sets what to do when the child says that its tools have changed.
// It is called on the reading goroutine and must not wait.
func (l *link) onChange(fn func()) {
	l.mu.Lock()
	l.changed = fn
	missed := l.missed
	l.mu.Unlock()
	if missed {
		fn()
	}
}
