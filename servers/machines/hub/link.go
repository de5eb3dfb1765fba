package hub

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
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

// stream is the configuration of one, as the hub takes it.
type stream struct {
	Name       string        `json:"name"`
	Subjects   []string      `json:"subjects"`
	Retention  string        `json:"retention"`
	Storage    string        `json:"storage"`
	Discard    string        `json:"discard"`
	MaxAge     time.Duration `json:"max_age"`
	MaxBytes   int64         `json:"max_bytes"`
	MaxMsgs    int64         `json:"max_msgs"`
	MaxMsgSize int32         `json:"max_msg_size"`
	MaxPer     int64         `json:"max_msgs_per_subject"`
	MaxReaders int           `json:"max_consumers"`
	Replicas   int           `json:"num_replicas"`
	Direct     bool          `json:"allow_direct"`
}

func newStream(name string, bytes int64, subjects ...string) stream {
	return stream{
		Name: name, Subjects: subjects, Retention: "limits", Storage: "file", Discard: "old", MaxAge: keptFor, MaxBytes: bytes, MaxMsgs: mostStored,
		MaxMsgSize: mostMessage, MaxPer: 1, MaxReaders: 1, Replicas: 1, Direct: true,
	}
}

// streams are those of a hub.
func streams(l *List) []stream {
	list, here := newStream(listStream, mostMessage, "k.*"), newStream(hereStream, -1, "p.*")
	list.MaxAge, here.Storage, here.MaxMsgSize = 0, "memory", mostHere
	all := []stream{list, here}
	for _, m := range l.of(Host) {
		answers := newStream(answersOf(m.Name), answerBytes, "a."+m.Name+".*.*")
		answers.Discard = "new" // what was stored of an answer stays
		all = append(all, newStream(itemsOf(m.Name), itemBytes, "v."+m.Name, "i."+m.Name+".*", "o."+m.Name+".*.*"), answers)
	}
	return all
}

// client is a connection to a hub, which is made anew for as long as it is open.
type client struct {
	feed notify.Feed // hints that the connection is there or gone

	mu     sync.Mutex
	nc     *nats.Conn      // nil until it listens to its subjects
	ended  bool            // there is to be none
	why    error           // not connected
	up     chan struct{}   // closed while connected
	on     context.Context // of the connection: it ends with it
	end    context.CancelFunc
	linked bool
}

const (
	firstWait = 250 * time.Millisecond
	mostWait  = 15 * time.Second
	ackWithin = 4 * time.Second
)

func newClient() *client {
	c := &client{up: make(chan struct{}), why: errors.New("not connected yet")}
	c.on, c.end = context.WithCancel(context.Background())
	c.end()
	return c
}

// connect begins a connection, and does not wait for the hub.
func connect(m *Membership, k *Keys, heard nats.MsgHandler, subjects ...string) (*client, error) {
	c := newClient()
	public, err := k.connect.PublicKey()
	if err != nil {
		return nil, err
	}
	options := []nats.Option{nats.Nkey(public, k.connect.Sign), nats.Secure(pinned(m.Pin)), nats.CustomInboxPrefix(inbox(m.Name)), nats.Name(m.Name)}
	recovery.Go("connection to a hub", func() {
		if err := c.begin(m.Hub, options, heard, subjects); err != nil {
			c.set(false, err)
		}
	})
	return c, nil
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

// begin connects. While nothing answers, that and each call of the connection take up to 10 s.
func (c *client) begin(at string, options []nats.Option, heard nats.MsgHandler, subjects []string) error {
	nc, err := nats.Connect("tls://"+at, append(options,
		nats.TLSHandshakeFirst(), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.IgnoreAuthErrorAbort(), nats.ReconnectBufSize(-1),
		nats.PingInterval(10*time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(10*time.Second),
		nats.CustomReconnectDelay(func(tries int) time.Duration {
			return min(firstWait<<min(tries, 10), mostWait) + time.Duration(time.Now().UnixNano()%int64(firstWait)) // many do not come at once
		}),
		nats.ConnectHandler(func(*nats.Conn) { c.set(true, nil) }), nats.ReconnectHandler(func(*nats.Conn) { c.set(true, nil) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.set(false, err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.set(false, err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrAuthorization) {
				c.set(false, err)
			} // else a subject was refused, which is read of no more
		}),
	)...)
	if err != nil {
		return fmt.Errorf("connect to the hub: %w", err)
	}
	for _, s := range subjects {
		if _, err := nc.Subscribe(s, heard); err != nil {
			nc.Close()
			return fmt.Errorf("listen to the hub: %w", err)
		}
	}
	c.mu.Lock()
	ended := c.ended
	if !ended {
		c.nc = nc
	}
	c.mu.Unlock()
	switch {
	case ended:
		nc.Close()
	case nc.IsConnected():
		c.set(true, nil)
	}
	return nil
}

func (c *client) set(linked bool, err error) {
	c.mu.Lock()
	if linked && c.nc == nil { // it is told once it listens
		c.mu.Unlock()
		return
	}
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		c.why = errRevoked
	case err != nil:
		c.why = err
	case !linked:
		c.why = errors.New("the connection has ended")
	}
	switch {
	case linked && !c.linked:
		close(c.up)
		c.on, c.end = context.WithCancel(context.Background())
	case !linked && c.linked:
		c.end()
		c.up = make(chan struct{})
	}
	c.linked = linked
	c.mu.Unlock()
	c.feed.Send()
}

// isUp returns a channel that is closed once there is a connection, and what ends with the latest one.
func (c *client) isUp() (up <-chan struct{}, on context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.up, c.on
}

// errRevoked is why the hub refuses a member.
var errRevoked = errors.New("the hub does not know this member: it was revoked, or the hub runs with an older list; to end this: mcpdeck hub leave")

// problem is why there is no connection.
func (c *client) problem() error {
	_, err := c.conn()
	return err
}

// conn is the connection; without one, err says why.
func (c *client) conn() (nc *nats.Conn, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.linked {
		return nil, fmt.Errorf("the hub is not reached: %w", c.why)
	}
	return c.nc, nil
}

func (c *client) close() {
	c.mu.Lock()
	nc := c.nc
	c.ended = true
	c.mu.Unlock()
	if nc != nil {
		nc.Close()
	}
}

// hubError is what the hub says of a request that it refuses.
type hubError struct {
	Code    int    `json:"code"`
	Number  int    `json:"err_code"`
	Meaning string `json:"description"`
}

func (e *hubError) Error() string { return "the hub says: " + e.Meaning }

// call makes a request of the hub's own, and waits for its reply.
func (c *client) call(ctx context.Context, subject string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	m, err := c.request(ctx, subject, body)
	if err != nil {
		return err
	}
	if out == nil {
		out = new(struct{})
	}
	if err := json.Unmarshal(m.Data, out); err != nil {
		return fmt.Errorf("read the hub's reply: %w", err)
	}
	var r struct {
		Error *hubError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &r); err == nil && r.Error != nil {
		return r.Error
	}
	return nil
}

func (c *client) request(ctx context.Context, subject string, body []byte) (*nats.Msg, error) {
	m, err := c.exchange(ctx, ackWithin, subject, body)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, errors.New("the hub has no place for this yet: the deck that has made it prepares that once it runs")
	}
	return m, err
}

// exchange sends a message and waits for one that replies.
func (c *client) exchange(ctx context.Context, within time.Duration, subject string, body []byte) (*nats.Msg, error) {
	nc, err := c.conn()
	if err != nil {
		return nil, err
	}
	_, on := c.isUp()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	defer context.AfterFunc(on, cancel)() // nobody replies any more, then
	m, err := nc.RequestWithContext(ctx, subject, body)
	if err != nil {
		return nil, fmt.Errorf("ask the hub: %w", err)
	}
	return m, nil
}

// put stores a message in place of the last one of its subject. Without an error it is stored.
func (c *client) put(ctx context.Context, subject string, message []byte) error {
	var ack struct {
		Stream string    `json:"stream"`
		Error  *hubError `json:"error"`
	}
	m, err := c.request(ctx, subject, message)
	if err != nil {
		return err
	}
	switch err := json.Unmarshal(m.Data, &ack); {
	case err != nil:
		return fmt.Errorf("read the hub's reply: %w", err)
	case ack.Error != nil:
		return ack.Error
	case ack.Stream == "":
		return errors.New("the hub has not stored this")
	}
	return nil
}

// stored is a message that the hub has.
type stored struct {
	subject string
	data    []byte
	seq     uint64
	age     time.Duration
}

// last returns the message of a subject; nil if there is none.
func (c *client) last(ctx context.Context, stream, subject string) (*stored, error) {
	return c.get(ctx, "$JS.API.DIRECT.GET."+stream+"."+subject, nil)
}

// next returns the first message from a number on; nil if there is none.
func (c *client) next(ctx context.Context, stream, subject string, from uint64) (*stored, error) {
	body, err := json.Marshal(map[string]any{"seq": from, "next_by_subj": subject})
	if err != nil {
		return nil, err
	}
	return c.get(ctx, "$JS.API.DIRECT.GET."+stream, body)
}

func (c *client) get(ctx context.Context, subject string, body []byte) (*stored, error) {
	m, err := c.request(ctx, subject, body)
	if err != nil {
		return nil, err
	}
	if status := m.Header.Get("Status"); status == "404" {
		return nil, nil //nolint:nilnil // nothing is there
	} else if status != "" {
		return nil, fmt.Errorf("the hub says: %s %s", status, m.Header.Get("Description"))
	}
	s := &stored{subject: m.Header.Get("Nats-Subject"), data: m.Data}
	if s.seq, err = strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64); err != nil {
		return nil, fmt.Errorf("read the hub's reply: %w", err)
	}
	if at, err := time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp")); err == nil {
		s.age = max(time.Since(at), 0)
	}
	return s, nil
}

// purge removes what a stream has before a number.
func (c *client) purge(ctx context.Context, stream string, before uint64) error {
	return c.call(ctx, "$JS.API.STREAM.PURGE."+stream, map[string]any{"seq": before}, nil)
}

// prepare makes the streams of a hub as they are to be, and puts the list there.
func (c *client) prepare(ctx context.Context, k *Keys, l *List) error {
	for _, s := range streams(l) {
		err := c.call(ctx, "$JS.API.STREAM.CREATE."+s.Name, s, nil)
		if e := new(hubError); errors.As(err, &e) && e.Code == 400 { // it is there and is another
			err = c.call(ctx, "$JS.API.STREAM.UPDATE."+s.Name, s, nil)
		}
		if err != nil {
			return fmt.Errorf("prepare %s: %w", s.Name, err)
		}
	}
	for _, subject := range []string{listSubject, decksSubject} {
		message, err := k.signList(*l, subject)
		if err == nil {
			err = c.put(ctx, subject, message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
