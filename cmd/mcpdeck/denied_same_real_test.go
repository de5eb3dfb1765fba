//go:build linux

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
)

// TestTheDeckChangesNothingOfWhatAutoModeDenies has auto mode refuse a call in turns without the hook that tells the
// deck, and with it: the model is sent the same, and the deck shows the denial before the model has said more. What
// takes how long is reported, of as many rounds as MCPDECK_TEST_ROUNDS says.
func TestTheDeckChangesNothingOfWhatAutoModeDenies(t *testing.T) {
	t.Parallel()
	path, command, ran := judgedCommand(t)
	rounds := 1
	if n, err := strconv.Atoi(os.Getenv("MCPDECK_TEST_ROUNDS")); err == nil {
		rounds = n
	}
	for name, verdict := range map[string]struct{ says, told, listed string }{
		"denied":      {deniedSo, "the task names no such host", "by auto mode"},
		"unavailable": {"<block>perhaps</block>", "could not evaluate", "not judged"},
	} {
		t.Run(name, func(t *testing.T) {
			var ways [2]*refusing
			for i := range ways {
				d := newDriver(t)
				d.coder = path
				judgedHome(d, i == 1)
				knowsClaude(d, map[string]any{}) // what it offers depends on whether its servers have started
				deck := d.window("--page", "inbox")
				deck.wide()
				deck.shows(d, "Inbox")
				deck.showsDenied(d, "━ Denied 0 ")
				ways[i] = &refusing{d, deck, i == 1}
			}
			var next [2][]time.Duration
			var shown []time.Duration
			for i, last := 0, rounds-1; i <= last; i++ {
				day := time.Now().YearDay()
				var sent [2][]string
				for j := range ways {
					way := (i + j) % len(ways)
					var after, seen time.Duration
					sent[way], after, seen = ways[way].refuses(verdict.says, command+strconv.Itoa(i))
					next[way] = append(next[way], after)
					if ways[way].tells {
						shown = append(shown, seen)
					}
				}
				if time.Now().YearDay() != day { // Claude Code tells its model of midnight
					last++
					continue
				}
				if !slices.Equal(sent[0], sent[1]) || !strings.Contains(sent[0][len(sent[0])-1], verdict.told) {
					t.Errorf("with the hook the model is sent\n%s\nwithout it\n%s", strings.Join(sent[1], "\n"), strings.Join(sent[0], "\n"))
				}
				if i == last {
					t.Logf("%d requests of %d bytes are equal", len(sent[0]), len(strings.Join(sent[0], "")))
				}
			}
			ways[1].deck.shows(ways[1].driver, verdict.listed)
			if ran.Load() != 0 {
				t.Error("what was denied ran")
			}
			for name, all := range map[string][]time.Duration{"the next request comes without the hook": next[0], "the next request comes with the hook": next[1], "the deck shows it": shown} {
				slices.Sort(all)
				t.Logf("%s: p50 %v, max %v", name, all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
			}
		})
	}
}

// refusing is a deck beside sessions whose auto mode refuses what they do.
type refusing struct {
	*driver
	deck  *window
	tells bool // the deck
}

// refuses has a new session make a call that is refused. It returns what the model is sent, and how long after the
// verdict its next request comes and the deck shows it.
func (r *refusing) refuses(verdict, command string) (sent []string, next, shown time.Duration) {
	r.t.Helper()
	model := mockmodel.New(r.t, "", bash(r.t, command))
	model.Judges(verdict)
	s := stampsOf(r.t, model)
	c := startClaude(r.driver, model, "auto")
	c.shows(r.driver, "auto mode on")
	c.says("go")
	if r.tells {
		r.until("the denial in the deck", func() bool { return strings.Contains(r.deck.screen(), command) })
	}
	at := time.Now()
	close(s.goes)
	r.until("the end of the turn", func() bool { return strings.Contains(c.screen(), "END") })
	r.kill(c.cmd)
	s.mu.Lock()
	defer s.mu.Unlock()
	return withoutDifferences(r.driver, model.Bodies()), s.next.Sub(s.judged), at.Sub(s.judged)
}

// stamps are when a model has judged a call, and got the request after it.
type stamps struct {
	goes chan struct{} // closed when the model may say more

	mu           sync.Mutex
	judged, next time.Time
}

// stampsOf notes them of a model.
func stampsOf(t *testing.T, model *mockmodel.Server) *stamps {
	t.Helper()
	to, err := url.Parse(model.URL)
	if err != nil {
		t.Fatal(err)
	}
	s, on := &stamps{goes: make(chan struct{})}, httputil.NewSingleHostReverseProxy(to)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is cut off is no request
		r.Body = io.NopCloser(bytes.NewReader(body))
		turn := bytes.Contains(body, []byte(`"tools":[{`))
		s.mu.Lock()
		next := turn && s.next.Before(s.judged)
		if next {
			s.next = time.Now()
		}
		s.mu.Unlock()
		if next {
			select {
			case <-s.goes:
			case <-t.Context().Done():
			}
		}
		on.ServeHTTP(w, r)
		if s.mu.Lock(); !turn && bytes.Contains(body, []byte("<block>")) {
			s.judged = time.Now()
		}
		s.mu.Unlock()
	}))
	t.Cleanup(h.Close)
	model.URL = h.URL
	return s
}

// showsDenied turns to the list of what was denied.
func (w *window) showsDenied(d *driver, title string) {
	w.t.Helper()
	w.keyed("H", func() bool { return strings.Contains(w.screen(), "━ History ") })
	d.until("the list of the denied", func() bool {
		if strings.Contains(w.screen(), title) {
			return true
		}
		w.key("v")
		time.Sleep(time.Second) // for the next view to be drawn
		return false
	})
}
