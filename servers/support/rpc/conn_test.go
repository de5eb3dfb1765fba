package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// program is the other end of a connection.
type program struct {
	t     *testing.T
	lines *Lines
	in    io.Reader
	out   io.WriteCloser
}

func startProgram(t *testing.T, o Options) (*Conn, *program) {
	t.Helper()
	in, ours := io.Pipe()
	theirs, out := io.Pipe()
	c := New(o)
	c.Begin(ours, theirs)
	t.Cleanup(func() { out.Close(); in.Close(); <-c.Done() })
	return c, &program{t, NewLines(in, MaxLine), in, out}
}

func (p *program) says(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) hears(want string) {
	p.t.Helper()
	line, err := p.lines.Next()
	if err != nil || string(line) != want {
		p.t.Errorf("the program reads %s, error %v; want %s", line, err, want)
	}
}

func start(t *testing.T, c *Conn, method string, progress func(json.RawMessage)) *Request {
	t.Helper()
	r, err := c.Start(t.Context(), method, func(id string) []byte { return []byte(`{"token":"` + id + `"}`) }, progress)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnswersFindTheirRequests(t *testing.T) {
	c, p := startProgram(t, Options{})
	var steps []string
	first := start(t, c, "one", func(params json.RawMessage) { steps = append(steps, string(params)) })
	second := start(t, c, "two", nil)
	p.hears(`{"jsonrpc":"2.0","id":"1","method":"one","params":{"token":"1"}}`)
	p.hears(`{"jsonrpc":"2.0","id":"2","method":"two","params":{"token":"2"}}`)
	p.says(`{"jsonrpc":"2.0","id":"2","error":{"code":-32000.5,"message":"m","data":{"n":1.0}}}`)
	p.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1.0}}`)
	p.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`)
	p.says(`{"jsonrpc":"2.0","id":1,"result":"of another id"}`)
	p.says(`{"jsonrpc":"2.0","id":"1","result":{"n":9007199254740993}}`)
	p.says(`{"jsonrpc":"2.0","id":"1","result":"once more"}`)
	if a := <-first.Reply; a.Err != nil || string(a.Result) != `{"n":9007199254740993}` {
		t.Errorf("the first request: %s, error %v", a.Result, a.Err)
	}
	if want := `{"progressToken":"1","progress":1.0}`; strings.Join(steps, " ") != want {
		t.Errorf("progress %q, want %q", steps, want)
	}
	refused := new(Error)
	if a := <-second.Reply; !errors.As(a.Err, &refused) || refused.Message != "m" || refused.Code != 0 || string(refused.Raw) != `{"code":-32000.5,"message":"m","data":{"n":1.0}}` {
		t.Errorf("the second request: error %v, want m", a.Err)
	}
}

func TestTheEndOfTheProgramEndsWhatWaits(t *testing.T) {
	c, p := startProgram(t, Options{})
	r := start(t, c, "x", nil)
	p.out.Close()
	if a := <-r.Reply; !errors.Is(a.Err, ErrGone) {
		t.Errorf("got %v, want %v", a.Err, ErrGone)
	}
	<-c.Done()
	if _, err := c.Call(t.Context(), "x", nil); !errors.Is(err, ErrGone) {
		t.Errorf("a request afterwards: got %v, want %v", err, ErrGone)
	}
}

func TestALineOverTheLimitEndsWhatWaits(t *testing.T) {
	remarks := make(chan string, 1)
	c, p := startProgram(t, Options{Note: func(remark string) { remarks <- remark }})
	first, second := start(t, c, "x", nil), start(t, c, "x", nil)
	p.says(strings.Repeat("x", MaxLine+3))
	for _, r := range []*Request{first, second} {
		if a := <-r.Reply; !errors.Is(a.Err, ErrTooLarge) {
			t.Errorf("request %s: got %v, want %v", r.ID, a.Err, ErrTooLarge)
		}
	}
	if got, want := <-remarks, "a message was skipped: the response is larger than 33.6 MB"; got != want {
		t.Errorf("noted %q, want %q", got, want)
	}
	third := start(t, c, "x", nil)
	p.says(`{"jsonrpc":"2.0","id":"3","result":7}`)
	if a := <-third.Reply; string(a.Result) != "7" {
		t.Errorf("the next request: %s, error %v", a.Result, a.Err)
	}
}

func TestAnAnswerOverTheLimitEndsItsOwnRequest(t *testing.T) {
	c, p := startProgram(t, Options{})
	first, second := start(t, c, "x", nil), start(t, c, "x", nil)
	p.says(`{"result":"` + strings.Repeat("x", MaxLine) + `","jsonrpc":"2.0","id":"1"}`)
	if a := <-first.Reply; !errors.Is(a.Err, ErrTooLarge) {
		t.Errorf("got %v, want %v", a.Err, ErrTooLarge)
	}
	p.says(`{"jsonrpc":"2.0","id":"2","result":7}`)
	if a := <-second.Reply; string(a.Result) != "7" {
		t.Errorf("the other request: %s, error %v", a.Result, a.Err)
	}
}

func TestARequestOverTheLimitIsNotSent(t *testing.T) {
	c, p := startProgram(t, Options{})
	long := []byte(`"` + strings.Repeat("x", MaxLine) + `"`)
	if _, err := c.Call(t.Context(), "x", long); !errors.Is(err, errLongRequest) {
		t.Errorf("got %v, want %v", err, errLongRequest)
	}
	start(t, c, "y", nil)
	p.hears(`{"jsonrpc":"2.0","id":"2","method":"y","params":{"token":"2"}}`)
}

func TestAllThatWaitsIsCancelled(t *testing.T) {
	c, p := startProgram(t, Options{})
	start(t, c, "x", nil)
	p.hears(`{"jsonrpc":"2.0","id":"1","method":"x","params":{"token":"1"}}`)
	told := make(chan struct{})
	recovery.Go("end", func() {
		defer close(told)
		c.CancelAll(time.Hour)
	})
	p.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`)
	<-told
	start(t, c, "y", nil)
	c.CancelAll(time.Millisecond) // the program reads nothing
	p.out.Close()
	<-c.Done()
	c.CancelAll(time.Hour)
}

// Of a message over the limit, only its own request fails, wherever it says which: many
// servers put the id behind the result.
func TestWhatIsOverTheLimitFailsItsOwnRequestAlone(t *testing.T) {
	for name, r := range map[string]struct {
		before, after string
		fails         string // ids of the three that wait
	}{
		"the id first":           {`{"jsonrpc":"2.0","id":"2","result":{"a":"`, `"}}`, "2"},
		"the id last":            {`{"result":{"id":"1","b":[{"c":"\"}],"id":"3"`, `"}]},"jsonrpc":"2.0","id":"2"}`, "2"},
		"an error":               {`{"error":{"code":1,"message":"`, `"},"id":"2","jsonrpc":"2.0"}`, "2"},
		"a notification":         {`{"jsonrpc":"2.0","method":"x","params":{"a":"`, `"}}`, ""},
		"a request":              {`{"jsonrpc":"2.0","method":"x","params":{"a":"`, `"},"id":"2"}`, ""},
		"an id of nobody's":      {`{"jsonrpc":"2.0","id":"9","result":{"a":"`, `"}}`, ""},
		"an answer to nothing":   {`{"jsonrpc":"2.0","result":{"a":"`, `"}}`, "123"},
		"a number that is no id": {`{"jsonrpc":"2.0","id":2,"result":{"a":"`, `"}}`, "123"},
		"no message":             {`xyz`, ``, "123"},
		"a list":                 {`[{"id":"2","result":"`, `"}]`, "123"},
		"not ended":              {`{"jsonrpc":"2.0","id":"2","result":"`, ``, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := startProgram(t, Options{})
			waits := []*Request{start(t, c, "x", nil), start(t, c, "x", nil), start(t, c, "x", nil)}
			lines := NewLines(strings.NewReader(r.before+strings.Repeat("y", 2*keptMember)+r.after+"\nnext"), keptMember)
			outline, err := lines.Next()
			if !errors.Is(err, ErrLineTooLong) {
				t.Fatal(err)
			}
			c.Skipped(outline)
			if line, err := lines.Next(); string(line) != "next" || err != nil {
				t.Errorf("the next line: %s, %v", line, err)
			}
			fails := ""
			for _, w := range waits {
				select {
				case a := <-w.Reply:
					if !errors.Is(a.Err, ErrTooLarge) {
						t.Errorf("request %s: %v", w.ID, a.Err)
					}
					fails += w.ID
				default:
				}
			}
			if fails != r.fails {
				t.Errorf("requests %q failed, want %q", fails, r.fails)
			}
		})
	}
}

// An answer that cannot be decoded ends its request, and what only looks like one ends none.
func TestAnUndecodableAnswerEndsItsRequest(t *testing.T) {
	for name, r := range map[string]struct {
		line  string
		fails string // ids of the three that wait
	}{
		"a value that JSON has not":      {`{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":NaN}]}}`, "2"},
		"the id last":                    {`{"result":{"a":Infinity},"jsonrpc":"2.0","id":"2"}`, "2"},
		"cut in its result":              {`{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"te`, "2"},
		"cut in its error":               {`{"jsonrpc":"2.0","id":"2","error":{"code":-3`, "2"},
		"no version":                     {`{"id":"2","result":{}}`, "2"},
		"behind what was printed":        {`loading ... {"jsonrpc":"2.0","id":"2","result":{"a":nil}}`, "2"},
		"a line break in a text":         {`{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":"one`, "2"},
		"two results":                    {`{"jsonrpc":"2.0","id":"2","result":{"a":1},"result":{"a":2}}`, "2"},
		"an id said twice":               {`{"jsonrpc":"2.0","id":"2","id":"2","result":{}}`, "2"},
		"two ids":                        {`{"jsonrpc":"2.0","id":"2","id":"1","result":{}}`, ""},
		"a request with two methods":     {`{"jsonrpc":"2.0","id":"2","method":"a","method":"b","result":{}}`, ""},
		"an id of nobody's":              {`{"jsonrpc":"2.0","id":"9","result":NaN}`, ""},
		"a number that is no id":         {`{"jsonrpc":"2.0","id":2,"result":NaN}`, ""},
		"a request":                      {`{"jsonrpc":"2.0","id":"2","method":"roots/list","params":NaN}`, ""},
		"a log of our request, cut":      {`{"jsonrpc":"2.0","id":"2","meth`, ""},
		"a log of our whole request":     {`got {"jsonrpc":"2.0","id":"2","method":"tools/call","params":{}} from the client`, ""},
		"JSON of another program":        {`{"level":"info","id":"2"}`, ""},
		"no JSON":                        {`result: "2"`, ""},
		"an answer that three wait for":  {`{"jsonrpc":"2.0","result":{}}`, ""},
		"an error that three may be for": {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := startProgram(t, Options{})
			waits := []*Request{start(t, c, "x", nil), start(t, c, "x", nil), start(t, c, "x", nil)}
			c.Hear([]byte(r.line))
			fails := ""
			for _, w := range waits {
				select {
				case a := <-w.Reply:
					if !errors.Is(a.Err, ErrUndecodable) {
						t.Errorf("request %s: %v", w.ID, a.Err)
					}
					fails += w.ID
				default:
				}
			}
			if fails != r.fails {
				t.Errorf("requests %q failed, want %q", fails, r.fails)
			}
		})
	}
}

// A response that does not say to what is the answer to the only request that waits.
func TestAResponseWithoutAnIDEndsTheOnlyRequest(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","result":{}}`:                                               ErrUndecodable.Error(),
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`: "parse error",
	} {
		c, _ := startProgram(t, Options{})
		r := start(t, c, "x", nil)
		c.Hear([]byte(line))
		select {
		case a := <-r.Reply:
			if a.Err == nil || !strings.Contains(a.Err.Error(), want) {
				t.Errorf("%s: %v, want %s", line, a.Err, want)
			}
		default:
			t.Errorf("%s ends nothing", line)
		}
	}
}

func TestTheOutlineOfAnObjectIsItsShortMembers(t *testing.T) {
	long := strings.Repeat(`\"{`, keptMember)
	for in, want := range map[string]string{
		`{}`: `{}`,
		` { "a" : 1 , "b" : [ 1, { "c" : "}" } ] } `: `{"a":1,"b":[1,{"c":"}"}]}`,
		`{"a":"` + long + `","b":"\\"}`:              `{"a":null,"b":"\\"}`,
		`{"a":[{"` + long + `":1}],"b":2}`:           `{"a":null,"b":2}`,
		`{"` + long + `":1,"b":2}`:                   ``, // there is no key to keep
		`{"b":2,"a":"` + long:                        `{"b":2}`,
		`{"a":1,"a":2}`:                              ``,
		`{"a":1}{"b":2}`:                             ``,
		`[1]`:                                        ``,
		``:                                           ``,
	} {
		for _, piece := range []int{1, 3, len(in) + 1} {
			var o Outline
			for rest := []byte(in); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				_, _ = o.Write(rest[:min(piece, len(rest))])
			}
			if got := string(o.JSON()); got != want {
				t.Errorf("%.60s in pieces of %d: %s, want %s", in, piece, got, want)
			}
		}
	}
}

func TestAMessageBehindWhatWasPrintedIsTaken(t *testing.T) {
	stray := make(chan string, 8)
	c, p := startProgram(t, Options{Stray: func(line []byte) { stray <- string(line) }})
	first, second, third := start(t, c, "x", nil), start(t, c, "x", nil), start(t, c, "x", nil)
	p.says(`{"loading": 1}...{"jsonrpc":"2.0","id":"1","result":{"text":"{\"jsonrpc\":"}}`)
	p.says(`{"jsonrpc": is it {"jsonrpc":"2.0","id":"2","result":2}`)
	p.says(`{"jsonrpc":"2.0","id":"3","result":3} and more`)
	p.says(`{"jsonrpc":"2.0","id":"3","result":4}`)
	for r, want := range map[*Request]string{first: `{"text":"{\"jsonrpc\":"}`, second: "2", third: "4"} {
		if a := <-r.Reply; string(a.Result) != want {
			t.Errorf("request %s: %s, error %v; want %s", r.ID, a.Result, a.Err, want)
		}
	}
	for _, want := range []string{`{"loading": 1}...`, `{"jsonrpc": is it `, `{"jsonrpc":"2.0","id":"3","result":3} and more`} {
		if got := <-stray; got != want {
			t.Errorf("stray %q, want %q", got, want)
		}
	}
}

// A link without a stream hands over what it hears by itself.
func TestAConnectionWithoutAStream(t *testing.T) {
	in, ours := io.Pipe()
	c := New(Options{})
	c.BeginSending(ours)
	lines := NewLines(in, MaxLine)
	first, second, third := start(t, c, "x", nil), start(t, c, "x", nil), start(t, c, "x", nil)
	if line, err := lines.Next(); err != nil || !strings.Contains(string(line), `"id":"1"`) {
		t.Fatalf("got %s, %v", line, err)
	}
	c.Hear([]byte(`{"jsonrpc":"2.0","id":"1","error":{"code":-32042,"message":"m","data":{"n":1.0}}}`))
	refused := new(Error)
	if a := <-first.Reply; !errors.As(a.Err, &refused) || refused.Code != -32042 {
		t.Errorf("got %v", a.Err)
	} else if data, _ := refused.Data.(json.RawMessage); string(data) != `{"n":1.0}` {
		t.Errorf("its data is %s", data)
	}
	broken := errors.New("broken")
	c.Fail(second.ID, broken)
	c.Fail("unknown", broken)
	if a := <-second.Reply; !errors.Is(a.Err, broken) {
		t.Errorf("got %v, want %v", a.Err, broken)
	}
	c.Finish()
	c.Finish()
	if a := <-third.Reply; !errors.Is(a.Err, ErrGone) {
		t.Errorf("got %v, want %v", a.Err, ErrGone)
	}
	in.Close()
}

func TestACallThatIsGivenUpIsForgotten(t *testing.T) {
	c, p := startProgram(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	recovery.Go("program", func() {
		p.hears(`{"jsonrpc":"2.0","id":"1","method":"x"}`)
		cancel()
	})
	if _, err := c.Call(ctx, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if n := len(c.pending.open); n != 0 {
		t.Errorf("%d requests wait", n)
	}
}

func TestTheProgramsOwnMessages(t *testing.T) {
	said := make(chan string, 1)
	_, p := startProgram(t, Options{
		Serve:  func(m Message) { said <- "request " + m.Method + " " + string(m.ID) },
		Notify: func(method string, params json.RawMessage) { said <- "notification " + method + " " + string(params) },
		Stray:  func(line []byte) { said <- "stray " + string(line) },
	})
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`: "request ping 9007199254740993",
		`{"jsonrpc":"2.0","method":"a/b","params":[1.0]}`:         "notification a/b [1.0]",
		"listening on port 80":                                    "stray listening on port 80",
	} {
		p.says(line)
		if got := <-said; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAProgramThatReadsNothingHoldsNobodyUp(t *testing.T) {
	remarks := make(chan string, 200)
	c, p := startProgram(t, Options{Note: func(remark string) { remarks <- remark }})
	c.Offer(Message{Method: "x"}.Line())
	if _, err := p.in.Read(make([]byte, 1)); err != nil { // the rest of the line holds up the writer
		t.Fatal(err)
	}
	for range 200 { // more than are queued
		c.Offer(Message{Method: "x"}.Line())
	}
	if len(remarks) == 0 {
		t.Error("nothing was dropped")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Start(ctx, "x", func(string) []byte { return nil }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a request: got %v, want %v", err, context.Canceled)
	}
}

func TestCancelledLines(t *testing.T) {
	p := Pending{Prefix: "deck-"}
	r, err := p.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	for reason, want := range map[string]string{
		"":    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"deck-1"}}`,
		`a"b`: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"deck-1","reason":"a\"b"}}`,
	} {
		if got := string(r.Cancelled(reason)); got != want+"\n" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A program that writes to nobody's liking must not bring the reader down.
func FuzzTake(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":"1","result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"1"}`, `[]`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}}`,
		`{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"m"}}`, `{"jsonrpc":"2.0","id":null,"error":7}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) == 0 {
			return // Lines gives none
		}
		c := New(Options{Serve: func(m Message) {
			if !json.Valid(m.Encode()) {
				t.Fatalf("%q: read as %s", line, m.Encode())
			}
		}})
		r, err := c.pending.Open(func(params json.RawMessage) {
			if !json.Valid(params) {
				t.Fatalf("%q: progress %s", line, params)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		c.take(line)
		c.take(line) // a second answer has nobody to go to
		if n := len(r.Reply); n > 1 || n == 1 && len(c.pending.open) > 0 {
			t.Fatalf("%q: %d replies, %d requests wait", line, n, len(c.pending.open))
		}
	})
}

func TestMessagesWithoutTheVersionOfJSONRPC(t *testing.T) {
	served := make(chan Message, 2)
	c, p := startProgram(t, Options{Bare: true, Serve: func(m Message) { served <- m }})
	r := start(t, c, "one", nil)
	p.hears(`{"id":"1","method":"one","params":{"token":"1"}}`)
	p.says(`{"id":"1","result":7}`)
	if a := <-r.Reply; string(a.Result) != "7" {
		t.Errorf("got %s, %v", a.Result, a.Err)
	}
	p.says(`{"method":"ask","id":0,"params":{"a":1}}`)
	if m := <-served; m.Method != "ask" || string(m.ID) != "0" || string(m.Params) != `{"a":1}` {
		t.Errorf("served %+v", m)
	}
	c.Say(Message{ID: json.RawMessage("0"), Result: json.RawMessage("{}")})
	p.hears(`{"id":0,"result":{}}`)
	if got := string(Message{}.Bare()); got != "{}" {
		t.Errorf("an empty message is %s", got)
	}
}
