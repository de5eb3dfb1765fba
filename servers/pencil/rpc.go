package pencil

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// maxLine is the longest message taken from the child, in bytes.
const maxLine = 32 << 20

var (
	errGone     = errors.New("connection closed")
	errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxLine>>20)
)

// rpcError is a JSON-RPC error of the child.
type rpcError struct {
	Code    int
	Message string
}

func (e *rpcError) Error() string { return e.Message }

// reply is how a request ended: result is raw JSON unless err is set.
type reply struct {
	result []byte
	err    error
}

// rpc is one JSON-RPC connection over a pair of byte streams, one message a
// line. Requests carry string ids, so none comes back rounded.
type rpc struct {
	// On the reading goroutine, so they must not wait.
	notify func(method string, params []byte)
	serve  func(id json.RawMessage, method string, params json.RawMessage) // a request of the child
	note   func(text string)

	out  chan []byte
	done chan struct{} // closed when nothing more will be read

	mu      sync.Mutex
	next    uint64
	pending map[string]chan reply
	closed  bool
}

// newRPC makes a connection that does nothing before begin.
func newRPC() *rpc {
	return &rpc{out: make(chan []byte, 64), done: make(chan struct{}), pending: map[string]chan reply{}}
}

// begin connects it to a child.
func (c *rpc) begin(in io.Writer, out io.Reader) {
	safe.Go("pencil writer", func() { c.write(in) })
	safe.Go("pencil reader", func() {
		defer c.finish()
		c.read(out)
	})
}

// request is one request that waits for its reply.
type request struct {
	id    string
	reply chan reply // gets one reply, also when the connection ends
	c     *rpc
}

// start sends a request without waiting for its reply. params is raw JSON.
func (c *rpc) start(ctx context.Context, method string, params func(id string) []byte) (*request, error) {
	r := &request{reply: make(chan reply, 1), c: c}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, errGone
	}
	c.next++
	r.id = strconv.FormatUint(c.next, 10)
	c.pending[r.id] = r.reply
	c.mu.Unlock()
	line := append([]byte(`{"jsonrpc":"2.0","id":"`), r.id...)
	line = append(line, `","method":"`...)
	line = append(line, method...)
	line = append(line, '"')
	if p := params(r.id); len(p) > 0 {
		line = append(line, `,"params":`...)
		line = append(line, p...)
	}
	line = append(line, '}', '\n')
	select {
	case c.out <- line:
		return r, nil
	case <-c.done:
	case <-ctx.Done():
		r.forget()
		return nil, ctx.Err()
	}
	r.forget()
	return nil, errGone
}

// forget drops the reply when it comes.
func (r *request) forget() {
	r.c.mu.Lock()
	delete(r.c.pending, r.id)
	r.c.mu.Unlock()
}

// call sends a request and waits for its result.
func (c *rpc) call(ctx context.Context, method, params string) ([]byte, error) {
	r, err := c.start(ctx, method, func(string) []byte { return []byte(params) })
	if err != nil {
		return nil, err
	}
	select {
	case a := <-r.reply:
		return a.result, a.err
	case <-ctx.Done():
		r.forget()
		return nil, ctx.Err()
	}
}

// tell sends a notification; it is dropped when the child reads nothing.
func (c *rpc) tell(method, params string) {
	line := `{"jsonrpc":"2.0","method":"` + method + `"`
	if params != "" {
		line += `,"params":` + params
	}
	c.offer(line + "}\n")
}

func (c *rpc) offer(line string) {
	select {
	case c.out <- []byte(line):
	default:
		c.note("message dropped: the program reads nothing")
	}
}

// send waits until the line is on its way, or the child gone.
func (c *rpc) send(line string) {
	select {
	case c.out <- []byte(line):
	case <-c.done:
	}
}

func (c *rpc) write(in io.Writer) {
	for {
		select {
		case line := <-c.out:
			if _, err := in.Write(line); err != nil {
				return
			}
		case <-c.done:
			return
		}
	}
}

// finish fails what is still waiting.
func (c *rpc) finish() {
	c.mu.Lock()
	c.closed = true
	waiting := c.pending
	c.pending = map[string]chan reply{}
	c.mu.Unlock()
	for _, r := range waiting {
		r <- reply{err: errGone}
	}
	close(c.done)
}

func (c *rpc) read(out io.Reader) {
	b := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := readLine(b, maxLine)
		switch {
		case errors.Is(err, errTooLarge):
			c.note("line on stdout skipped: " + err.Error())
			c.failAll(err)
			continue
		case err != nil:
			return
		case len(line) == 0:
			continue
		}
		c.take(line)
	}
}

// failAll ends what is waiting: the reply that was too long to read cannot be
// told from the others.
func (c *rpc) failAll(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.pending {
		r <- reply{err: err}
		delete(c.pending, id)
	}
}

// take handles one line from the child.
func (c *rpc) take(line []byte) {
	line = bytes.ToValidUTF8(line, []byte("\uFFFD")) // its results go on as they stand
	m, err := rawjson.Parse(line)
	if err != nil || m.Str("jsonrpc") != "2.0" {
		c.note("stdout: " + string(line[:min(len(line), lineRunes)]))
		return
	}
	id, method := m.Get("id"), m.Str("method")
	switch {
	case method != "" && len(id) > 0 && string(id) != "null":
		c.serve(id, method, m.Get("params"))
	case method != "":
		c.notify(method, m.Get("params"))
	default:
		c.settle(m)
	}
}

// settle hands a reply to who waits for it.
func (c *rpc) settle(m rawjson.Object) {
	id := m.Str("id")
	c.mu.Lock()
	r, ok := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if !ok {
		return
	}
	if e := m.Get("error"); e != nil {
		r <- reply{err: decodeError(e)}
		return
	}
	result := m.Get("result")
	if result == nil {
		r <- reply{err: errors.New("answer without result or error")}
		return
	}
	r <- reply{result: result}
}

func decodeError(raw []byte) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return &rpcError{Message: "unreadable error"}
	}
	code, err := strconv.Atoi(string(o.Get("code")))
	if err != nil {
		code = 0
	}
	return &rpcError{Code: code, Message: o.Str("message")}
}

// readLine returns the next line without its end, as bytes of its own. A line
// above limit is read to its end and given as errTooLarge.
func readLine(b *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		if len(line)+len(part) > limit {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = b.ReadSlice('\n')
			}
			if err != nil {
				return nil, err
			}
			return nil, errTooLarge
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && len(line) == 0 {
			return nil, err
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		return line, nil
	}
}
