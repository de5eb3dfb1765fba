package hook

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Time limits of a connection.
const (
	helloWithin = 10 * time.Second
	writeWithin = 5 * time.Second
	pingEvery   = 15 * time.Second
)

// Conn is a connection of one program. Its methods are safe for concurrent use.
type Conn struct {
	Hello Hello
	PID   int // of the process at the other end; 0 if the system does not say
	// Arrived is when the program connected, before it was known who it is.
	Arrived time.Time

	net      net.Conn
	in       *bufio.Reader
	messages chan Message // closed when the program has hung up
	gone     chan struct{}
	quit     chan struct{}
	once     sync.Once

	mu    sync.Mutex // guards what follows
	posts int
}

// Greet reads the hello of a connection and returns it ready for use. The error tells
// why it is refused; the connection is closed then.
func Greet(c net.Conn, pid int) (*Conn, error) {
	arrived := time.Now()
	_ = c.SetReadDeadline(time.Now().Add(helloWithin)) // fails only on a closed connection, which the read reports
	in := bufio.NewReaderSize(c, 4<<10)
	line, err := readLine(in)
	var h Hello
	if err == nil {
		h, err = parseHello(line)
	}
	if err != nil {
		_ = c.Close() // the first error counts
		return nil, err
	}
	_ = c.SetReadDeadline(time.Time{}) // as above
	o := &Conn{Hello: h, PID: pid, Arrived: arrived, net: c, in: in, messages: make(chan Message, 16), gone: make(chan struct{}), quit: make(chan struct{})}
	recovery.Go("hook reader", o.read)
	recovery.Go("hook ping", o.ping)
	return o, nil
}

// Next returns the next message. The error is [io.EOF] when the program has hung up or
// sent what is refused.
func (c *Conn) Next(ctx context.Context) (Message, error) {
	select {
	case m, ok := <-c.messages:
		if !ok {
			return Message{}, io.EOF
		}
		return m, nil
	case <-ctx.Done():
		return Message{}, ctx.Err()
	}
}

// Gone returns a channel that is closed when the program has hung up. What it sent
// before that may still be unread.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Print ends a connection of mode [Once] with what the program prints, "" for nothing.
func (c *Conn) Print(text string) error {
	defer c.Close()
	return c.send(struct {
		Print string `json:"print"`
	}{text})
}

// Post has the program at the other end of a [Stream] make a request of its agent.
func (c *Conn) Post(path string, body any) error {
	c.mu.Lock()
	c.posts++
	n := c.posts
	c.mu.Unlock()
	return c.send(struct {
		Post string `json:"post"`
		Body any    `json:"body"`
		N    int    `json:"n"`
	}{path, body, n})
}

// Close hangs up.
func (c *Conn) Close() {
	c.once.Do(func() {
		close(c.quit)
		_ = c.net.Close() // nothing is left to lose
	})
}

func (c *Conn) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a reply: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.net.SetWriteDeadline(time.Now().Add(writeWithin)) // fails only on a closed connection, which the write reports
	_, err = c.net.Write(append(b, '\n'))
	return err
}

// read delivers what the program sends until it hangs up or sends what is refused.
func (c *Conn) read() {
	defer close(c.messages)
	defer close(c.gone)
	for {
		line, err := readLine(c.in)
		if err != nil {
			return
		}
		m, says, err := parseMessage(line)
		if err != nil {
			c.Close()
			return
		}
		if !says {
			continue
		}
		if m.Event == "hook" { // the sender knows no agent's format
			m.Event = cmp.Or(m.Payload.Str("hook_event_name"), m.Payload.Str("hookName"))
			if m.Event == "" && m.Payload.Get("stepIdx") != nil { // which one it is, its session knows
				m.Event = "step"
			}
			if m.Event == "" {
				c.Close()
				return
			}
		}
		select {
		case c.messages <- m:
		case <-c.quit:
			return
		}
	}
}

// ping tells the program that the deck is alive, at once and again and again.
func (c *Conn) ping() {
	t := time.NewTicker(pingEvery)
	defer t.Stop()
	for {
		_ = c.send(map[string]bool{"ping": true}) // the reader notices a program that has gone
		select {
		case <-c.quit:
			return
		case <-c.gone:
			return
		case <-t.C:
		}
	}
}

var errTooLong = errors.New("line too long")

// readLine returns the next line without its end. It holds no more than a line's limit.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
