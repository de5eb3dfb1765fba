package streamable_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// A request that was refused because the session is lost was not looked at.
func TestALostSessionIsBegunAgainOnce(t *testing.T) {
	for name, s := range map[string]*fake.Server{
		"404": {NoModern: true},
		"400": {NoModern: true, HTTP: fake.Faults{LostStatus: http.StatusBadRequest}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, to := options(serve(t, s.Handler()))
			renewed := make(chan bool, 10)
			to.Renewed = func() { renewed <- true }
			c := connect(t, o)
			says(t, c, "count", `{}`, "1")
			testwait.Until(t, "the stream", func() bool { return s.Count(http.MethodGet) == 1 })
			s.Forget()
			const calls = 8
			done := make(chan string, calls)
			for range calls {
				go func() {
					got, err := call(t, c, "echo", `{"text":"again"}`)
					done <- fmt.Sprint(got, err)
				}()
			}
			for range calls {
				if got := <-done; got != "again<nil>" {
					t.Error(got)
				}
			}
			if n := s.Count("initialize"); n != 2 || len(renewed) != 1 {
				t.Errorf("%d handshakes, told %d times", n, len(renewed))
			}
			says(t, c, "count", `{}`, "1") // it is another session
			testwait.Until(t, "its stream", func() bool { return s.Count(http.MethodGet) == 2 })
			if n := s.Count("notifications/initialized"); n != 2 {
				t.Errorf("%d times initialized", n)
			}
		})
	}
}

// A server that refuses for good is not greeted over and over.
func TestASessionThatIsAlwaysLostFailsTheCall(t *testing.T) {
	s := &fake.Server{NoModern: true}
	var refuses atomic.Bool
	o, _ := options(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() && r.Header.Get("Mcp-Session-Id") != "" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		s.Handler().ServeHTTP(w, r)
	})))
	c := connect(t, o)
	refuses.Store(true)
	_, err := call(t, c, "echo", `{"text":"x"}`)
	if status, ok := errors.AsType[*child.StatusError](err); !ok || status.Code != http.StatusNotFound || s.Count("initialize") != 2 {
		t.Errorf("error %v after %d handshakes", err, s.Count("initialize"))
	}
}

// An answer whose stream broke is fetched, not asked for again.
func TestABrokenStreamIsResumed(t *testing.T) {
	s := &fake.Server{NoModern: true, HTTP: fake.Faults{Breaks: 2, NoStream: false}}
	o, _ := options(serve(t, s.Handler()))
	c := connect(t, o)
	says(t, c, "count", `{}`, "1")
	says(t, c, "count", `{}`, "2")
	says(t, c, "count", `{}`, "3")
	if n := s.Count("tools/call"); n != 3 {
		t.Errorf("it was called %d times", n)
	}
	resumed := 0
	for _, r := range s.Seen() {
		if http.Header(r.Header).Get("Last-Event-Id") != "" {
			resumed++
		}
	}
	if resumed != 2 {
		t.Errorf("%d streams were resumed", resumed)
	}
}

func TestAStreamThatCannotBeResumedFailsItsCallAlone(t *testing.T) {
	for name, s := range map[string]*fake.Server{
		"modern":            {HTTP: fake.Faults{Breaks: 1}},
		"legacy, no number": {NoModern: true, HTTP: fake.Faults{Breaks: 1, NoStream: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options(serve(t, s.Handler()))
			c := connect(t, o)
			if got, err := call(t, c, "count", `{}`); !errors.Is(err, child.ErrBroken) {
				t.Errorf("%s, %v", got, err)
			}
			says(t, c, "echo", `{"text":"next"}`, "next")
		})
	}
}
