package transport

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// write is the only writer of the connection. It writes all pending notifications before
// an answer, so that progress never follows its result.
func (c *Conn) write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	var sent []func() // to call after the next flush
	for {
		var err error
		select {
		case n := <-c.sess.notify:
			err = c.notification(b, n)
		case o, open := <-c.out:
			err = c.drain(b)
			if !open {
				return errors.Join(err, b.Flush())
			}
			c.left(o.id) // before the client can use the ID again
			if err == nil {
				_, err = b.Write(o.line)
			}
			if o.after != nil {
				o.after()
			}
			if o.sent != nil {
				sent = append(sent, o.sent)
			}
		}
		if err == nil && len(c.out) == 0 {
			runtime.Gosched() // so that answers that are nearly ready are written together
		}
		if err == nil && len(c.out) == 0 && len(c.sess.notify) == 0 {
			if err = b.Flush(); err == nil {
				for _, told := range sent {
					told()
				}
				sent = nil
			}
		}
		if err != nil {
			c.stop()
			for range c.out { // unblock the senders
				continue
			}
			return fmt.Errorf("write message: %w", err)
		}
	}
}

func (c *Conn) drain(b *bufio.Writer) error {
	for {
		select {
		case n := <-c.sess.notify:
			if err := c.notification(b, n); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// notification writes one notification, once for each subscription that wants it.
func (c *Conn) notification(b *bufio.Writer, n mcp.JSONRPCNotification) error {
	if n.Method == "notifications/progress" && !c.live(n) {
		return nil
	}
	untagged, tags := c.sess.wants(n)
	if untagged {
		line, err := notificationLine(n, "")
		if err != nil {
			return err
		}
		_, err = b.Write(line)
		return err
	}
	for _, id := range tags {
		line, err := notificationLine(n, id)
		if err != nil {
			return err
		}
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// notificationLine returns the line of a notification, tagged for the subscription with
// this ID unless it is "".
func notificationLine(n mcp.JSONRPCNotification, subscription string) ([]byte, error) {
	if raw := router.RawParams(n); raw != nil {
		var tag rawjson.Object
		if subscription != "" {
			tag = rawjson.Object{{Key: mcp.MetaKeySubscriptionID, Value: json.RawMessage(subscription)}}
		}
		return rpc.Message{Method: n.Method, Params: router.WithMeta(raw, tag)}.Line(), nil
	}
	if subscription != "" {
		n.Params.Meta = maps.Clone(n.Params.Meta)
		if n.Params.Meta == nil {
			n.Params.Meta = map[string]any{}
		}
		n.Params.Meta[mcp.MetaKeySubscriptionID] = json.RawMessage(subscription)
	}
	return rpc.Line(n)
}

// param returns a member of a notification's params, nil if missing.
func param(n mcp.JSONRPCNotification, name string) any {
	raw := router.RawParams(n)
	if raw == nil {
		return n.Params.AdditionalFields[name]
	}
	o, err := rawjson.SplitObject(raw)
	var v any
	if err != nil || json.Unmarshal(o.Get(name), &v) != nil {
		return nil
	}
	return v
}

// live reports whether a progress notification belongs to a request that is still in
// flight.
func (c *Conn) live(n mcp.JSONRPCNotification) bool {
	token, err := json.Marshal(param(n, "progressToken"))
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.flight {
		if f.token == string(token) {
			return true
		}
	}
	return false
}

// left removes an answered request.
func (c *Conn) left(id string) {
	if id == "" {
		return
	}
	c.mu.Lock()
	delete(c.flight, id)
	c.mu.Unlock()
}
