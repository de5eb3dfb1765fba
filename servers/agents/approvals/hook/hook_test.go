package hook

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// handler serves connections with a function.
type handler func(ctx context.Context, c *Conn)

func (h handler) Serve(ctx context.Context, c *Conn) { h(ctx, c) }

// listening is a prompt socket whose connections of "claude" are served by h.
func listening(t *testing.T, h handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := Path(dir, "")
	s, err := Listen(Options{Path: path, Handlers: map[string]Handler{"claude": h}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return path
}

func call(path, input string) Call {
	return Call{Socket: path, Agent: "claude", Program: "/bin/mcpdeck-hook", Env: func(string) string { return "" }, Input: strings.NewReader(input)}
}

func TestAHookPrintsWhatTheDeckDecides(t *testing.T) {
	path := listening(t, func(ctx context.Context, c *Conn) {
		m, err := c.Next(ctx)
		if err != nil || c.PID != os.Getpid() {
			t.Errorf("process %d: %v", c.PID, err)
		}
		_ = c.Print(m.Event + " " + m.Payload.Str("tool") + " " + c.Hello.Env["TMUX_PANE"])
	})
	h := call(path, "{\n  \"hook_event_name\": \"PermissionRequest\",\n  \"tool\": \"Bash\\n\"\n}\n")
	h.Env = func(name string) string { return map[string]string{"TMUX_PANE": "%1", "SECRET": "x"}[name] }
	if got := Ask(t.Context(), h); got != "PermissionRequest Bash\n %1" {
		t.Errorf("it prints %q", got)
	}
}

func TestOnlyNamedVariablesTravel(t *testing.T) {
	h := call("", "{}")
	h.Env = func(name string) string { return "value of " + name }
	hello, err := h.hello(greets)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(hello, []byte("value of ")); n != len(Variables()) || bytes.Contains(hello, []byte("TOKEN")) {
		t.Errorf("%d variables in %s", n, hello)
	}
}

func TestAHookPrintsNothingWhateverGoesWrong(t *testing.T) {
	answers := listening(t, func(_ context.Context, c *Conn) { _ = c.Print("yes") })
	hangsUp := listening(t, func(_ context.Context, c *Conn) {})
	stranger := call(answers, "{}")
	stranger.Agent = "other"
	folder := call(filepath.Dir(answers), "{}")
	for name, h := range map[string]Call{
		"no deck":             call(answers+"x", `{"hook_event_name":"a"}`),
		"a folder":            folder,
		"not JSON":            call(answers, `{"hook_event_name":`),
		"no input":            call(answers, ""),
		"too long":            call(answers, `{"a":"`+strings.Repeat("x", maxPayload)+`"}`),
		"a deck that ends":    call(hangsUp, `{"hook_event_name":"a"}`),
		"an unknown agent":    stranger,
		"a path far too long": call("/"+strings.Repeat("x", 200), "{}"),
	} {
		if got := Ask(t.Context(), h); got != "" {
			t.Errorf("%s: it prints %q", name, got)
		}
	}
}

// piped is a connection to the server's side, and the lines that it sends.
func piped(t *testing.T, hello string) (*Conn, net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	go func() { _, _ = theirs.Write([]byte(hello + "\n")) }()
	c, err := Greet(ours, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, theirs
}

const goodHello = `{"v":1,"hello":"claude","mode":"hook","env":{"TMUX":"x","PATH":"y"}}`

func TestADeckThatIsAliveKeepsAHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, theirs := piped(t, goodHello)
		time.AfterFunc(time.Hour, func() { _ = c.Print("yes") })
		if got, _ := reply(theirs, time.Now().Add(greetWithin), heardWithin); got != "yes" {
			t.Errorf("after an hour it prints %q", got)
		}
	})
}

func TestAStoppedDeckLetsAHookGo(t *testing.T) {
	for name, tt := range map[string]struct {
		heard  bool
		within time.Duration
	}{"nothing was heard": {false, greetWithin}, "something was heard": {true, heardWithin}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deck, theirs := net.Pipe()
				if tt.heard {
					go func() { _, _ = deck.Write([]byte(`{"ping":true}` + "\n")) }()
				}
				start := time.Now()
				if got, refused := reply(theirs, start.Add(greetWithin), heardWithin); got != "" || refused || time.Since(start) != tt.within {
					t.Errorf("after %v it prints %q", time.Since(start), got)
				}
				_ = deck.Close()
			})
		})
	}
}

// A deck that accepts nothing is one that is stuck, or out of file descriptors.
func TestAHookThatHearsNothingEndsSoon(t *testing.T) {
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := Ask(t.Context(), call(l.Addr().String(), `{"hook_event_name":"a"}`)); got != "" {
		t.Errorf("it prints %q", got)
	}
}

// An older deck hangs up on what it does not know, and says nothing for 15 seconds.
func TestAHookSpeaksWithAnOlderDeck(t *testing.T) {
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			hello, _ := in.ReadString('\n') // a hook that has gone is no test's
			if strings.Contains(hello, `"v":1`) {
				event, _ := in.ReadString('\n')
				time.Sleep(greetWithin + 100*time.Millisecond) // on the real clock, as it is a real socket: longer than a newer deck may take
				_, _ = c.Write([]byte(`{"print":` + strconv.Quote(strings.TrimSpace(event)) + `}` + "\n"))
			}
			_ = c.Close()
		}
	}()
	if got, want := Ask(t.Context(), call(l.Addr().String(), `{"hook_event_name":"a"}`)), `{"event":"hook","payload":{"hook_event_name":"a"}}`; got != want {
		t.Errorf("it prints %q", got)
	}
}

func TestTheHangUpOfAHookIsNoticed(t *testing.T) {
	c, theirs := piped(t, goodHello)
	_ = theirs.Close()
	<-c.Gone()
	if _, err := c.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}

func TestAPostIsNumberedAndItsReportSaysNothing(t *testing.T) {
	c, theirs := piped(t, `{"v":1,"hello":"opencode","mode":"stream","version":"1","directory":"/p"}`)
	go func() {
		in := bufio.NewScanner(theirs)
		for in.Scan() && in.Text() == `{"ping":true}` {
			continue
		}
		if got := in.Text(); got != `{"post":"/permission/p/reply","body":{"reply":"once"},"n":1}` {
			t.Errorf("sent %s", got)
		}
		_, _ = theirs.Write([]byte(`{"ping":true}` + "\n" + `{"posted":1,"status":200}` + "\n" + `{"event":"e","properties":{}}` + "\n"))
	}()
	if err := c.Post("/permission/p/reply", map[string]string{"reply": "once"}); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Next(t.Context()); err != nil || m.Event != "e" {
		t.Errorf("behind the report %+v, %v", m, err)
	}
}

// TestThePromptSocketCanOnlyAsk sends what the socket must not do, and what it cannot read.
func TestThePromptSocketCanOnlyAsk(t *testing.T) {
	event := `{"event":"hook","payload":`
	for name, line := range map[string]string{
		"an answer":                `{"type":"answer","id":1,"results":[]}`,
		"a list":                   `{"type":"list"}`,
		"an answer beside":         `{"event":"hook","payload":{"hook_event_name":"a"},"answer":1}`,
		"a withdrawal of another":  `{"withdraw":"other session"}`,
		"a second hello":           goodHello,
		"a reply":                  `{"print":"x"}`,
		"a post":                   `{"post":"/permission/x/reply"}`,
		"2 MiB":                    event + `{"hook_event_name":"` + strings.Repeat("x", 2<<20) + `"}}`,
		"a depth of 1000":          event + strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1001),
		"duplicate keys":           event + `{"hook_event_name":"a","hook_event_name":"b"}}`,
		"duplicate keys far below": event + `{"hook_event_name":"a","b":[{"c":1,"c":2}]}}`,
		"no event":                 event + `{}}`,
		"an event of another kind": `{"event":1,"payload":{}}`,
		"a payload that is a list": event + `[]}`,
		"not UTF-8":                event + "{\"hook_event_name\":\"\xff\"}}",
		"not JSON":                 "answer 1",
	} {
		t.Run(name, func(t *testing.T) {
			c, theirs := piped(t, goodHello)
			go func() { _, _ = theirs.Write([]byte(line + "\n")) }()
			if m, err := c.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("it was taken as %+v, %v", m, err)
			}
		})
	}
}

func TestHellosThatAreRefused(t *testing.T) {
	for name, line := range map[string]string{
		"another version": `{"v":3,"hello":"claude","mode":"hook"}`, "no version": `{"hello":"claude","mode":"hook"}`,
		"no agent": `{"v":1,"hello":"","mode":"hook"}`, "no mode": `{"v":1,"hello":"claude"}`, "another mode": `{"v":1,"hello":"claude","mode":"deck"}`,
		"another key": `{"v":1,"hello":"claude","mode":"hook","as":"user"}`, "variables that are a list": `{"v":1,"hello":"claude","mode":"hook","env":[]}`,
		"a long name": `{"v":1,"hello":"claude","mode":"hook","version":"` + strings.Repeat("x", maxName+1) + `"}`,
	} {
		if h, err := parseHello([]byte(line)); err == nil {
			t.Errorf("%s: %+v", name, h)
		}
	}
	h, err := parseHello([]byte(goodHello))
	if err != nil || h.Agent != "claude" || h.Mode != Once || h.Env["TMUX"] != "x" || len(h.Env) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestWhatIsTooLargeToShowIsMarked(t *testing.T) {
	for payload, want := range map[string]bool{
		`{"a":{"b":["]","\"}"]}}`:                                                       false,
		`{"a":"` + strings.Repeat("x", maxString) + `"}`:                                false,
		`{"a":"` + strings.Repeat("x", maxString+1) + `"}`:                              true,
		`{"a":` + strings.Repeat("[", fewLevels) + strings.Repeat("]", fewLevels) + "}": true,
	} {
		m, says, err := parseMessage([]byte(`{"event":"e","payload":` + payload + `}`))
		if err != nil || !says || m.TooLarge != want {
			t.Errorf("%.40s: too large %v, %v", payload, m.TooLarge, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(goodHello))
	f.Add([]byte(`{"event":"hook","payload":{"hook_event_name":"PermissionRequest","tool_input":{"a":[1,"\u202e"]}}}`))
	f.Add([]byte(`{"posted":7,"status":200}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if h, err := parseHello(line); err == nil && (h.Agent == "" || len(h.Env) > len(Variables())) {
			t.Errorf("hello %+v", h)
		}
		if m, says, err := parseMessage(line); err == nil && says && m.Event == "" && m.Payload != nil {
			t.Errorf("message %+v", m)
		}
	})
}
