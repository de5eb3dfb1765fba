//go:build linux

package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// topic is a stand-in for an ntfy server whose topic only its user can read.
type topic struct {
	*httptest.Server
	mu     sync.Mutex
	status int // of the next answers; 0: 200
	posts  []posted
	gone   []string // sequence IDs that were deleted
}

type posted struct {
	at             time.Time
	id, code, text string
}

func newTopic(d *driver) *topic {
	d.t.Helper()
	p := &topic{}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusForbidden)
		case p.status != 0:
			w.WriteHeader(p.status)
		case r.Method == http.MethodDelete:
			p.gone = append(p.gone, filepath.Base(r.URL.Path))
		default:
			code := regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`).FindString(string(b))
			p.posts = append(p.posts, posted{time.Now(), r.Header.Get("X-Sequence-ID"), code, string(b)})
		}
	}))
	d.t.Cleanup(p.Close)
	file := filepath.Join(d.home, "ca.pem")
	d.puts(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}))
	d.env = append(d.env, "SSL_CERT_FILE="+file, "NTFY_TOKEN=tk_write")
	return p
}

func (p *topic) answer(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

func (p *topic) all() (posts []posted, gone []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.posts), slices.Clone(p.gone)
}

// about is the push of the question with a number; the zero one if there is none, or several.
func (p *topic) about(n int) (found posted) {
	posts, _ := p.all()
	for _, one := range posts {
		if strings.Contains(one.text, fmt.Sprintf("Which? %d of", n)) {
			if found.id != "" {
				return posted{}
			}
			found = one
		}
	}
	return found
}

// whichOf calls ask with a question of its own.
func whichOf(n int) string {
	return strings.Replace(whichOne, "Which?", fmt.Sprintf("Which? %d of them", n), 1)
}

// away is a deck whose user is away, with a topic that takes codes.
func away(t *testing.T) (*driver, *topic, *window) {
	t.Helper()
	d := newDriver(t)
	d.choosePort()
	p := newTopic(d)
	d.configure("[ask]\ncli_answers = \"push\"\n[notify.away]\nntfy = \"" + p.URL + "/secret\"\ntoken = \"${env:NTFY_TOKEN}\"\nafter = \"0s\"\ntext = true\n")
	w := d.window("--page", "inbox", "--port", d.port())
	w.wide()
	d.until("a deck", func() bool {
		out, _ := d.command("doctor").Output()
		return strings.Contains(string(out), "running on")
	})
	return d, p, w
}

// TestTwentyQuestionsReachThePhoneOnceWhileTheDeckWorks also kills the deck, whose successor
// pushes none of them a second time.
func TestTwentyQuestionsReachThePhoneOnceWhileTheDeckWorks(t *testing.T) {
	t.Parallel()
	d, p, w := away(t)
	a := d.relay()
	a.Handshake("claude")
	a.render(1000, 20, `{"source":"{type:\"sprite\",name:\"c\",size:[256,256],palette:{a:\"#f00\"},regions:{a:{rect:[0,0,256,256]}}}"}`)
	asked := map[int]time.Time{}
	for n := 1; n <= 20; n++ {
		asked[n] = time.Now()
		d.asksOverHTTP(whichOf(n))
		w.press("j")
	}
	d.until("twenty pushes", func() bool { posts, _ := p.all(); return len(posts) >= 20 })
	var took []time.Duration
	for n, at := range asked {
		one := p.about(n)
		if one.id == "" || one.code == "" {
			t.Errorf("question %d was not pushed once, with a code: %+v", n, one)
			continue
		}
		took = append(took, one.at.Sub(at))
	}
	slices.Sort(took)
	if len(took) > 0 {
		t.Logf("from the question to the push: p50 %v, longest %v, of which the deck waits 1.5 s", took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	}
	d.kill(a.Cmd)
	d.kill(w.cmd)
	d.window("--page", "inbox", "--port", d.port())
	d.until("the questions in the next deck", func() bool { return d.asked() == 20 })
	askOne(d, p, 21)
	if posts, gone := p.all(); len(posts) != 21 || len(gone) > 0 {
		t.Errorf("%d pushes of 21 questions, and %d withdrawn, over two decks", len(posts), len(gone))
	}
}

// askOne asks another question, whose push comes after all that the deck had to push before.
func askOne(d *driver, p *topic, n int) {
	d.t.Helper()
	d.until("the deck takes questions", func() bool {
		c, err := http.Get("http://" + d.address)
		if err == nil {
			c.Body.Close()
		}
		return err == nil
	})
	d.asksOverHTTP(whichOf(n))
	d.until("its push", func() bool { return p.about(n).id != "" })
}

func TestACodeInAPushAnswersItsQuestionOnceAndTakesThePushBack(t *testing.T) {
	t.Parallel()
	d, p, w := away(t)
	p.answer(http.StatusBadGateway)
	d.asksOverHTTP(whichOf(1))
	d.asksOverHTTP(whichOf(2))
	w.shows(d, "not reaching your phone")
	p.answer(0)
	d.until("two pushes", func() bool { return p.about(1).code != "" && p.about(2).code != "" })
	list, _ := d.command("ask", "list").Output()
	item := func(n int) string {
		m := regexp.MustCompile(`(?s)(\d+)[^\n]*\n?[^\n]*Which\? ` + fmt.Sprint(n) + ` of`).FindStringSubmatch(string(list))
		if m == nil {
			t.Fatalf("question %d is not in\n%s", n, list)
		}
		return m[1]
	}
	answer := func(n int, code string) (int, string) {
		s := d.shell("ask", "answer", item(n), "--json", `[{"id":"q","selectedOptions":["a"]}]`)
		if code != "" {
			d.shows(s, "Code in the notification of this question: ")
			s.press(code + "\n")
		}
		return s.ended(), s.text()
	}
	if code, said := answer(1, p.about(2).code); code == 0 || !strings.Contains(said, "wrong code") {
		t.Errorf("with the code of another question: exit %d, %s", code, said)
	}
	if code, said := answer(1, p.about(1).code); code != 0 {
		t.Fatalf("with its own code: exit %d, %s", code, said)
	}
	d.until("the push is taken back", func() bool {
		_, gone := p.all()
		return slices.Equal(gone, []string{p.about(1).id})
	})
	if code, said := answer(1, ""); code == 0 || !strings.Contains(said, "no pairing code is valid") {
		t.Errorf("with a used code: exit %d, %s", code, said)
	}
	if n := d.asked(); n != 1 {
		t.Errorf("%d questions wait, want 1", n)
	}
}
