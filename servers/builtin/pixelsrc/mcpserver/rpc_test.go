package mcpserver

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// The sources of the conformance cases.
const (
	dot1 = sample.Dot
	dot2 = `{"type":"sprite","name":"dot","size":[2,2],"palette":{"_":"#00000000","x":"#FF0000"},"regions":{"x":{"points":[[0,0],[1,1]],"z":0}}}`
	two  = `{"type":"palette","name":"pal","colors":{"_":"#00000000","r":"#FF0000","g":"#00FF00"}}
{"type":"sprite","name":"red_dot","size":[1,1],"palette":"pal","regions":{"r":{"points":[[0,0]]}}}
{"type":"sprite","name":"green_dot","size":[1,1],"palette":"pal","regions":{"g":{"points":[[0,0]]}}}`
	palspr = `{"type":"palette","name":"pal","colors":{"_":"#00000000","r":"#FF0000"}}
{"type":"sprite","name":"red_dot","size":[1,1],"palette":"pal","regions":{"r":{"points":[[0,0]]}}}`
	typo = `{"type":"palette","name":"char","colors":{"skin":"#FFCC99","hair":"#8B4513"}}
{"type":"sprite","name":"test","size":[4,4],"palette":"char","regions":{"skni":{"rect":[0,0,4,4]}}}`
)

func heroAndEnemy() string {
	return sample.Hero("#F00", 2) + "\n" + `{"type":"sprite","name":"enemy","size":[2,2],"palette":{"e":"#0000FF"},"regions":{"e":{"rect":[0,0,2,2]}}}`
}

// rig is a client that speaks JSON-RPC to the server through the host's
// byte-stream transport.
type rig struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	id   int
}

type rpcError struct {
	Code    int
	Message string
}

type reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *rpcError
}

type content struct {
	Type, Text, Data, MIMEType string
}

type result struct {
	Content []content
	IsError bool
}

// newRig serves a fresh server in a project folder.
func newRig(t *testing.T, root string) *rig {
	t.Helper()
	h, err := router.New(router.Options{Version: "test", Servers: []backend.Server{InDeck(pixelsrc.New(pixelsrc.Options{}), "1")}, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	view, err := h.View(router.ViewSpec{Servers: []string{"pixelsrc"}})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	agent := h.Connect(snapshot.Caller{Transport: "unix", Root: root}, nil)
	done := make(chan error, 1)
	go func() {
		done <- transport.Serve(context.Background(), theirs, theirs, view, agent)
		agent.Close()
		theirs.Close()
	}()
	t.Cleanup(func() {
		ours.Close()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Patience)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return &rig{t: t, conn: ours, in: bufio.NewReaderSize(ours, 1<<16)}
}

func (r *rig) write(line string) {
	r.t.Helper()
	if _, err := r.conn.Write([]byte(line + "\n")); err != nil {
		r.t.Fatal(err)
	}
}

// read gives the next message that is an answer.
func (r *rig) read() reply {
	r.t.Helper()
	_ = r.conn.SetReadDeadline(time.Now().Add(testwait.Patience))
	for {
		line, err := r.in.ReadBytes('\n')
		if err != nil {
			r.t.Fatalf("no answer: %v", err)
		}
		var m reply
		if err := json.Unmarshal(line, &m); err != nil {
			r.t.Fatalf("%s: %v", line, err)
		}
		if m.ID != nil {
			return m
		}
	}
}

func (r *rig) ask(method string, params any) reply {
	r.t.Helper()
	r.id++
	p, err := json.Marshal(params)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, r.id, method, p))
	m := r.read()
	if string(m.ID) != fmt.Sprint(r.id) {
		r.t.Fatalf("answer has id %s, want %d", m.ID, r.id)
	}
	return m
}

func (r *rig) initialize(version string) reply {
	r.t.Helper()
	m := r.ask("initialize", map[string]any{"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "tester", "version": "1"}})
	r.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

func start(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, t.TempDir())
	r.initialize("2025-06-18")
	return r
}

type args map[string]any

// call calls a tool; a JSON-RPC error ends the test.
func (r *rig) call(tool string, a args) result {
	r.t.Helper()
	m := r.ask("tools/call", map[string]any{"name": tool, "arguments": a})
	if m.Error != nil {
		r.t.Fatalf("%s: %+v", tool, *m.Error)
	}
	var res result
	if err := json.Unmarshal(m.Result, &res); err != nil {
		r.t.Fatal(err)
	}
	return res
}

// text is the text of all blocks.
func (res result) text() string {
	var list []string
	for _, c := range res.Content {
		list = append(list, c.Text)
	}
	return strings.Join(list, "\n")
}

// ok ends the test when the tool failed.
func (r *rig) ok(tool string, a args) result {
	r.t.Helper()
	res := r.call(tool, a)
	if res.IsError {
		r.t.Fatalf("%s failed: %s", tool, res.text())
	}
	return res
}

// bad ends the test unless the tool failed with all of some words.
func (r *rig) bad(tool string, a args, words ...string) {
	r.t.Helper()
	res := r.call(tool, a)
	if !res.IsError {
		r.t.Fatalf("%s did not fail: %s", tool, res.text())
	}
	for _, w := range words {
		if !strings.Contains(res.text(), w) {
			r.t.Errorf("%s: %q lacks %q", tool, res.text(), w)
		}
	}
}

// data reads the JSON of the first block.
func (r *rig) data(tool string, a args, into any) {
	r.t.Helper()
	res := r.ok(tool, a)
	if err := json.Unmarshal([]byte(res.Content[0].Text), into); err != nil {
		r.t.Fatalf("%s: %v: %s", tool, err, res.Content[0].Text)
	}
}

func (c content) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(c.Data)
	if err != nil || len(b) == 0 {
		t.Fatalf("no picture: %v", err)
	}
	return b
}

func handling(o pixelsrc.Options) *handlers { return &handlers{pixelsrc.New(o), maxTime} }

// said is what a tool says to a call without a transport.
func said(m *handlers, ctx context.Context, who pixelsrc.Caller, name string, arguments any) (res result) {
	i := slices.IndexFunc(tools(), func(t tool) bool { return t.name == name })
	b, err := json.Marshal(m.call(ctx, who, tools()[i], arguments))
	if err == nil {
		err = json.Unmarshal(b, &res)
	}
	if err != nil {
		panic(err)
	}
	return res
}
