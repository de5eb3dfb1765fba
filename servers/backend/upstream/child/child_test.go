package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// fake is a server inside the test: it answers each method with a text, in which ID is
// that of the request; "" is no answer.
type fake struct {
	answers map[string]string
	first   string // says so before anything
	stderr  string

	mu  sync.Mutex // guards out
	out io.Writer
	got chan string // all that it reads
}

func (f *fake) start() (*process.Child, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &process.Child{PID: 7, In: inW, Out: outR, Err: io.NopCloser(strings.NewReader(f.stderr)), Exited: make(chan struct{}), Code: func() string { return "code 3" }}
	p.Kill = sync.OnceFunc(func() { inR.Close(); outW.Close(); close(p.Exited) })
	p.Terminate = p.Kill
	f.mu.Lock()
	f.out, f.got = outW, make(chan string, 1024)
	f.mu.Unlock()
	go func() {
		defer p.Kill()
		_, _ = io.WriteString(outW, f.first) // it may be gone
		lines := rpc.NewLines(inR, rpc.MaxLine)
		for {
			line, err := lines.Next()
			if err != nil {
				return
			}
			f.got <- string(line)
			o, err := rawjson.Parse(line)
			if err != nil {
				return
			}
			answer := f.answers[o.Str("method")]
			if answer == "exit" {
				return
			}
			if answer != "" {
				fmt.Fprintln(outW, strings.ReplaceAll(answer, "ID", string(o.Get("id"))))
			}
		}
	}()
	return p, nil
}

// says has it write a line.
func (f *fake) says(line string) {
	f.mu.Lock()
	out := f.out
	f.mu.Unlock()
	fmt.Fprintln(out, line)
}

func works() map[string]string {
	return map[string]string{
		"initialize": `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"fake","version":"2"},"instructions":" Look.\u0007 "}}`,
		"tools/list": `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a"}],"nextCursor":"more"}}`, // repeats its cursor
		"ping":       `{"jsonrpc":"2.0","id":ID,"result":{}}`,

		"subscriptions/listen": `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}`,
	}
}

func options(f *fake) Options {
	return Options{Name: "fake", Start: f.start, Limit: 10 * time.Second, Version: "test", Log: new(Log), Era: Legacy}
}

func TestAChildIsGreetedAndItsToolsAreListed(t *testing.T) {
	f := &fake{answers: works(), first: "hello\n" + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n", stderr: "ready\n"}
	o := options(f)
	c, tools, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Server != "fake" || c.Version != "2" || c.Protocol != "2025-06-18" || c.Instructions != "Look." || c.PID != 7 {
		t.Errorf("it is known as %q %q, protocol %q, %q, process %d", c.Server, c.Version, c.Protocol, c.Instructions, c.PID)
	}
	if len(tools) != 2 {
		t.Errorf("%d tools, want those of two pages", len(tools))
	}
	if first := <-f.got; !strings.Contains(first, `"capabilities":{},"clientInfo":{"name":"mcpdeck","version":"test"}`) {
		t.Errorf("it was greeted with %s", first)
	}
	select {
	case <-c.Changed():
	default:
		t.Error("a change from before is not told")
	}
	c.End()
	c.End()
	<-c.Gone()
	log := ""
	for _, l := range o.Log.Tail(MaxLines) {
		log += l.From + ": " + l.Text + "\n"
	}
	for _, want := range []string{"link: started, process 7\n", "link: stdout: hello\n", "fake: ready\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

func TestAChildThatCannotBeUsedSaysWhy(t *testing.T) {
	tests := []struct{ name, method, answer, want string }{
		{"it ends", "initialize", "exit", "it exited with code 3: the last word"},
		{"it refuses", "initialize", `{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"no"}}`, "no"},
		{"another protocol", "initialize", `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"1"}}`, `unsupported protocol version "1"`},
		{"no list", "tools/list", `{"jsonrpc":"2.0","id":ID,"result":{}}`, "its tool list has no tools member"},
		{"a list that is none", "tools/list", `{"jsonrpc":"2.0","id":ID,"result":7}`, "its tool list is not a JSON object"},
		{"too large a list", "tools/list", `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"` + strings.Repeat("x", maxListed) + `"}]}}`, "its tool list is larger than 8.4 MB"},
		{"too long a list", "tools/list", `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{}` + strings.Repeat(",{}", maxEntries) + `]}}`, "its tool list has more than 10000 entries"},
		{"no answer", "tools/list", "", "no answer within 10 s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answers: works(), stderr: "one\nthe last word\n"}
				f.answers[tt.method] = tt.answer
				_, _, err := Open(t.Context(), options(f))
				if err == nil || err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
			})
		})
	}
}

// On a busy machine a program's last words are read a while after its end is noticed.
func TestTheLastWordsOfAProgramAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: works()}
		f.answers["initialize"] = "exit"
		o, late := options(f), make(chan struct{})
		said, says := io.Pipe()
		o.Start = func() (*process.Child, error) {
			p, err := f.start()
			p.Err = said
			go func() {
				defer close(late)
				<-p.Exited
				time.Sleep(time.Second)                        // what comes of a program may come after its end
				_, _ = io.WriteString(says, "the last word\n") // nobody may read it
				says.Close()
			}()
			return p, err
		}
		_, _, err := Open(t.Context(), o)
		if err == nil || err.Error() != "it exited with code 3: the last word" {
			t.Errorf("got %v", err)
		}
		<-late
	})
}

func TestRequestsOfAChildAreAnswered(t *testing.T) {
	f := &fake{answers: works()}
	o := options(f)
	o.Ask = func(c *Conn, m rpc.Message) { c.Offer(NoMethod(m)) }
	told := make(chan string, 1)
	o.Told = func(method string, _ json.RawMessage) { told <- method }
	c, _, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	for _, tt := range []struct{ ask, want string }{
		{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		{`{"jsonrpc":"2.0","id":"x","method":"roots/list"}`, `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"method not found"}}`},
	} {
		f.says(tt.ask)
		for got := range f.got {
			if !strings.Contains(got, `"method"`) {
				if got != tt.want {
					t.Errorf("%s was answered with %s, want %s", tt.ask, got, tt.want)
				}
				break
			}
		}
	}
	f.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`)
	if got := <-told; got != "notifications/cancelled" {
		t.Errorf("told of %s", got)
	}
	c.Tell("notifications/roots/list_changed", nil)
	if got, want := <-f.got, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`; got != want {
		t.Errorf("it was told %s, want %s", got, want)
	}
}

func TestARequestWithoutAnybodyToAnswerItIsRefused(t *testing.T) {
	f := &fake{answers: works()}
	c, _, err := Open(t.Context(), options(f))
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	f.says(`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}`)
	for got := range f.got {
		if strings.Contains(got, `"id":7`) {
			if !strings.Contains(got, `"code":-32601`) {
				t.Errorf("got %s", got)
			}
			break
		}
	}
}

func TestAChildThatEndsSaysWhy(t *testing.T) {
	for stderr, want := range map[string]string{"": "it ended with code 3", "error: no licence\n": "it ended with code 3: error: no licence"} {
		f := &fake{answers: works(), stderr: stderr}
		c, _, err := Open(t.Context(), options(f))
		if err != nil {
			t.Fatal(err)
		}
		f.answers["leave"] = "exit"
		c.Tell("leave", nil)
		<-c.Gone()
		if got := c.Why(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCapabilitiesAreDeclaredBesideWhatARequestSays(t *testing.T) {
	for meta, want := range map[string]string{
		"":                      `{"mcpdeck/clientCapabilities":{"roots":{}}}`,
		`{"progressToken":1.0}`: `{"progressToken":1.0,"mcpdeck/clientCapabilities":{"roots":{}}}`,
	} {
		if got := string(Declaring(json.RawMessage(meta), json.RawMessage(`{"roots":{}}`))); got != want {
			t.Errorf("%s: %s, want %s", meta, got, want)
		}
	}
}

func TestAChildThatAnswersNoPingsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: works()}
		f.answers["ping"] = ""
		c, _, err := Open(t.Context(), options(f))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-c.Gone()
		if took := time.Since(began); took != 2*pingEvery+pingLimit || c.Cause() != "it ended with code 3" {
			t.Errorf("ended after %v: %s", took, c.Cause())
		}
	})
}

func TestAQueueIsServedInOrderAndHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("full")
		q := NewQueue(1, func(int) error { return full })
		if err := q.Enter(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		order := make(chan int, MaxWaiting)
		for i := range MaxWaiting {
			go func() {
				if err := q.Enter(t.Context(), func(int) {}); err != nil {
					t.Error(err)
				}
				order <- i
				q.Leave()
			}()
			synctest.Wait()
		}
		if err := q.Enter(t.Context(), func(int) {}); !errors.Is(err, full) {
			t.Errorf("one too many: %v", err)
		}
		q.Leave()
		for i := range MaxWaiting {
			if got := <-order; got != i {
				t.Fatalf("number %d came in place of %d", got, i)
			}
		}
		_ = q.Enter(t.Context(), nil) // the slot is free
		began := time.Now()
		if err := q.Enter(t.Context(), func(int) {}); !errors.Is(err, full) || time.Since(began) != queueLimit {
			t.Errorf("gave up waiting after %v: %v", time.Since(began), err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := q.Enter(gone, func(int) {}); !errors.Is(err, context.Canceled) || q.Waiting() != 0 {
			t.Errorf("withdrawn: %v, %d wait", err, q.Waiting())
		}
	})
}

func TestAnEmptiedQueueTurnsThoseAwayWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, why := NewQueue(1, func(int) error { return errors.New("full") }), errors.New("turned off")
		if !q.TryEnter() || q.TryEnter() {
			t.Fatal("one place takes one call")
		}
		entered := make(chan error, 2)
		for range 2 {
			go func() { entered <- q.Enter(t.Context(), func(int) {}) }()
		}
		synctest.Wait()
		q.Clear(why)
		for range 2 {
			if err := <-entered; !errors.Is(err, why) {
				t.Errorf("got %v", err)
			}
		}
		if q.TryEnter() {
			t.Error("the place of the call that goes on is free")
		}
		if q.Leave(); !q.TryEnter() {
			t.Error("the place is not free after the call")
		}
	})
}

// leaving is a context that is over and does not say so.
type leaving struct{ context.Context }

func (leaving) Done() <-chan struct{} { return nil }

func TestACallWhoseTurnComesAsItsAgentLeavesTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, func(int) error { return errors.New("full") })
		if err := q.Enter(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		entered := make(chan error)
		go func() { entered <- q.Enter(leaving{ctx}, func(int) {}) }()
		synctest.Wait()
		cancel()
		q.Leave()
		if err := <-entered; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := q.Enter(t.Context(), nil); err != nil || q.Waiting() != 0 {
			t.Errorf("the place is not free: %v", err)
		}
	})
}

func TestProgressGrowsAndEndsWithItsCall(t *testing.T) {
	var got []Progress
	s := NewSteps(func(p Progress) {
		if (p.Raw != nil) != (p.Message == "m") {
			t.Errorf("as it came: %q of %+v", p.Raw, p)
		}
		p.Raw = nil
		got = append(got, p)
	})
	s.Note("waits")
	for _, params := range []string{`{"progress":1,"total":3,"message":"m"}`, `{"progress":1}`, `{"progress":0.5}`, `{}`, `7`} {
		s.Step([]byte(params))
	}
	s.Note("still")
	s.End()
	s.Step([]byte(`{"progress":9}`))
	s.Note("late")
	if want := "[{1e-06 0 waits []} {1 3 m []} {1.000001 0 still []}]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	nobody := NewSteps(nil)
	nobody.Note("x")
	nobody.Step([]byte(`{"progress":1}`))
	nobody.End()
}

func TestProgressMayBeginAtNothing(t *testing.T) {
	var got []float64
	s := NewSteps(func(p Progress) { got = append(got, p.Value) })
	for _, params := range []string{`{"progress":0}`, `{"progress":0}`, `{"progress":50}`} {
		s.Step([]byte(params))
	}
	if fmt.Sprint(got) != "[0 50]" {
		t.Errorf("got %v", got)
	}
}

func TestALogKeepsItsLastLines(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var l Log
		l.drain("fake", strings.NewReader(strings.Repeat("x", 10000)+"\n"))
		for range 2 * MaxLines {
			testwait.Pass(100 * time.Millisecond)
			l.drain("fake", strings.NewReader("y\n"))
		}
		l.drain("fake", strings.NewReader("\x1b[1mlast\n"))
		tail := l.Tail(1000)
		if len(tail) != MaxLines || tail[MaxLines-1].Text != "last" {
			t.Errorf("%d lines, the last is %q", len(tail), tail[len(tail)-1].Text)
		}
		if got := l.reason("fake", time.Time{}, words); got != "last" {
			t.Errorf("last words %q", got)
		}
	})
}

// A server that writes without end must not push out what it wrote before.
func TestAStormOfLinesIsCounted(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var l Log
		l.drain("fake", strings.NewReader("first\n"+strings.Repeat("y\n", 1303)+"the last word\n"))
		if got := l.reason("fake", time.Time{}, words); got != "the last word" {
			t.Errorf("last words %q", got)
		}
		for range 2 * MaxLines { // looking changes nothing
			l.Tail(1)
		}
		testwait.Pass(time.Second)
		l.drain("fake", strings.NewReader("calm\n"))
		var got []string
		for _, line := range l.Tail(MaxLines) {
			if line.Text != "y" {
				got = append(got, line.From+": "+line.Text)
			}
		}
		if want := "[fake: first fake: +1,204 lines fake: the last word fake: calm]"; fmt.Sprint(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if n := len(l.Tail(MaxLines)); n != 103 {
			t.Errorf("%d lines", n)
		}
	})
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A program that has time to end learns first that nobody waits for its answers.
func TestCallsAreCancelledBeforeAProgramIsEnded(t *testing.T) {
	for patience, want := range map[time.Duration]bool{time.Second: true, 0: false} {
		f := &fake{answers: works()}
		o := options(f)
		o.Start = func() (*process.Child, error) {
			p, err := f.start()
			p.Patience = patience
			return p, err
		}
		c, _, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Start(t.Context(), "tools/call", func(string) rawjson.Object { return nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		for line := range f.got {
			if strings.Contains(line, "tools/call") {
				break
			}
		}
		c.Busy.Add(1)
		c.End()
		told := false
		for len(f.got) > 0 {
			told = told || strings.Contains(<-f.got, `"notifications/cancelled","params":{"requestId":"`+r.ID+`"}`)
		}
		if told != want {
			t.Errorf("with %v to end it is told: %v", patience, told)
		}
	}
}

func TestLinesThatAreNoMessagesAreCounted(t *testing.T) {
	f := &fake{answers: works(), first: "one\ntwo\n"}
	c, _, err := Open(t.Context(), options(f))
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	if n := c.Strays(); n != 2 {
		t.Errorf("%d", n)
	}
}
