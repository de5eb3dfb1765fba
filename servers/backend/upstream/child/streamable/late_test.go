package streamable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// pipes is a network inside the test, so that its clock can be the test's.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, errors.New("closed")
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) connect(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours, nil
}

// inside serves h on a network inside the test, until what it returns is called.
func inside(h http.Handler) (o child.Options, end func()) {
	network := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: h}
	served := make(chan error)
	go func() { served <- srv.Serve(network) }()
	o, to := options("http://127.0.0.1/mcp")
	to.Connect = network.connect
	return o, func() {
		srv.Close()
		<-served
		time.Sleep(10 * time.Second) // what it is at ends
	}
}

// Nothing between the user and the server has a clock of its own.
func TestAUserMayTakeADayToAnswerAServerOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake.Server{NoModern: true}
		o, end := inside(s.Handler())
		o.Ask = func(c *child.Conn, m rpc.Message) {
			time.AfterFunc(24*time.Hour, func() { c.Say(rpc.Message{ID: m.ID, Result: json.RawMessage(`{"action":"decline"}`)}) })
		}
		c, _, err := child.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r, err := c.Start(t.Context(), "tools/call", func(string) rawjson.Object { return rawjson.Object{{Key: "name", Value: json.RawMessage(`"ask"`)}} }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := <-r.Reply; a.Err != nil || time.Since(began) < 24*time.Hour {
			t.Errorf("after %v: %s, %v", time.Since(began), a.Result, a.Err)
		}
		c.End()
		end()
	})
}

// A session that was begun again may be used when the server knows that it has begun.
func TestCallsWaitForASessionThatIsBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake.Server{NoModern: true}
		o, end := inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // of a client that is gone there is nothing
			if bytes.Contains(body, []byte(`"notifications/initialized"`)) {
				time.Sleep(time.Second) // the server takes its time
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			s.Handler().ServeHTTP(w, r)
		}))
		c, _, err := child.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		s.Forget()
		before := len(s.Seen())
		var calls sync.WaitGroup
		for i := range 3 {
			calls.Go(func() {
				// one after another, while the server takes its time
				time.Sleep(time.Duration(i) * 300 * time.Millisecond)
				says(t, c, "echo", `{"text":"again"}`, "again")
			})
		}
		calls.Wait()
		var got []string
		for _, r := range s.Seen()[before:] {
			if r.Method != "" {
				got = append(got, r.Method)
			}
		}
		want := []string{"tools/call", "initialize", "notifications/initialized", "tools/call", "tools/call", "tools/call"}
		if !slices.Equal(got, want) {
			t.Errorf("the server got %q, want %q", got, want)
		}
		c.End()
		end()
	})
}

// modest is a server of the older era that is asked nothing: stream is what it says.
func modest(stream func(w http.ResponseWriter), reply func(r *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush() // the client may be gone
			stream(w)
			return
		}
		body, _ := io.ReadAll(r.Body) // of a client that is gone there is nothing
		m, _ := rpc.Rules{Lenient: true}.Decode(append(body, ' '))
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a"}]}}`, m.ID)
		case "":
			reply(r)
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}

// A server that asks without end and takes no answer must not use up the deck's
// connections.
func TestAnswersToAServerThatTakesNoneAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		o, end := inside(modest(func(w http.ResponseWriter) {
			for i := range 1000 {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n", i)
				_ = http.NewResponseController(w).Flush() // the client may be gone
				time.Sleep(time.Millisecond)              // so the server goes on for a second
			}
		}, func(r *http.Request) {
			most.Store(max(most.Load(), open.Add(1)))
			<-r.Context().Done()
			open.Add(-1)
		}))
		o.Era = child.Legacy
		c, _, err := child.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		testwait.Pass(2 * time.Second)
		if n := most.Load(); n == 0 || n > 64 {
			t.Errorf("%d answers were on their way at once", n)
		}
		c.End()
		end()
	})
}

// A stream that ends as soon as it is open is not opened without a pause, whatever the
// server asks for.
func TestAStreamThatEndsAtOnceIsOpenedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := new(atomic.Int32)
		o, end := inside(modest(func(w http.ResponseWriter) {
			opened.Add(1)
			fmt.Fprint(w, "retry: 1\n\n")
		}, func(*http.Request) {}))
		o.Era = child.Legacy
		c, _, err := child.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		testwait.Pass(10 * time.Second)
		if n := opened.Load(); n < 2 || n > 101 {
			t.Errorf("opened %d times in 10 s", n)
		}
		c.End()
		end()
	})
}

// Nobody waits for the answer to a request that was given up.
func TestARequestThatIsGivenUpIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake.Server{NoLegacy: true}
		var open atomic.Int32
		o, end := inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Method") == "prompts/list" {
				open.Add(1)
				defer open.Add(-1)
				_, _ = io.Copy(io.Discard, r.Body) // of a client that is gone there is nothing
				<-r.Context().Done()
				return
			}
			s.Handler().ServeHTTP(w, r)
		}))
		c, _, err := child.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.List(ctx, child.Prompts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d requests are still open", n)
		}
		c.End()
		end()
	})
}

// A server may take its time to take back what it has asked for the sake of a call that is
// cancelled, on the stream of that call.
func TestAServerTakesBackWhatItAskedForACancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake.Server{NoModern: true}
		var open atomic.Int32 // streams of calls
		o, end := inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // of a client that is gone there is nothing
			r.Body = io.NopCloser(bytes.NewReader(body))
			switch {
			case bytes.Contains(body, []byte(`"notifications/cancelled"`)):
				w.WriteHeader(http.StatusAccepted)
				_ = http.NewResponseController(w).Flush() // the client may be gone
				time.Sleep(3 * time.Second)               // the server takes its time
				w = httptest.NewRecorder()                // it is answered
			case bytes.Contains(body, []byte(`"tools/call"`)):
				open.Add(1)
				defer open.Add(-1)
				defer func() { <-r.Context().Done() }() // it does not end the stream
			}
			s.Handler().ServeHTTP(w, r)
		}))
		asked, told := make(chan rpc.Message, 1), make(chan string, 1)
		o.Ask = func(_ *child.Conn, m rpc.Message) { asked <- m }
		o.Told = func(method string, params json.RawMessage) { told <- method + " " + string(params) }
		c, _, err := child.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Start(t.Context(), "tools/call", func(string) rawjson.Object { return rawjson.Object{{Key: "name", Value: json.RawMessage(`"ask"`)}} }, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := <-asked
		c.Offer(r.Cancelled(""))
		if a := <-r.Reply; !errors.Is(a.Err, context.Canceled) {
			t.Errorf("got %v", a.Err)
		}
		select {
		case got := <-told:
			if want := `notifications/cancelled {"requestId":` + string(m.ID) + `}`; got != want {
				t.Errorf("told %s, want %s", got, want)
			}
		case <-time.After(time.Minute):
			t.Error("it was not heard")
		}
		testwait.Pass(time.Minute)
		if n := open.Load(); n != 0 {
			t.Errorf("%d streams of cancelled calls are still open", n)
		}
		c.End()
		end()
	})
}

// A server may answer one greeting alone: it is not asked the other for ever.
func TestAGreetingThatIsNotAnsweredIsEndedByTheAnswerToTheOther(t *testing.T) {
	for silent, s := range map[string]*fake.Server{"server/discover": {NoModern: true}, "initialize": {NoLegacy: true}} {
		t.Run(silent, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open atomic.Int32
				o, end := inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body) // of a client that is gone there is nothing
					r.Body = io.NopCloser(bytes.NewReader(body))
					switch {
					case bytes.Contains(body, []byte(`"`+silent+`"`)):
						open.Add(1)
						defer open.Add(-1)
						<-r.Context().Done()
						return
					case bytes.Contains(body, []byte(`"server/discover"`)):
						time.Sleep(10 * time.Second) // so that both are sent
					}
					s.Handler().ServeHTTP(w, r)
				}))
				c, _, err := child.Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := open.Load(); n != 0 {
					t.Errorf("%d greetings are still open", n)
				}
				if got := s.Count("notifications/cancelled"); got > 0 {
					t.Error("the server was told of a request that it may not know")
				}
				c.End()
				end()
			})
		})
	}
}

// Servers behind proxies end each stream after a while: what matters is that they go on.
func TestAStreamIsResumedForAsLongAsItHasNews(t *testing.T) {
	const ends = 20 * time.Second
	for name, tt := range map[string]struct {
		news  string // on each stream that is resumed
		fails bool
	}{
		"ids":           {news: "id: n%d\ndata:\n\n"},
		"notifications": {news: `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}` + "\n\n"},
		"nothing":       {news: ": %d\n\n", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &fake.Server{NoModern: true}
				var resumed atomic.Int32
				var id string
				o, end := inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body) // of a client that is gone there is nothing
					r.Body = io.NopCloser(bytes.NewReader(body))
					n := int(resumed.Load())
					switch {
					case bytes.Contains(body, []byte(`"tools/call"`)):
						var m struct{ ID json.RawMessage }
						_ = json.Unmarshal(body, &m)
						id = string(m.ID)
						w.Header().Set("Content-Type", "text/event-stream")
						fmt.Fprint(w, "id: first\nretry: 1000\ndata:\n\n")
					case r.Header.Get("Last-Event-Id") == "":
						s.Handler().ServeHTTP(w, r)
					case n == 40: // 14 minutes later
						w.Header().Set("Content-Type", "text/event-stream")
						fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n\n", id)
					default:
						resumed.Add(1)
						w.Header().Set("Content-Type", "text/event-stream")
						fmt.Fprintf(w, tt.news, n)
						_ = http.NewResponseController(w).Flush()
						time.Sleep(ends) // the stream goes on for so long
					}
				}))
				c, _, err := child.Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				r, err := c.Start(t.Context(), "tools/call", func(string) rawjson.Object { return rawjson.Object{{Key: "name", Value: json.RawMessage(`"echo"`)}} }, nil)
				if err != nil {
					t.Fatal(err)
				}
				if a := <-r.Reply; (a.Err != nil) != tt.fails || !tt.fails && resumed.Load() != 40 {
					t.Errorf("after %d streams: %s, %v", resumed.Load(), a.Result, a.Err)
				}
				c.End()
				end()
			})
		})
	}
}
