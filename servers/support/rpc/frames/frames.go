// Package frames carries messages over a connection in the frames of a WebSocket.
package frames

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Conn is a WebSocket. One goroutine may read while others write.
type Conn struct{ inner *websocket.Conn }

var errAgain = errors.New("the server wants another connection")

// Dial makes a WebSocket of a connection to a server. The connection is closed if that
// fails, and with the WebSocket.
func Dial(ctx context.Context, c net.Conn) (*Conn, error) {
	var used atomic.Bool
	client := http.Client{
		Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errAgain
			}
			return c, nil
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errAgain },
	}
	inner, _, err := websocket.Dial(ctx, "ws://localhost/", &websocket.DialOptions{HTTPClient: &client})
	if err != nil {
		_ = c.Close() // the first error counts
		return nil, fmt.Errorf("open a WebSocket: %w", err)
	}
	inner.SetReadLimit(rpc.MaxLine)
	return &Conn{inner}, nil
}

// Read returns the next message. After an error the connection is closed.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	_, b, err := c.inner.Read(ctx)
	return b, err
}

// Write sends a message as text.
func (c *Conn) Write(ctx context.Context, message []byte) error {
	return c.inner.Write(ctx, websocket.MessageText, message)
}

// Close closes the connection without waiting for the other side.
func (c *Conn) Close() error { return c.inner.CloseNow() }
