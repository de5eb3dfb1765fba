package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Limits of what programs send.
const (
	// maxPayload is the longest payload of an event, in bytes.
	maxPayload = 1 << 20
	maxLine    = maxPayload + 64<<10
	mostLevels = 128       // of nested JSON that is read at all
	fewLevels  = 32        // that can be shown
	maxString  = 256 << 10 // that can be shown, in bytes
	maxName    = 4 << 10   // of what a hello says about its sender
)

// Mode is how a program uses its connection.
type Mode string

// With Once, the connection is one event and the text to print for it. A Stream reports
// events as they happen.
const (
	Once   Mode = "hook"
	Stream Mode = "stream"
)

// Versions of the protocol. They differ in whether the deck sends a ping at once, so that a
// hook need not wait long for one that is stuck.
const (
	greetsNot = 1
	greets    = 2
)

// Hello is the first line of a connection. All of it is what the sender says.
type Hello struct {
	Agent     string            // ID in the table of clients
	Mode      Mode              // of the connection
	Program   string            // that the agent's program has started, absolute
	Version   string            // of the agent's program
	Directory string            // where it works
	Env       map[string]string // variables of the sender's environment, of those in [Variables]
}

// Message is a line after the hello.
type Message struct {
	Event   string
	Payload rawjson.Object
	Raw     json.RawMessage // the payload as it came
	// TooLarge is set if the payload is nested too deeply or has too long a string for
	// the deck to show.
	TooLarge bool
}

var errRefused = errors.New("not a message of this socket")

// parseHello reads the first line.
func parseHello(line []byte) (Hello, error) {
	o, err := parse(line)
	if err != nil {
		return Hello{}, err
	}
	h := Hello{
		Agent: o.Str("hello"), Mode: Mode(o.Str("mode")), Program: o.Str("program"), Version: o.Str("version"), Directory: o.Str("directory"),
		Env: map[string]string{},
	}
	version, err := strconv.Atoi(string(o.Get("v")))
	if err != nil || version < greetsNot || version > greets || h.Agent == "" || h.Mode != Once && h.Mode != Stream || !known(o, "v", "hello", "mode", "program", "version", "directory", "env") {
		return Hello{}, errRefused
	}
	env, err := rawjson.SplitObject(o.Some("env"))
	if err != nil && o.Some("env") != nil {
		return Hello{}, errRefused
	}
	for _, m := range env {
		if text, err := rawjson.Text(m.Value); err == nil && slices.Contains(Variables(), m.Key) {
			h.Env[m.Key] = text
		}
	}
	for _, s := range []string{h.Agent, h.Program, h.Version, h.Directory} {
		if len(s) > maxName {
			return Hello{}, errRefused
		}
	}
	for _, s := range h.Env {
		if len(s) > maxName {
			return Hello{}, errRefused
		}
	}
	return h, nil
}

// parseMessage reads a line after the hello. It returns false for one that says nothing.
func parseMessage(line []byte) (Message, bool, error) {
	o, err := parse(line)
	if err != nil {
		return Message{}, false, err
	}
	switch {
	case o.Get("event") != nil && known(o, "event", "payload", "properties"):
		m := Message{Event: o.Str("event"), Raw: o.Some("payload")}
		if m.Raw == nil {
			m.Raw = o.Some("properties")
		}
		if m.Payload, err = rawjson.SplitObject(m.Raw); err != nil || m.Event == "" || len(m.Event) > maxName {
			return Message{}, false, errRefused
		}
		levels, longest := rawjson.Measure(m.Raw)
		m.TooLarge = levels > fewLevels || longest > maxString
		return m, true, nil
	case o.Get("posted") != nil && known(o, "posted", "status"), o.Get("ping") != nil && known(o, "ping"):
		return Message{}, false, nil
	}
	return Message{}, false, errRefused
}

// parse reads a line that any two readers understand in the same way.
func parse(line []byte) (rawjson.Object, error) {
	if !utf8.Valid(line) {
		return nil, fmt.Errorf("%w: not UTF-8", errRefused)
	}
	if levels, _ := rawjson.Measure(line); levels > mostLevels {
		return nil, fmt.Errorf("%w: nested too deeply", errRefused)
	}
	o, err := rawjson.Parse(line)
	if err == nil {
		err = new(rawjson.Rule).Check(line)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return o, nil
}

func known(o rawjson.Object, keys ...string) bool {
	return !slices.ContainsFunc(o, func(m rawjson.Member) bool { return !slices.Contains(keys, m.Key) })
}
