package transport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// controlled is the socket of a deck that handles requests to itself.
func controlled(t *testing.T, controls map[string]transport.Control) (path string) {
	t.Helper()
	path = transporttest.SocketPath(t)
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &transport.Server{Host: routertest.Start(t, transporttest.NewFixture()), Version: "test", Controls: controls}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); l.Close(); <-done })
	return path
}

func TestACommandGetsWhatTheDeckAnswers(t *testing.T) {
	path := controlled(t, map[string]transport.Control{
		"echo": func(_ context.Context, _ transport.Requester, args json.RawMessage) (any, error) { return args, nil },
		"fail": func(context.Context, transport.Requester, json.RawMessage) (any, error) {
			return 1, errors.New("not today")
		},
		"panic": func(context.Context, transport.Requester, json.RawMessage) (any, error) { panic("boom") },
		"odd":   func(context.Context, transport.Requester, json.RawMessage) (any, error) { return make(chan int), nil },
	})
	for _, tt := range []struct {
		name string
		args any
		want string // in the error; "": it has its result
	}{
		{"echo", []int{4, 2}, ""},
		{"fail", nil, "not today"},
		{"panic", nil, "internal error"},
		{"odd", nil, "unsupported type"},
		{"nope", nil, `unknown request "nope"`},
		{"echo", make(chan int), "unsupported type"},
		{"echo", "no list", "cannot unmarshal"},
	} {
		var got []int
		err := transport.Ask(t.Context(), path, tt.name, tt.args, &got)
		if tt.want == "" && (err != nil || len(got) != 2) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s %v: got %v, %v", tt.name, tt.args, got, err)
		}
	}
	if err := transport.Ask(t.Context(), path, "echo", 1, nil); err != nil {
		t.Errorf("a result that nobody wants: %v", err)
	}
}

func TestACommandIsToldWhyNoDeckAnswersIt(t *testing.T) {
	path := transporttest.SocketPath(t)
	if err := transport.Ask(t.Context(), path, "echo", 1, nil); !errors.Is(err, transport.ErrNoDeck) || !strings.Contains(err.Error(), "open one with: mcpdeck") {
		t.Errorf("no deck: %v", err)
	}
	if err := os.Symlink("elsewhere", path); err != nil {
		t.Fatal(err)
	}
	if err := transport.Ask(t.Context(), path, "echo", 1, nil); !errors.Is(err, socket.ErrUnsafe) {
		t.Errorf("a link in place of the socket: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for answer, want := range map[string]string{
		"": "greet the deck: EOF", "hello\n": "unexpected reply", `{"mcpdeck":2}` + "\n": "unexpected reply",
		`{"mcpdeck":1,"note":"wait"}` + "\n": "read the deck's response: EOF",
	} {
		served := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = bufio.NewReader(c).ReadString('\n')
				_, _ = io.WriteString(c, answer)
				c.Close()
			}
			served <- err
		}()
		if err := transport.Ask(t.Context(), path, "echo", 1, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("after %q: %v, want %s", answer, err, want)
		}
		if err := <-served; err != nil {
			t.Fatal(err)
		}
	}
}

func TestADeckAsksACommandBack(t *testing.T) {
	path := controlled(t, map[string]transport.Control{
		"prove": func(ctx context.Context, from transport.Requester, _ json.RawMessage) (any, error) {
			if err := from.Say("one moment"); err != nil {
				return nil, err
			}
			return from.Prove(ctx, "pair")
		},
		"wait": func(_ context.Context, from transport.Requester, _ json.RawMessage) (any, error) {
			return "answered", from.Wait("press y")
		},
	})
	var said, waited, shown string
	talk := transport.ControlClient{
		Note:  func(s string) { said += s },
		Wait:  func(s string) error { waited += s; return nil },
		Prove: func(method string) (string, error) { return method + " it is", nil },
	}
	if err := talk.Ask(t.Context(), path, "prove", nil, &shown); err != nil || said != "one moment" || shown != "pair it is" {
		t.Errorf("said %q, shown %q, %v", said, shown, err)
	}
	if err := talk.Ask(t.Context(), path, "wait", nil, &shown); err != nil || waited != "press y" || shown != "answered" || said != "one moment" {
		t.Errorf("waited %q, shown %q, said %q, %v", waited, shown, said, err)
	}
	shown, talk.Wait = "?", nil
	if err := talk.Ask(t.Context(), path, "wait", nil, &shown); err != nil || said != "one momentpress y" {
		t.Errorf("who does not wait is told %q, %v", said, err)
	}
	if err := transport.Ask(t.Context(), path, "prove", nil, &shown); err != nil || shown != "" {
		t.Errorf("who has nothing to show shows %q, %v", shown, err)
	}
	gaveUp := errors.New("no key was pressed")
	talk.Wait, talk.Prove = func(string) error { return gaveUp }, func(string) (string, error) { return "", gaveUp }
	for _, name := range []string{"wait", "prove"} {
		if err := talk.Ask(t.Context(), path, name, nil, &shown); !errors.Is(err, gaveUp) {
			t.Errorf("%s ends with %v", name, err)
		}
	}
}

// A command may be interrupted while the deck waits for the user on its behalf.
func TestNothingGoesOnForACommandThatHasGivenUp(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	path := controlled(t, map[string]transport.Control{"wait": func(ctx context.Context, from transport.Requester, _ json.RawMessage) (any, error) {
		close(began)
		_, err := from.Prove(ctx, "pair")
		ended <- err
		return nil, err
	}})
	ctx, cancel := context.WithCancel(t.Context())
	talk := transport.ControlClient{Prove: func(string) (string, error) { <-began; cancel(); <-ctx.Done(); return "", ctx.Err() }}
	if err := talk.Ask(ctx, path, "wait", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the command ends with %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the deck's part ends with %v", err)
	}
}

func TestOnlyAHelloOfThisVersionOpensAConnection(t *testing.T) {
	path := controlled(t, nil)
	for hello, want := range map[string]transport.Welcome{
		`{"mcpdeck":1}`:                           {},
		`{"mcpdeck":1,"servers":["nope"]}`:        {Error: "fixture", Usage: true},
		`{"mcpdeck":2}`:                           {Error: "unknown hello version 2 (this deck speaks 1)"},
		`{"jsonrpc":"2.0","id":1}`:                {Error: `the first line must be a hello such as {"mcpdeck":1}`},
		`GET / HTTP/1.1`:                          {Error: `the first line must be a hello`},
		`{"mcpdeck":1,"cwd":"/a","Cwd":"/b"}`:     {Error: "hello is ambiguous"},
		`{"mcpdeck":1,"control":"x","args":null}`: {Error: "unknown request", Usage: true},
	} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, hello+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadBytes('\n')
		c.Close()
		var got transport.Welcome
		if err != nil || json.Unmarshal(line, &got) != nil {
			t.Errorf("%s: %s, %v", hello, line, err)
		}
		if got.Mcpdeck != 1 || got.Usage != want.Usage || (got.Error == "") != (want.Error == "") || !strings.Contains(got.Error, want.Error) {
			t.Errorf("%s is answered %s", hello, line)
		}
	}
}

func TestACommandIsToldThatTheDeckWentAway(t *testing.T) {
	ours, theirs := transport.Pipe()
	go func() {
		_, _ = bufio.NewReader(theirs).ReadString('\n')
		theirs.Close()
	}()
	_, err := transport.NewClient(t.Context(), ours, nil, "command", "1")
	if err == nil || !strings.HasSuffix(err.Error(), "check, then retry") {
		t.Errorf("got %v", err)
	}
}

func TestACommandCallsToolsLikeAnAgent(t *testing.T) {
	f := transporttest.NewFixture()
	h := routertest.Start(t, f)
	v, err := h.View(router.ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := transport.Pipe()
	served := make(chan error, 1)
	agent := h.Connect(snapshot.Caller{Transport: snapshot.ByCommand}, nil)
	go func() { served <- transport.Serve(context.Background(), theirs, theirs, v, agent); theirs.Close() }()
	c, err := transport.NewClient(t.Context(), ours, nil, "command", "1")
	if err != nil {
		t.Fatal(err)
	}
	call := func(ctx context.Context, tool string, result any) error {
		return c.Call(ctx, "tools/call", map[string]any{"name": tool, "arguments": map[string]string{"text": "said"}}, result)
	}
	var got struct{ Content []struct{ Text string } }
	if err := call(t.Context(), "echo", &got); err != nil || len(got.Content) != 1 || got.Content[0].Text != "said" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := call(t.Context(), "echo", nil); err != nil {
		t.Errorf("a result that nobody wants: %v", err)
	}
	if refused := new(rpc.Error); !errors.As(call(t.Context(), "ecko", nil), &refused) || refused.Code != rpc.CodeParams {
		t.Errorf("an unknown tool: %+v", refused)
	}
	if err := c.Call(t.Context(), "tools/call", make(chan int), nil); err == nil {
		t.Error("params that have no JSON are sent")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := call(ctx, "block", nil); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "tools/call") {
		t.Errorf("a command that is interrupted: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("the deck's side ends with %v", err)
	}
}
