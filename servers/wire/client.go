package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Client is the other side of a connection, for the deck's own commands: one
// call at a time, nothing asked of it is answered.
type Client struct {
	stream io.ReadWriteCloser
	lines  *bufio.Reader
	id     int
	// Notify gets notifications; may be nil.
	Notify func(method string, params json.RawMessage)
}

// NewClient shakes hands over a stream that Serve answers. The reader, if not
// nil, holds what was read of the stream so far.
func NewClient(ctx context.Context, s io.ReadWriteCloser, lines *bufio.Reader, name, version string) (*Client, error) {
	if lines == nil {
		lines = bufio.NewReaderSize(s, 64<<10)
	}
	c := &Client{stream: s, lines: lines}
	err := c.Call(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": name, "version": version},
	}, nil)
	if err != nil {
		return nil, err
	}
	line, err := notificationLine("notifications/initialized", nil)
	if err != nil {
		return nil, err
	}
	_, err = s.Write(line)
	return c, err
}

// RPCError is an error answer.
type RPCError struct {
	Code    int
	Message string
}

func (e *RPCError) Error() string { return e.Message }

// Call sends a request and decodes its result, unless result is nil. An error
// answer is an *RPCError; of one that the deck did not live to send, the error
// says what to do.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	c.id++
	id := strconv.Itoa(c.id)
	line, err := requestLine(json.RawMessage(id), method, params)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { c.stream.Close() })
	defer stop()
	if _, err := c.stream.Write(line); err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	for {
		line, err := c.lines.ReadBytes('\n')
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("read the answer to %s: %w", method, ctx.Err())
		case err != nil:
			return errors.New(goneMessage)
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  *errorBody      `json:"error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read the answer to %s: %w", method, err)
		}
		switch {
		case m.Method != "" && m.ID == nil && c.Notify != nil:
			c.Notify(m.Method, m.Params)
		case m.Method != "" || string(m.ID) != id:
		case m.Error != nil:
			return &RPCError{m.Error.Code, m.Error.Message}
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}

// Close ends the connection.
func (c *Client) Close() error { return c.stream.Close() }
