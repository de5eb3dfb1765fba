package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Client is the client side of a connection, for mcpdeck's own commands. It does not
// answer requests.
type Client struct {
	conn   *rpc.Conn
	stream io.Closer
}

// NewClient performs the handshake over a stream that Serve answers. The reader, if not
// nil, contains what was already read from the stream.
func NewClient(ctx context.Context, s io.ReadWriteCloser, read io.Reader, name, version string) (*Client, error) {
	if read == nil {
		read = s
	}
	c := &Client{conn: rpc.New(rpc.Options{Name: "client"}), stream: s}
	c.conn.Begin(s, read)
	err := c.Call(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": name, "version": version},
	}, nil)
	if err != nil {
		return nil, err
	}
	c.conn.Offer(rpc.Message{Method: "notifications/initialized"}.Line())
	return c, nil
}

// Call sends a request and decodes its result, unless result is nil. An error answer is
// an *rpc.Error. If the deck ends before it answers, the error says what to do.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	raw, err := rpc.Raw(params)
	if err != nil {
		return err
	}
	answer, err := c.conn.Call(ctx, method, raw)
	switch {
	case errors.Is(err, rpc.ErrGone):
		if s, ok := c.stream.(interface{ Cause() error }); ok && s.Cause() != nil {
			return s.Cause()
		}
		return ErrGone
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("read the response to %s: %w", method, err)
	case err != nil || result == nil:
		return err
	}
	return json.Unmarshal(answer, result)
}

// Close ends the connection.
func (c *Client) Close() error { return c.stream.Close() }
