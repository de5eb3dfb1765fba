package ask

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// pastOptions are those of a queue that keeps what rules are learned from.
func pastOptions(t *testing.T) Options {
	t.Helper()
	opt := storeOptions(t)
	opt.Past = &Past{Path: filepath.Join(filepath.Dir(opt.HistoryFile), "prompts.jsonl"), On: func() bool { return true }}
	return opt
}

// restarted are the options of the next run.
func restarted(opt Options) Options {
	opt.Past = &Past{Path: opt.Past.Path, On: opt.Past.On, Now: opt.Past.Now}
	return opt
}

// commanded has an agent ask for a command in a run of the deck, which the user allows or denies.
func commanded(t *testing.T, q *Queue, n int, command string, option int) {
	t.Helper()
	r := permissionRequest(fmt.Sprint(n), Shared)
	r.From.Cwd, r.Prompt.Command, r.Prompt.Words = "/src/shop", command, "some words"
	c := opened(t, q, r)
	decide(t, q, q.Pending().Items[0].ID, option)
	c.Delivered(Delivered)
}

func closed(t *testing.T, q *Queue) {
	t.Helper()
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

func lineCount(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return len(bytes.FieldsFunc(b, func(r rune) bool { return r == '\n' }))
}

func TestRulesAreLearnedFromMoreThanTheHistoryOverRestartsAndKills(t *testing.T) {
	opt := pastOptions(t)
	q := New(opt)
	const most = historyLength + 50
	for i := range most {
		commanded(t, q, i, fmt.Sprintf("make a%d", i), i%2)
	}
	closed(t, q)
	if info, err := os.Stat(opt.Past.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	f, err := os.OpenFile(opt.Past.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"id":900,"request":{"prom`) // as a deck that was killed leaves it
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	q = New(restarted(opt))
	commanded(t, q, most, "curl -H 'Authorization: Bearer sk-abcdefghijklmnopqrstuvwx'", 0)
	closed(t, q)
	q = New(restarted(opt))
	defer q.Close()
	all := AllPast(q)
	if len(all) != most+1 || len(q.Pending().History) != historyLength {
		t.Fatalf("%d are kept, and %d in the history", len(all), len(q.Pending().History))
	}
	for i := range most {
		r := &all[i]
		want := map[int]End{0: EndAllowed, 1: EndDenied}[i%2]
		if p := r.Request.Prompt; r.End() != want || p.Command != fmt.Sprintf("make a%d", i) || r.Request.Cwd() != "/src/shop" || p.Agent != "claude" || p.Session+p.Words != "" || r.Ended.IsZero() {
			t.Fatalf("kept as %q: %+v", r.End(), p)
		}
	}
	if c := all[most].Request.Prompt.Command; strings.Contains(c, "abcdefghij") {
		t.Errorf("kept is %q", c)
	}
}

func TestPromptsForRulesAreKeptForThirtyDaysAndNoMoreThanTwentyThousand(t *testing.T) {
	opt := pastOptions(t)
	now := time.Now()
	opt.Past.Now = func() time.Time { return now }
	q := New(opt)
	for i := range 3 {
		commanded(t, q, i, "make", 0)
	}
	closed(t, q)

	now = now.Add(pastFor - time.Hour)
	opt = restarted(opt)
	if all, err := opt.Past.Read(); err != nil || len(all) != 3 {
		t.Fatalf("before their time %d are kept, %v", len(all), err)
	}
	now = now.Add(2 * pastEach)
	q = New(opt)
	if all := AllPast(q); len(all) != 0 {
		t.Errorf("after it %d are kept", len(all))
	}
	closed(t, q)
	if n := lineCount(t, opt.Past.Path); n != 0 {
		t.Errorf("the file has %d lines", n)
	}

	r := Record{Request: permissionRequest("1", Shared), Reply: Reply{Status: Answered, Results: []Result{{SelectedOptions: []string{"Deny"}}}}, Delivery: Delivered}
	for _, at := range []int{0, mostPast / 2, mostPast, mostPast + 1_000} {
		some := make([]Record, mostPast/2)
		for i := range some {
			some[i] = r
			some[i].ID, some[i].Arrived, some[i].Ended = at+i, now, now
		}
		if at >= mostPast {
			some = some[:1_000]
		}
		if err := opt.Past.add(some, ""); err != nil {
			t.Fatal(err)
		}
	}
	all, err := opt.Past.Read()
	if err != nil || len(all) != mostPast || all[0].ID != 2_000 || lineCount(t, opt.Past.Path) > mostPast+pastSlack+5 {
		t.Errorf("%d are kept, from the %dth on, of %d lines, %v", len(all), all[0].ID, lineCount(t, opt.Past.Path), err)
	}
}

func TestNoPromptsAreKeptForRulesUnlessTheUserWantsThem(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"rules are off": func(o *Options) { o.Past.On = func() bool { return false } },
		"shapes only":   func(o *Options) { o.Redact = redact.Rules{ShapeOnly: true} },
		"no history":    func(o *Options) { o.HistoryFile = "" },
	} {
		t.Run(name, func(t *testing.T) {
			opt := pastOptions(t)
			change(&opt)
			q := New(opt)
			commanded(t, q, 1, "make", 0)
			closed(t, q)
			if _, err := os.Lstat(opt.Past.Path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a file: %v", err)
			}
			if n := len(AllPast(q)); n != 1 {
				t.Errorf("rules are learned from %d of the history", n)
			}
		})
	}
}

func TestPromptsForRulesBeginWithTheHistoryUnlessTheyWereForgotten(t *testing.T) {
	opt := pastOptions(t)
	on := false
	opt.Past.On = func() bool { return on }
	q := New(opt)
	commanded(t, q, 1, "make a", 0)
	closed(t, q)
	on = true
	q = New(restarted(opt))
	commanded(t, q, 2, "make b", 0)
	closed(t, q)
	if n := len(AllPast(q)); n != 2 {
		t.Errorf("%d are kept, not what the history had", n)
	}
	if err := os.Truncate(opt.Past.Path, 0); err != nil {
		t.Fatal(err)
	}
	q = New(restarted(opt))
	commanded(t, q, 3, "make c", 0)
	closed(t, q)
	if all := AllPast(q); len(all) != 1 || all[0].Request.Prompt.Command != "make c" {
		t.Errorf("after they were forgotten %d are kept", len(all))
	}
}

func TestWhatWasAnsweredInATerminalAfterAllIsNoLongerKeptAsAllowed(t *testing.T) {
	opt := pastOptions(t)
	q := New(opt)
	commanded(t, q, 1, "make", 0)
	q.mu.Lock()
	_, news := q.history.became(1, Elsewhere, "answered in its terminal")
	q.mu.Unlock()
	closed(t, q)
	if all := AllPast(q); !news || len(all) != 1 || all[0].End() != EndElsewhere {
		t.Errorf("kept is %+v", all)
	}
}

// hourly is a file of prompts to which one is added every two hours, so that it is looked through each time and, after
// a month, also written anew.
type hourly struct {
	past Past
	at   int
}

func newHourly(path string, from int) *hourly {
	h := &hourly{at: from}
	h.past = Past{Path: path, On: func() bool { return true }, Now: func() time.Time { return time.Unix(0, 0).Add(time.Duration(h.at) * 2 * pastEach) }}
	return h
}

// hourlyMonth is how many of an hourly file are kept.
const hourlyMonth = int(pastFor / (2 * pastEach))

func (h *hourly) add(id int) error {
	h.at++
	r := Record{ID: id, Arrived: h.past.Now(), Ended: h.past.Now(), Request: permissionRequest("1", Shared), Reply: Reply{Status: Answered, Results: []Result{{SelectedOptions: []string{"Deny"}}}}, Delivery: Delivered}
	return h.past.add([]Record{r}, "")
}

func TestADeckThatIsKilledWhileItWritesLosesNoPromptForRules(t *testing.T) {
	if path := os.Getenv("ASK_TEST_PAST"); path != "" { // the deck
		from, err := strconv.Atoi(os.Getenv("ASK_TEST_FROM"))
		for h := newHourly(path, from); err == nil; {
			if err = h.add(h.at + 1); err == nil {
				_, err = fmt.Println(h.at)
			}
		}
		panic(err)
	}
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for round := range 4 {
		c := exec.Command(exe, "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), "ASK_TEST_PAST="+path, "ASK_TEST_FROM="+strconv.Itoa(last))
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err := errors.Join(err, c.Start()); err != nil {
			t.Fatal(err)
		}
		until := max(last, hourlyMonth) + 20 + 7*round // killed while it writes the file anew
		for in := bufio.NewScanner(out); in.Scan(); {
			if last, err = strconv.Atoi(in.Text()); err == nil && last == until {
				err = c.Process.Kill()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if c.Wait() == nil || last < until {
			t.Fatalf("it ended by itself after %d", last)
		}
		h := newHourly(path, last)
		all, err := h.past.Read()
		if err != nil || len(all) < hourlyMonth-1 || all[len(all)-1].ID < last {
			t.Fatalf("round %d: of %d prompts %d are kept, %v", round, last, len(all), err)
		}
		for i := range all {
			if all[i].ID != all[0].ID+i {
				t.Fatalf("round %d: after prompt %d comes %d", round, all[max(i-1, 0)].ID, all[i].ID)
			}
		}
		last = all[len(all)-1].ID
	}
}

func TestSeveralProcessesShareThePromptsForRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	const each = 3
	var wg sync.WaitGroup
	for n := range each {
		h := newHourly(path, 0)
		wg.Go(func() {
			for i := range hourlyMonth / each {
				h.at += each - 1
				if err := h.add(i*each + n); err != nil {
					t.Error(err)
					return
				}
				if i%10 == 0 { // as when the file has grown
					if err := h.past.alone(h.past.trim); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if all, err := newHourly(path, 0).past.Read(); err != nil || len(all) != hourlyMonth/each*each {
		t.Errorf("of %d prompts %d are kept, %v", hourlyMonth/each*each, len(all), err)
	}
}

func TestForgottenPromptsStayForgottenWhileADeckWritesTheFileAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	h := newHourly(path, 0)
	always := &Past{Path: path, Now: func() time.Time { return time.Unix(0, 0) }}
	for range 8 {
		before := h.at
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 5 {
				if err := errors.Join(h.add(h.at+1), h.past.alone(h.past.trim)); err != nil {
					t.Error(err)
				}
			}
		})
		if err := always.Forget(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if all, err := always.Read(); err != nil || len(all) > 0 && all[0].ID <= before {
			t.Errorf("after %d prompts were forgotten there are %d, the first of them %d, %v", before, len(all), all[0].ID, err)
		}
	}
}
