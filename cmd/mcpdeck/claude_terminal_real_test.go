//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// again presses a key until it counts. A dialog of Claude Code's takes none right after it
// comes, and does not say so. It returns when the key that counted was pressed.
func (w *window) again(key string, counts func() bool) (at time.Time) {
	w.t.Helper()
	return w.repeat(w.press, key, counts)
}

// repeat presses a key in some way until it counts.
func (w *window) repeat(press func(string), key string, counts func() bool) (at time.Time) {
	w.t.Helper()
	return w.every(3*time.Second, press, key, counts)
}

// patiently presses a key in an agent's terminal where the same key means something else once it counts:
// on a busy machine it takes seconds until that is drawn.
func (w *window) patiently(key string, counts func() bool) {
	w.t.Helper()
	w.every(15*time.Second, w.press, key, counts)
}

// keyed presses a key on a deck as a user does who has read what is there, until it counts. A deck
// takes each but those for what has just come. When it is slow to draw what a key has done, the same
// key may mean something else by then, so it is not pressed again soon.
func (w *window) keyed(key string, counts func() bool) {
	w.t.Helper()
	w.every(15*time.Second, w.key, key, counts)
}

// every presses a key in some way, with a pause after each, until it counts at two looks.
func (w *window) every(pause time.Duration, press func(string), key string, counts func() bool) (at time.Time) {
	w.t.Helper()
	counts = steady(counts)
	for end := time.Now().Add(testwait.Patience); time.Now().Before(end); {
		at = time.Now()
		press(key)
		for again := time.Now().Add(pause); time.Now().Before(again); {
			if counts() {
				return at
			}
			time.Sleep(100 * time.Millisecond) // nothing tells that the key has not counted
		}
	}
	w.t.Fatalf("%q does not count:\n%s", key, w.screen())
	return at
}

// promptHeading is the heading of a pane that shows what can be answered.
var promptHeading = regexp.MustCompile(`. (allow|answer|plan|form)\? [─━]`)

// asks reports whether the pane, and not only a row of the list or a step below, asks for an answer
// to a prompt.
func (w *window) asks(prompt string) bool {
	s := w.screen()
	at := promptHeading.FindStringIndex(s)
	if at == nil {
		return false
	}
	pane, _, _ := strings.Cut(s[at[1]:], "\n You asked")
	return strings.Contains(pane, prompt)
}

// answers waits for a prompt on the deck's screen and presses keys, each as a user does who
// has read what is there. What was answered keeps its place for a moment, in which the pane
// asks nothing.
func (w *window) answers(d *driver, prompt string, keys ...key) {
	d.t.Helper()
	asked := func() bool { return w.asks(prompt) }
	testwait.For(d.t, "the screen asks "+prompt, w.screen, func(string) bool { return steady(asked)() })
	for _, k := range keys {
		w.keyed(k.press, func() bool {
			if k.shows != "" {
				return strings.Contains(w.screen(), k.shows)
			}
			return !asked()
		})
	}
}

// steady tells whether something is so at two looks: a screen may be read while half of a
// frame is drawn, with lines of the one before.
func steady(is func() bool) func() bool {
	return func() bool {
		if !is() {
			return false
		}
		time.Sleep(100 * time.Millisecond) // the looks must be apart
		return is()
	}
}

// waitingHooks are the processes of hooks that wait in the project.
func waitingHooks(d *driver) (n int) {
	d.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, link := range all {
		dir, _ := os.Readlink(link) // it may have ended
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if dir == d.project && strings.HasPrefix(string(line), smallHook(d.t)) {
			n++
		}
	}
	return n
}

// settled waits until the deck shows no prompt, and no hook of one is left.
func settled(d *driver, deck *window) {
	d.t.Helper()
	d.until("no prompt and no hook", func() bool { return d.open()+waitingHooks(d) == 0 })
	d.until("a screen that asks nothing", func() bool { return !promptHeading.MatchString(deck.screen()) })
}

// open is how many prompts of any kind the deck has.
func (d *driver) open() int {
	d.t.Helper()
	out, _ := d.command("ask", "list").Output()
	return strings.Count(string(out), "claude")
}

// accepts presses a key in Claude Code's dialog.
func (c *coder) accepts(key string) (at time.Time) {
	c.t.Helper()
	const dialog = "Esc to cancel"
	c.shows(c.d, dialog)
	return c.again(key, func() bool { return !strings.Contains(c.screen(), dialog) })
}

// takes chooses an option of Claude Code's dialog by its number.
func (c *coder) takes(option string) time.Time {
	c.t.Helper()
	var digit string
	c.d.until("the option "+option, func() bool {
		found := regexp.MustCompile(`(\d)\. ` + option).FindStringSubmatch(c.screen())
		if found != nil {
			digit = found[1]
		}
		return found != nil
	})
	return c.accepts(digit)
}

// TestWhatTheRealTerminalAnswersLeavesTheDeck answers in Claude Code's own dialogs: the
// prompt leaves the deck and its hook ends while the model, and with it Claude Code, does
// nothing else, and a key that comes late in the deck answers nothing.
func TestWhatTheRealTerminalAnswersLeavesTheDeck(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	file := filepath.Join(d.project, "f.txt")
	const no, esc, over = "No", "esc", "doesn't want to proceed"
	rows := []struct {
		step   mockmodel.Step
		shown  string // in the terminal
		option string // that is chosen there
		want   string // in what the model is sent back
	}{
		{bash(t, "mkdir -p made"), "mkdir -p made", "Yes", "no output"},
		{bash(t, "make -v > v"), "make -v > v", "Yes, and .*(always|again)", ""},
		{bash(t, "mkdir -p denied0"), "mkdir -p denied0", no, over},
		{bash(t, "mkdir -p denied1"), "mkdir -p denied1", esc, over},
		{mockmodel.Step{Tool: "Write", Args: marshalled(t, map[string]string{"file_path": file, "content": "one\ntwo\n"})}, "f.txt", "Yes", "File created"},
		{mockmodel.Step{Tool: "mcp__paint__echo", Args: marshalled(t, map[string]string{"text": "hello"})}, "hello", "Yes", "hello"},
		{asksUser(t, question("Which one?", false)), "Which one?", "green", "green"},
		{asksUser(t, question("Which other one?", false)), "Which other one?", esc, over},
		{mockmodel.Step{Tool: "Edit", Args: marshalled(t, map[string]string{"file_path": file, "old_string": "two", "new_string": "three"})}, "f.txt", "Yes", "has been updated"},
		{bash(t, "touch slow; while [ -e slow ]; do sleep 1; done"), "touch slow", "Yes", ""},
	}
	next := make(chan struct{}, len(rows))
	var steps []mockmodel.Step
	for _, r := range rows {
		r.step.Before = func() { <-next }
		steps = append(steps, r.step)
	}
	model := mockmodel.New(t, "", steps...)
	t.Cleanup(func() { close(next) })
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := runClaude(d, model)
	var itemGone, hookGone []time.Duration
	for i, r := range rows {
		next <- struct{}{}
		d.until("a prompt in the deck", func() bool { return d.open() > 0 })
		deck.shows(d, r.shown)
		c.shows(d, r.shown)
		time.Sleep(time.Second) // as long as it takes a user to read
		var at time.Time
		if r.option == esc {
			at = c.accepts("\x1b")
		} else {
			at = c.takes(r.option)
		}
		d.until("no prompt in the deck", func() bool { return d.open() == 0 })
		itemGone = append(itemGone, time.Since(at).Round(10*time.Millisecond))
		d.until("no hook", func() bool { return waitingHooks(d) == 0 })
		hookGone = append(hookGone, time.Since(at).Round(10*time.Millisecond))
		deck.press("y\r") // late
		if r.want == over {
			c.says("go")
		}
		if i+1 == len(rows) {
			if model.Seen()[i].Result != "" {
				t.Error("the last command had ended before its prompt left")
			}
		}
	}
	t.Logf("from the key in the terminal until the prompt left: %v, and until its hook had ended: %v", itemGone, hookGone)
	for i, r := range rows[:len(rows)-1] {
		if got := model.Seen()[i].Result; !strings.Contains(got, r.want) || got == "" {
			t.Errorf("step %d: the model gets %s, want %s", i+1, got, r.want)
		}
	}
	if done, _ := filepath.Glob(filepath.Join(d.project, "denied*")); len(done) > 0 {
		t.Errorf("what was denied was done: %q", done)
	}
	settled(d, deck)
}

// TestAHookThatIsEndedLeavesItsPromptToTheRealTerminal has hooks end of their own without an
// answer: Claude Code ends one that waits for longer than the user has set, and one ends
// itself that hears nothing of a stopped deck. The terminal asks then, and nothing was
// answered there before it is.
func TestAHookThatIsEndedLeavesItsPromptToTheRealTerminal(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	for name, tt := range map[string]struct {
		timeout string // of the hooks
		sub     bool   // a sub-agent asks, for whom the terminal shows nothing while its hook waits
		stopped bool   // the deck is, while the prompt waits
	}{
		"Claude Code ends the hook":                {timeout: "5"},
		"Claude Code ends the hook of a sub-agent": {timeout: "5", sub: true},
		"the deck is stopped":                      {timeout: "86400", stopped: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			claudeHome(d)
			settings := filepath.Join(d.home, ".claude", "settings.json")
			text, err := os.ReadFile(settings)
			if err != nil {
				t.Fatal(err)
			}
			d.puts(settings, []byte(strings.ReplaceAll(string(text), "86400", tt.timeout)))
			model := mockmodel.New(t, "", bash(t, "mkdir made"))
			if tt.sub {
				model = mockmodel.New(t, "", subAgent(t, "HELPER"))
				model.Script("HELPER", bash(t, "mkdir made"))
			}
			deck := d.serve()
			c := runClaude(d, model)
			d.until("a prompt in the deck", func() bool { return d.prompted() == 1 })
			if tt.stopped {
				if err := deck.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = deck.Process.Signal(syscall.SIGCONT) }) // it may have ended
			}
			d.until("no hook", func() bool { return waitingHooks(d) == 0 })
			if tt.stopped {
				if err := deck.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
			}
			c.shows(d, "Do you want to proceed?")
			d.until("the deck has let it go", func() bool { return d.prompted() == 0 })
			d.until("what became of it", func() bool { return len(d.became()) > 0 })
			for range 30 { // which is longer than it takes to look at what is recorded
				if got := d.became(); len(got) != 1 || got[0] != ask.EndGone {
					t.Fatalf("it says %q while the terminal asks:\n%s", got, c.screen())
				}
				time.Sleep(100 * time.Millisecond) // nothing tells that it will not say more
			}
			c.accepts("\r")
			d.until("it is said who has answered", func() bool {
				got := d.became()
				return len(got) == 1 && got[0] == ask.EndElsewhere
			})
			if _, err := os.Stat(filepath.Join(d.project, "made")); err != nil {
				t.Error(err)
			}
		})
	}
}
