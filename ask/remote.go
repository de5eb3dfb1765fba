package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// commandWithin is how long a deck may take to answer one line. Checking a passphrase
// takes a moment.
const commandWithin = 15 * time.Second

// List asks the deck for its open requests.
func (c *Client) List() ([]Listed, error) {
	var out struct {
		Items []Listed `json:"items"`
	}
	err := c.command(map[string]any{"type": "list"}, &out)
	return out.Items, err
}

// Answer answers request id of the deck on behalf of the user, who is asked for a proof.
func (c *Client) Answer(id int, results []Result) error {
	return c.asUser(id, map[string]any{"type": "answer", "request": id, "answers": results})
}

// Decline declines request id of the deck on behalf of the user, who is asked for a
// proof.
func (c *Client) Decline(id int, reason string) error {
	return c.asUser(id, map[string]any{"type": "answer", "request": id, "decline": true, "reason": reason})
}

// asUser sends one line about a request on a connection after proving that it acts for the user.
func (c *Client) asUser(id int, req map[string]any) error {
	conn, err := c.dial(context.Background())
	if err != nil {
		return err
	}
	conn = socket.Awake(conn)
	defer conn.Close()
	d := json.NewDecoder(conn)
	challenge, _, err := exchange(conn, d, map[string]any{"type": "prove", "request": id})
	if err != nil {
		return err
	}
	if challenge.Type != "challenge" || c.opt.Prove == nil {
		return errors.New("read mcpdeck's reply: no request for a proof")
	}
	secret, err := c.opt.Prove(challenge.Method)
	if err != nil {
		return err
	}
	if _, _, err := exchange(conn, d, map[string]any{"type": "proof", "secret": secret}); err != nil {
		return err
	}
	_, _, err = exchange(conn, d, req)
	return err
}

// OpenSession returns the path of a new socket for an agent's session.
func (c *Client) OpenSession(label string) (string, error) {
	var out struct {
		Socket string `json:"socket"`
	}
	err := c.command(map[string]any{"type": "session", "label": label}, &out)
	return out.Socket, err
}

// Ping returns the version of the running deck and its number of waiting requests.
func (c *Client) Ping() (version string, waiting int, err error) {
	var out struct {
		App, Version string
		Pending      int
	}
	if err := c.command(map[string]any{"type": "ping"}, &out); err != nil {
		return "", 0, err
	}
	if out.App != "mcpdeck" {
		return "", 0, fmt.Errorf("another program is listening on %s", c.opt.Path)
	}
	return out.Version, out.Pending, nil
}

// command sends one line and reads the answer.
func (c *Client) command(req map[string]any, into any) error {
	conn, err := c.dial(context.Background())
	if err != nil {
		return err
	}
	conn = socket.Awake(conn)
	defer conn.Close()
	_, raw, err := exchange(conn, json.NewDecoder(conn), req)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read mcpdeck's reply: %w", err)
	}
	return nil
}

// exchange sends one line on a connection and reads the answer.
func exchange(conn net.Conn, d *json.Decoder, req any) (l line, raw json.RawMessage, err error) {
	_ = conn.SetDeadline(time.Now().Add(commandWithin)) // fails only on a closed connection
	if _, err := conn.Write(append(encode(req), '\n')); err != nil {
		return l, nil, fmt.Errorf("send to mcpdeck: %w", err)
	}
	if err := d.Decode(&raw); err != nil {
		if stopped := new(socket.StoppedError); errors.As(err, &stopped) {
			return l, nil, stopped
		}
		return l, nil, fmt.Errorf("read mcpdeck's reply: %w", err)
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return l, nil, fmt.Errorf("read mcpdeck's reply: %w", err)
	}
	if l.Type == "error" {
		return l, nil, &Error{Code: l.Code, Message: l.Message, Retry: l.Retry}
	}
	return l, raw, nil
}
