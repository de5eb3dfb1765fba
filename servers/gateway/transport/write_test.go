package transport

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// The end of a connection must not overtake what was said before: both are there at
// once, so only many rounds show it.
func TestTheEndIsBehindTheLastNotification(t *testing.T) {
	for range 50 {
		c := &Conn{out: make(chan outgoing), sess: &session{notify: make(chan mcp.JSONRPCNotification, 1)}}
		c.sess.notify <- mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: "notifications/message"}}
		close(c.out)
		var out bytes.Buffer
		if err := c.write(&out); err != nil || strings.Count(out.String(), "\n") != 1 {
			t.Fatalf("%v, written %q", err, out.String())
		}
	}
}
