package push

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// server is a stand-in of an ntfy server or of a webhook.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	said   []string // what it was told, in order
	bodies []string
	status int // of the next answers; 0: 200
	hits   int
	read   func(auth string) int // the status of reading
}

func serve(t *testing.T, tls bool) *server {
	t.Helper()
	s := &server{}
	handle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Method == http.MethodGet {
			w.WriteHeader(s.read(r.Header.Get("Authorization")))
			return
		}
		s.hits++
		if s.status != 0 {
			w.WriteHeader(s.status)
			return
		}
		id := r.Header.Get("X-Sequence-ID")
		if r.Method == http.MethodDelete {
			id = filepath.Base(r.URL.Path)
		}
		s.said = append(s.said, r.Method+" "+id)
		s.bodies = append(s.bodies, r.Header.Get("Title")+"|"+string(b))
	})
	if tls {
		s.Server = httptest.NewTLSServer(handle)
	} else {
		s.Server = httptest.NewServer(handle)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *server) answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *server) heard() (said, bodies []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said), slices.Clone(s.bodies)
}

func (s *server) sender(t *testing.T, target Target) Sender {
	t.Helper()
	target.Transport = s.Client().Transport
	to, err := target.Open()
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// waiting is what waits, which tests change.
type waiting struct {
	mu    sync.Mutex
	notes []Note
	hint  chan struct{}
}

func (w *waiting) set(notes ...Note) {
	w.mu.Lock()
	w.notes = notes
	w.mu.Unlock()
	select {
	case w.hint <- struct{}{}:
	default:
	}
}

func (w *waiting) all() []Note {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.notes)
}

// script is a Sender in memory, for tests in which time is a bubble's.
type script struct {
	mu     sync.Mutex
	events []Event
	fail   []error // of the next sends
	during func(Event)
	secret error
}

func (s *script) Send(_ context.Context, e Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.during != nil {
		s.during(e)
	}
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		return err
	}
	s.events = append(s.events, e)
	return nil
}

func (s *script) Secret(context.Context) error { return s.secret }

func (s *script) Secrets() []string { return nil }

func (s *script) kinds() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.events {
		out = append(out, fmt.Sprintf("%s %d", e.Kind, e.Item))
	}
	return strings.Join(out, ", ")
}

// pusher runs one in a bubble over the file at path, until the test or stop ends it.
func pusher(t *testing.T, o Options) (p *Pusher, stop func()) {
	t.Helper()
	if o.Warn == nil {
		o.Warn = func(texts ...string) {
			if len(texts) > 0 {
				t.Errorf("warned of %q", texts)
			}
		}
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return p, stop
}

// pass has time pass in a bubble.
func pass(d time.Duration) {
	time.Sleep(d) // the time of a bubble, which costs none
	synctest.Wait()
}

func options(t *testing.T, to Sender, w *waiting) Options {
	t.Helper()
	return Options{Sender: to, Path: filepath.Join(t.TempDir(), "pushed.json"), Notes: w.all, Hint: w.hint, After: time.Second, Away: 2 * time.Minute, Again: 15 * time.Minute}
}

func note(n int) Note {
	return Note{Key: fmt.Sprint("key ", n), Item: n, Since: time.Now(), Title: "allow?", Text: "claude shop: Bash"}
}

func TestWhatWaitsIsPushedOnceThenAgainAndWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := &script{}, &waiting{hint: make(chan struct{}, 1)}
		pusher(t, options(t, to, w))
		w.set(note(1))
		pass(900 * time.Millisecond)
		if got := to.kinds(); got != "" {
			t.Errorf("before it has waited: %s", got)
		}
		pass(10 * time.Minute)
		w.set(w.all()...)
		synctest.Wait()
		if got := to.kinds(); got != "waiting 1" {
			t.Errorf("pushed %s", got)
		}
		pass(6 * time.Minute)
		if got := to.kinds(); got != "waiting 1, reminder 1" {
			t.Errorf("after a quarter of an hour: %s", got)
		}
		w.set()
		synctest.Wait()
		if got := to.kinds(); got != "waiting 1, reminder 1, withdrawn 1" || to.events[0].ID != to.events[2].ID {
			t.Errorf("answered: %+v", to.events)
		}
	})
}

func TestNothingIsPushedToAUserWhoIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := &script{}, &waiting{hint: make(chan struct{}, 1)}
		p, _ := pusher(t, options(t, to, w))
		p.Here(time.Now())
		w.set(note(1))
		pass(time.Minute)
		p.Here(time.Now())
		pass(119 * time.Second)
		if got := to.kinds(); got != "" {
			t.Errorf("pushed %s to a user who is there", got)
		}
		pass(2 * time.Second)
		if got := to.kinds(); got != "waiting 1" {
			t.Errorf("once they are away: %q", got)
		}
	})
}

func TestAPushThatFailsIsSaidAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := &script{}, &waiting{hint: make(chan struct{}, 1)}
		for range 4 {
			to.fail = append(to.fail, fmt.Errorf("no network"))
		}
		to.fail = append(to.fail, &RefusedError{Status: 429, After: time.Minute})
		o := options(t, to, w)
		var said []string
		o.Warn = func(texts ...string) { said = append(said, strings.Join(texts, "; ")) }
		pusher(t, o)
		w.set(note(1), note(2))
		pass(2 * time.Minute)
		if got := to.kinds(); got != "waiting 1, waiting 2" {
			t.Errorf("pushed %q", got)
		}
		if len(said) != 3 || !strings.Contains(said[0], "no network") || !strings.Contains(said[1], "429") || said[2] != "" {
			t.Errorf("said %q", said)
		}
	})
}

// A deck that is killed while it pushes has noted that before, so that the next one does not
// push it a second time, whatever the moment.
func TestAPushThatAKillInterruptsIsNotSentTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := &script{}, &waiting{hint: make(chan struct{}, 1)}
		o := options(t, to, w)
		var kept map[string]mark
		to.during = func(e Event) {
			q, err := New(o) // as the next deck reads it
			if err != nil {
				t.Error(err)
			}
			kept = q.marks
		}
		_, stop := pusher(t, o)
		w.set(note(1))
		pass(2 * time.Second)
		if _, ok := kept["key 1"]; !ok {
			t.Fatalf("while it was sent, the file had %v", kept)
		}
		stop()
		to.during = nil

		w.set() // the agent comes back to the next deck only after a while
		pusher(t, o)
		pass(30 * time.Second)
		w.set(note(1))
		pass(5 * time.Minute)
		if got := to.kinds(); got != "waiting 1" {
			t.Errorf("two decks pushed %s", got)
		}
		w.set()
		synctest.Wait()
		if got := to.kinds(); got != "waiting 1, withdrawn 1" {
			t.Errorf("answered at the second deck: %s", got)
		}
	})
}

func TestWhatDoesNotComeBackAfterARestartIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := &script{}, &waiting{hint: make(chan struct{}, 1)}
		o := options(t, to, w)
		_, stop := pusher(t, o)
		w.set(note(1))
		pass(2 * time.Second)
		stop()
		w.set()
		pusher(t, o)
		pass(backFor - 5*time.Second)
		if got := to.kinds(); got != "waiting 1" {
			t.Errorf("while its agent may come back: %s", got)
		}
		pass(10 * time.Second)
		if got := to.kinds(); got != "waiting 1, withdrawn 1" {
			t.Errorf("once it will not: %s", got)
		}
	})
}

func TestCodesAreSentOnlyWhereAgentsCannotReadThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, w := &script{secret: fmt.Errorf("agents can read it")}, &waiting{hint: make(chan struct{}, 1)}
		o := options(t, to, w)
		o.Code = func(item int) string { return fmt.Sprint("CODE-", item) }
		var said []string
		o.Warn = func(texts ...string) { said = texts }
		pusher(t, o)
		w.set(note(1))
		pass(2 * time.Second)
		if to.events[0].Code != "" || len(said) != 1 || !strings.Contains(said[0], "agents can read it") {
			t.Errorf("sent %+v, said %q", to.events, said)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		to, w := &script{secret: &UnknownError{fmt.Errorf("no network")}}, &waiting{hint: make(chan struct{}, 1)}
		o := options(t, to, w)
		o.Code = func(item int) string { return fmt.Sprint("CODE-", item) }
		pusher(t, o)
		w.set(note(1))
		pass(2 * time.Second)
		to.secret = nil
		w.set(note(1), note(2))
		pass(2 * time.Second)
		if len(to.events) != 2 || to.events[0].Code != "" || to.events[1].Code != "CODE-2" {
			t.Errorf("sent %+v", to.events)
		}
	})
}

func TestAnNtfyTopicGetsMessagesThatItCanTakeBack(t *testing.T) {
	s := serve(t, false)
	to := s.sender(t, Target{Ntfy: s.URL + "/topic", Token: "${env:T}", Environ: []string{"T=tk_1"}})
	ctx := t.Context()
	for _, e := range []Event{
		{Kind: Waiting, ID: "abc", Item: 3, Title: "allow? ü", Text: "claude shop: Bash"},
		{Kind: Reminder, ID: "abc", Item: 3, Title: "allow?", Text: "again", Code: "ABCD-EFGH"},
		{Kind: Withdrawn, ID: "abc", Item: 3},
	} {
		if err := to.Send(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	said, bodies := s.heard()
	if want := []string{"POST abc", "POST abc", "DELETE abc"}; !slices.Equal(said, want) {
		t.Errorf("told %q", said)
	}
	if bodies[0] != "=?utf-8?q?allow=3F_=C3=BC?=|claude shop: Bash" || bodies[1] != "allow?|again\nmcpdeck ask answer 3\nABCD-EFGH" {
		t.Errorf("said %q", bodies)
	}
	s.answer(http.StatusForbidden)
	if err := to.Send(ctx, Event{ID: "x"}); err == nil || !strings.Contains(err.Error(), "403 Forbidden") || strings.Contains(err.Error(), "topic") {
		t.Errorf("refused: %v", err)
	}
}

func TestAWebhookGetsEveryEvent(t *testing.T) {
	s := serve(t, true)
	to := s.sender(t, Target{Webhook: s.URL})
	if err := to.Secret(t.Context()); err != nil {
		t.Errorf("codes by https: %v", err)
	}
	for _, kind := range []string{Waiting, Withdrawn} {
		if err := to.Send(t.Context(), Event{V: 1, Kind: kind, ID: "abc", Item: 3}); err != nil {
			t.Fatal(err)
		}
	}
	_, bodies := s.heard()
	for i, kind := range []string{Waiting, Withdrawn} {
		var e Event
		if err := json.Unmarshal([]byte(strings.TrimPrefix(bodies[i], "|")), &e); err != nil || e.Kind != kind || e.ID != "abc" || e.Item != 3 {
			t.Errorf("got %s: %v", bodies[i], err)
		}
	}
	s.answer(http.StatusTemporaryRedirect)
	if err := to.Send(t.Context(), Event{}); err == nil {
		t.Error("followed a redirection")
	}
}

func TestATopicThatTheTokenCanReadGetsNoCodes(t *testing.T) {
	cases := map[string]struct {
		token, anybody int
		want           string
	}{
		"only its readers can":   {http.StatusForbidden, http.StatusUnauthorized, ""},
		"the token can read":     {http.StatusOK, http.StatusForbidden, "can be read"},
		"anybody can read":       {http.StatusForbidden, http.StatusOK, "can be read"},
		"the server is ill":      {http.StatusForbidden, http.StatusBadGateway, "502"},
		"it is no server of the": {http.StatusNotFound, http.StatusNotFound, "404"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, true)
			s.read = func(auth string) int {
				if auth == "Bearer tk_1" {
					return c.token
				}
				return c.anybody
			}
			err := s.sender(t, Target{Ntfy: s.URL + "/topic", Token: "tk_1"}).Secret(t.Context())
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("said %v", err)
			}
		})
	}
}

func TestWhatATargetMustBe(t *testing.T) {
	cases := map[string]struct {
		of   Target
		want string
	}{
		"nothing":           {Target{}, ""},
		"two":               {Target{Ntfy: "https://ntfy.sh/x", Command: []string{"true"}}, "one of"},
		"no topic":          {Target{Ntfy: "https://ntfy.sh/"}, "end with a topic"},
		"in the clear":      {Target{Webhook: "http://example.com/x"}, "use https"},
		"a password":        {Target{Webhook: "https://a:b@example.com/x"}, "no user name"},
		"no such variable":  {Target{Ntfy: "https://ntfy.sh/x", Token: "${env:NONE}"}, "${env:NONE}"},
		"on this machine":   {Target{Webhook: "http://127.0.0.1:1/x"}, ""},
		"no address at all": {Target{Ntfy: "topic"}, "https://"},
	}
	for name, c := range cases {
		_, err := c.of.Open()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
