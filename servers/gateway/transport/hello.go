package transport

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Hello is the first line that a client of the deck's socket sends. MCP messages in stdio
// framing follow, or nothing if Control is set.
type Hello struct {
	Mcpdeck     int      `json:"mcpdeck"` // version of this line: 1
	Servers     []string `json:"servers,omitempty"`
	Gateway     bool     `json:"gateway,omitempty"`
	Passthrough bool     `json:"asIs,omitempty"` // see router.ViewSpec
	Profile     string   `json:"profile,omitempty"`
	Cwd         string   `json:"cwd,omitempty"`
	PID         int      `json:"pid,omitempty"`
	// Transport is the transport to show for the connection; empty: "unix".
	Transport string `json:"transport,omitempty"`
	// Hints are the environment variables that may be passed on.
	Hints map[string]string `json:"hints,omitempty"`
	// Control names a request to the deck itself, with its arguments.
	Control string          `json:"control,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
}

// Welcome is the deck's answer to a Hello.
type Welcome struct {
	Mcpdeck int             `json:"mcpdeck"`
	Version string          `json:"version,omitempty"` // of the program
	PID     int             `json:"pid,omitempty"`
	Error   string          `json:"error,omitempty"`
	Usage   bool            `json:"usage,omitempty"`  // the error is the caller's mistake
	Final   bool            `json:"final,omitempty"`  // retrying soon is pointless
	Result  json.RawMessage `json:"result,omitempty"` // of a control request
	// Resumable names the tools whose calls are resent to the next deck if this one ends
	// before it answers.
	Resumable []string `json:"resumable,omitempty"`
	// Note and Prove come before the answer to a control request: a message for the user,
	// and the proof to ask the user for ("pair" or "passphrase"), which is sent back as a
	// Proof.
	Note  string `json:"note,omitempty"`
	Waits bool   `json:"waits,omitempty"` // with Note: for a key of the user's, however long that takes
	Prove string `json:"prove,omitempty"`
}

// Proof is the answer to a Welcome with Prove. It is empty if there is no user to ask.
type Proof struct {
	Proof string `json:"proof"`
}

const (
	helloVersion = 1
	helloLimit   = 1 << 20
	helloTime    = 5 * time.Second
)

// readHello reads and checks the first line.
func readHello(lines *rpc.Lines) (Hello, error) {
	var h Hello
	line, err := lines.Next()
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Mcpdeck == 0 {
		return h, fmt.Errorf(`the first line must be a hello such as {"mcpdeck":1}`)
	}
	if err := ruled().hello.Check(line); err != nil {
		return h, fmt.Errorf("hello is ambiguous: %w", err)
	}
	if h.Mcpdeck != helloVersion {
		return h, fmt.Errorf("unknown hello version %d (this deck speaks %d)", h.Mcpdeck, helloVersion)
	}
	return h, nil
}

// Greet sends a Hello and waits for the Welcome. The caller must use the reader for the
// rest of the connection.
func Greet(rw io.ReadWriter, h Hello) (Welcome, *bufio.Reader, error) {
	h.Mcpdeck = helloVersion
	var w Welcome
	line, err := rpc.Line(h)
	if err != nil {
		return w, nil, err
	}
	if _, err := rw.Write(line); err != nil {
		return w, nil, fmt.Errorf("greet the deck: %w", err)
	}
	r := bufio.NewReaderSize(rw, 64<<10)
	answer, err := r.ReadBytes('\n')
	if err != nil {
		return w, nil, fmt.Errorf("greet the deck: %w", err)
	}
	if err := json.Unmarshal(answer, &w); err != nil || w.Mcpdeck != helloVersion {
		return w, nil, fmt.Errorf("greet the deck: unexpected reply")
	}
	return w, r, nil
}
