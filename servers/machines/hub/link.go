package hub

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// What the hub keeps, all of it bounded: one message a subject.
const (
	mostMessage = 4 << 20
	itemBytes   = 32 << 20 // of a host's items, its list and its outcomes
	answerBytes = 16 << 20 // of answers that a host has not taken
	mostStored  = 4096     // messages of a stream
	mostHere    = 256 << 10
	keptFor     = 7 * 24 * time.Hour

	listStream = "K"
	hereStream = "P"
)

// The server takes no other limits of its store while it runs, so they are those of the largest hub;
// what a hub uses is bounded by its streams.
const (
	memoryBytes = int64(mostHosts+8) * mostHere
	fileBytes   = int64(mostHosts)*(itemBytes+answerBytes) + 64<<20
)

func itemsOf(host string) string   { return "H_" + host }
func answersOf(host string) string { return "A_" + host }
func inbox(name string) string     { return "_INBOX_" + name }

func newStream(name string, bytes int64, subjects ...string) *nats.StreamConfig {
	return &nats.StreamConfig{
		Name: name, Subjects: subjects, MaxAge: keptFor, MaxBytes: bytes, MaxMsgs: mostStored,
		MaxMsgSize: mostMessage, MaxMsgsPerSubject: 1, MaxConsumers: 1, Replicas: 1, AllowDirect: true,
	}
}

// streams are those of a hub.
func streams(l List) []*nats.StreamConfig {
	list, here := newStream(listStream, mostMessage, "k.*"), newStream(hereStream, -1, "p.*")
	list.MaxAge, here.Storage, here.MaxMsgSize = 0, nats.MemoryStorage, mostHere
	all := []*nats.StreamConfig{list, here}
	for _, m := range l.of(Host) {
		answers := newStream(answersOf(m.Name), answerBytes, "a."+m.Name+".*.*")
		answers.Discard = nats.DiscardNew // what was stored of an answer stays
		all = append(all, newStream(itemsOf(m.Name), itemBytes, "v."+m.Name, "i."+m.Name+".*", "o."+m.Name+".*.*"), answers)
	}
	return all
}

// client is a connection to a hub, which is made anew for as long as it is open.
type client struct {
	life  context.Context
	close context.CancelFunc

	mu    sync.Mutex
	feeds map[string]*notify.Feed // see feed
	nc    *nats.Conn              // nil: there is no connection
	on    context.Context         // of the connection: it ends with it, and its cause is why there is none
	end   context.CancelCauseFunc
}

const (
	firstWait = 250 * time.Millisecond
	mostWait  = 15 * time.Second
	ackWithin = 4 * time.Second
)

// newClient returns one that has not begun.
func newClient() *client {
	c := &client{feeds: map[string]*notify.Feed{}}
	c.life, c.close = context.WithCancel(context.Background())
	c.on, c.end = context.WithCancelCause(context.Background())
	c.set(nil, errors.New("not connected yet"))
	return c
}

// connect begins the connection, and does not wait for the hub. What comes there is heard as a hint, but for requests
// that wait for a reply: those are for live.
func (c *client) connect(m *Membership, k *Keys, live nats.MsgHandler, subjects ...string) {
	listen := func(nc *nats.Conn) {
		for _, s := range subjects {
			hear := c.heard
			if isLive(s) {
				hear = live
			}
			if _, err := nc.Subscribe(s, hear); err != nil {
				nc.Close()
				c.set(nil, fmt.Errorf("listen to the hub: %w", err))
				return
			}
		}
		c.set(nc, nil)
	}
	recovery.Go("connection to a hub", func() {
		public, err := k.connect.PublicKey()
		var nc *nats.Conn
		if err == nil { // while nothing answers, this and each call of the connection take up to 10 s
			nc, err = nats.Connect("tls://"+m.Hub,
				nats.Nkey(public, k.connect.Sign), nats.Secure(pinned(m.Pin)), nats.CustomInboxPrefix(inbox(m.Name)), nats.Name(m.Name),
				nats.TLSHandshakeFirst(), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1),
				nats.PingInterval(10*time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(10*time.Second),
				nats.CustomReconnectDelay(func(tries int) time.Duration {
					return min(firstWait<<min(tries, 10), mostWait) + time.Duration(time.Now().UnixNano()%int64(firstWait)) // many do not come at once
				}),
				nats.ConnectHandler(listen), nats.ReconnectHandler(func(nc *nats.Conn) { c.set(nc, nil) }),
				nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.set(nil, err) }),
				nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.set(nil, err) }),
				nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
					if errors.Is(err, nats.ErrAuthorization) {
						c.set(nil, err)
					} // else a subject was refused, which is read of no more
				}),
			)
		}
		if err != nil {
			c.set(nil, fmt.Errorf("connect to the hub: %w", err))
			return
		}
		<-c.life.Done()
		nc.Close()
	})
}

// pinned takes a server by its key instead of a name.
func pinned(pin []byte) *tls.Config {
	return &tls.Config{
		InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, //nolint:gosec // the key is compared
		VerifyConnection: func(s tls.ConnectionState) error {
			if !bytes.Equal(pinOf(s.PeerCertificates[0]), pin) {
				return errors.New("what answers there has another key than the hub that was joined")
			}
			return nil
		},
	}
}

// errRevoked is why the hub refuses a member.
var errRevoked = errors.New("the hub does not know this member: it was revoked, or the hub runs with an older list; to end this: mcpdeck hub leave")

// set notes the connection, or why there is none.
func (c *client) set(nc *nats.Conn, err error) {
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		err = errRevoked
	case err == nil:
		err = errors.New("the connection has ended")
	}
	err = fmt.Errorf("the hub is not reached: %w", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(err)
	c.nc = nc
	c.on, c.end = context.WithCancelCause(context.Background())
	if nc == nil {
		c.end(err)
	}
	for _, f := range c.feeds {
		f.Send()
	}
}

// conn is the connection, and what ends with it; without one, err says why.
func (c *client) conn() (nc *nats.Conn, on context.Context, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nc, c.on, context.Cause(c.on)
}

// problem is why there is no connection.
func (c *client) problem() error {
	_, _, err := c.conn()
	return err
}

// connected waits for a connection until ctx ends, and returns what ends with it.
func (c *client) connected(ctx context.Context) (on context.Context, err error) {
	for range c.looks(ctx, changes) {
		if _, on, err = c.conn(); err == nil {
			break
		}
	}
	return on, err
}

// use does something over the connection, and gives it up when that ends: nobody replies any more, then.
func (c *client) use(ctx context.Context, within time.Duration, do func(context.Context, *nats.Conn) error) error {
	nc, on, err := c.conn()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	defer context.AfterFunc(on, cancel)()
	if err := do(ctx, nc); err != nil {
		return fmt.Errorf("ask the hub: %w", err)
	}
	return nil
}

// exchange sends a message and waits for one that replies.
func (c *client) exchange(ctx context.Context, within time.Duration, subject string, body []byte) (m *nats.Msg, err error) {
	err = c.use(ctx, within, func(ctx context.Context, nc *nats.Conn) (err error) {
		m, err = nc.RequestWithContext(ctx, subject, body)
		return err
	})
	return m, err
}

// store does something with what the hub stores. Without an error it is done.
func (c *client) store(ctx context.Context, do func(nats.JetStreamContext, nats.ContextOpt) error) error {
	return c.use(ctx, ackWithin, func(ctx context.Context, nc *nats.Conn) error {
		js, err := nc.JetStream(nats.MaxWait(ackWithin))
		if err == nil {
			err = do(js, nats.Context(ctx))
		}
		if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrNoStreamResponse) {
			return errors.New("the hub has no place for this yet: the deck that has made it prepares that once it runs")
		}
		return err
	})
}

// put stores a message in place of the last one of its subject.
func (c *client) put(ctx context.Context, subject string, message []byte) error {
	return c.store(ctx, func(js nats.JetStreamContext, in nats.ContextOpt) error {
		_, err := js.Publish(subject, message, in)
		return err
	})
}

// last returns the message of a subject; nil if there is none.
func (c *client) last(ctx context.Context, stream, subject string) (m *nats.RawStreamMsg, err error) {
	err = c.store(ctx, func(js nats.JetStreamContext, in nats.ContextOpt) (err error) {
		m, err = js.GetLastMsg(stream, subject, nats.DirectGet(), in)
		return found(err)
	})
	return m, err
}

// next returns the first message from a number on; nil if there is none.
func (c *client) next(ctx context.Context, stream, subject string, from uint64) (m *nats.RawStreamMsg, err error) {
	err = c.store(ctx, func(js nats.JetStreamContext, in nats.ContextOpt) (err error) {
		m, err = js.GetMsg(stream, from, nats.DirectGetNext(subject), in)
		return found(err)
	})
	return m, err
}

// found takes that nothing is there for no error.
func found(err error) error {
	if errors.Is(err, nats.ErrMsgNotFound) {
		return nil
	}
	return err
}

// age is how long a message has been at the hub.
func age(m *nats.RawStreamMsg) time.Duration { return max(time.Since(m.Time), 0) }

// purge removes what a stream has before a number.
func (c *client) purge(ctx context.Context, stream string, before uint64) error {
	return c.store(ctx, func(js nats.JetStreamContext, _ nats.ContextOpt) error {
		return js.PurgeStream(stream, &nats.StreamPurgeRequest{Sequence: before})
	})
}

// prepare makes the streams of a hub as they are to be, and puts the list there.
func (c *client) prepare(ctx context.Context, k *Keys, l List) error {
	for _, s := range streams(l) {
		err := c.store(ctx, func(js nats.JetStreamContext, in nats.ContextOpt) error {
			_, err := js.AddStream(s, in)
			if errors.Is(err, nats.ErrStreamNameAlreadyInUse) { // it is there and is another
				_, err = js.UpdateStream(s, in)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("prepare %s: %w", s.Name, err)
		}
	}
	for _, subject := range []string{listSubject, decksSubject} {
		message, err := k.signList(l, subject)
		if err == nil {
			err = c.put(ctx, subject, message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changes is the feed of what comes at no subject: of the connection, and of this machine.
const changes = ""

// feed hints at what has come at the subjects with a beginning of two words, and at a connection that is there or gone.
func (c *client) feed(subject string) *notify.Feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.feeds[subject]
	if f == nil {
		f = &notify.Feed{}
		c.feeds[subject] = f
	}
	return f
}

// heard hints at what has come: the hub has the message.
func (c *client) heard(is *nats.Msg) {
	parts := strings.SplitN(is.Subject, ".", 3)
	c.feed(strings.Join(parts[:min(len(parts), 2)], ".")).Send()
}

// poll is how often a member looks without a hint.
const poll = 10 * time.Second

// watch says when to look again.
type watch struct {
	soon  int  // looks that follow on the last hint, which may come before the message is stored, and may have come before this
	retry bool // within a second
}

func (w *watch) pause() time.Duration {
	switch {
	case w.retry:
		w.retry = false
		return time.Second
	case w.soon > 0:
		w.soon--
		return time.Second >> (3 * (w.soon + 1))
	}
	return poll
}

// looks yields now, and then whenever there may be something new at a subject, until ctx ends.
func (c *client) looks(ctx context.Context, subject string) iter.Seq[*watch] {
	return func(yield func(*watch) bool) {
		hints, stop := c.feed(subject).Subscribe()
		defer stop()
		for w := (&watch{soon: 3}); yield(w) && ctx.Err() == nil; {
			select {
			case <-hints:
				w.soon = 3
			case <-time.After(w.pause()):
			case <-ctx.Done():
				return
			}
		}
	}
}
