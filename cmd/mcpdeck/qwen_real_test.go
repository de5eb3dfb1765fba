//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// openQwen is the real Qwen Code in a terminal, with a model that follows a script.
func openQwen(d *driver, model *mockmodel.Server) *window {
	d.t.Helper()
	return openQwenIn(d, "default", model)
}

func openQwenIn(d *driver, mode string, model *mockmodel.Server) *window {
	d.t.Helper()
	program, node := realtest.Agent(d.t, "qwen"), realtest.Agent(d.t, "node")
	c := d.command()
	c.Path, c.Args = program, []string{program, "--approval-mode", mode}
	for i, v := range c.Env {
		if strings.HasPrefix(v, "PATH=") {
			c.Env[i] = "PATH=" + filepath.Dir(node) + ":" + d.path
		}
	}
	c.Env = append(c.Env, "OPENAI_BASE_URL="+model.URL+"/v1", "OPENAI_API_KEY=mock", "OPENAI_MODEL=mock")
	w := d.terminal(c)
	w.tall(40, w.tty) // it asks its terminal about itself
	return w
}

// qwenHome has Qwen Code start without a question.
func qwenHome(d *driver) {
	d.t.Helper()
	d.makes(filepath.Join(d.home, ".qwen/settings.json"), `{"security":{"auth":{"selectedType":"openai"}},"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"ui":{"enableFollowupSuggestions":false},"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false,"enableAutoSkill":false}}`)
}

// says gives Qwen Code its task.
func (w *window) says(d *driver, task string) {
	w.t.Helper()
	w.shows(d, "Type your message")
	w.press(task)
	w.shows(d, "> "+task)
	w.patiently("\r", func() bool { // a second one may answer a dialog
		return strings.Contains(w.screen(), "esc to cancel") || strings.Contains(w.screen(), "Waiting for user")
	})
}

// makes is a step that makes a folder.
func makes(t *testing.T, folder string) mockmodel.Step {
	t.Helper()
	return mockmodel.Step{Tool: "run_shell_command", Args: marshalled(t, map[string]any{"command": "mkdir -p " + folder, "is_background": false})}
}

func (d *driver) made(folder string) bool {
	_, err := os.Stat(filepath.Join(d.project, folder))
	return err == nil
}

// TestTheRealQwenIsAnsweredInTheDeckOrItsTerminal has what Qwen Code asks answered in both.
func TestTheRealQwenIsAnsweredInTheDeckOrItsTerminal(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	ownProgram(d)
	answersHeld(d, asksQwen(d))
}

// asker is a real agent whose permissions are answered.
type asker struct {
	id     string         // in the table of clients
	setup  []string       // arguments of mcpdeck setup, which follow the id
	held   bool           // its terminal shows nothing while its hook waits for the deck
	dialog *regexp.Regexp // finds in its terminal the folder for which it asks
	done   string         // what its model is told of a command that ran
	opens  func(*driver, *mockmodel.Server) *window
	makes  func(t *testing.T, folder string) mockmodel.Step
	says   func(w *window, task string)
	stops  func(w *window, stopped func() bool) // in its terminal, what waits
}

// asksQwen gives Qwen Code a home.
func asksQwen(d *driver) asker {
	d.t.Helper()
	qwenHome(d)
	return asker{
		id: "qwen", held: true, dialog: folderAbove("Yes, allow once"), done: "Exit Code: 0",
		opens: openQwen, makes: makes, says: func(w *window, task string) { w.says(d, task) },
		stops: func(w *window, stopped func() bool) { w.again("\x1b", stopped) },
	}
}

// answersHeld has one permission allowed and one denied in the deck, one answered in the terminal
// and one stopped there, and then kills the deck while three wait, and removes its program before
// two more. Each time it is the folder, or what the model is told, that says what became of it: a hook
// that failed could deny.
func answersHeld(d *driver, p asker) {
	t := d.t
	t.Helper()
	d.setUp(append(p.setup, p.id)...)
	var steps []mockmodel.Step
	held, without := []string{"five", "five2", "five3"}, []string{"six", "seven"}
	for _, folder := range slices.Concat([]string{"one", "two", "three", "four"}, held, without) {
		step := p.makes(t, folder)
		step.Along = slices.Index(held, folder) > 0
		steps = append(steps, step)
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	w := p.opens(d, model)
	p.says(w, "go")

	deck.answers(d, "mkdir -p one", key{"y", ""})
	if got := toldOf(d, model, 0); !d.made("one") || !strings.Contains(got, p.done) {
		t.Errorf("of what was allowed the model gets %s", got)
	}
	deck.answers(d, "mkdir -p two", key{"n", ""})
	if got := toldOf(d, model, 1); d.made("two") || !strings.Contains(got, "the user denied this") {
		t.Errorf("of what was denied the model gets %s", got)
	}
	deck.answers(d, "mkdir -p three", key{"J", "answer in its terminal"})
	w.consents(d, p.dialog, "three")
	toldOf(d, model, 2)
	d.until("the next prompt alone", func() bool { return waitsIn(d, p.id) == 1 })

	deck.answers(d, "mkdir -p four")
	p.stops(w, func() bool { return waitsIn(d, p.id) == 0 })
	if d.made("four") {
		t.Error("what was stopped was done")
	}
	p.says(w, "more")
	d.until("three prompts", func() bool { return waitsIn(d, p.id) == len(held) })
	waitsAfter(d, p.id, "more")
	killed := time.Now()
	d.kill(deck.cmd)
	w.consents(d, p.dialog, held...)
	t.Logf("%d permissions answered %s after the deck was killed", len(held), time.Since(killed).Round(time.Millisecond))

	if err := os.Remove(d.program); err != nil {
		t.Fatal(err)
	}
	w.consents(d, p.dialog, without...)
	w.shows(d, "END")
}

// folderAbove finds the folder that a dialog is about, in its command above some words of it, and
// folderBelow in its command below them.
func folderAbove(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)^.*mkdir (?:-p )?(\S+).*?` + regexp.QuoteMeta(words))
}

func folderBelow(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)` + regexp.QuoteMeta(words) + `.*?mkdir (?:-p )?(\S+)`)
}

// askedFor is the folder of the dialog in an agent's terminal, or "".
func (w *window) askedFor(dialog *regexp.Regexp) string {
	found := dialog.FindStringSubmatch(w.screen())
	if found == nil {
		return ""
	}
	return found[1]
}

// consents agrees to the making of folders, each in a dialog of its own, and waits until all are made.
// Of what is asked at once an agent may show any first, and make none before all are answered. When
// a key is taken late, the one after it may answer what is asked next, so a dialog need not be seen here;
// but in the window there are as many keys as folders, or one was made without a dialog. It returns when
// the last key was pressed.
func (w *window) consents(d *driver, dialog *regexp.Regexp, folders ...string) (at time.Time) {
	w.t.Helper()
	made := func() bool {
		return !slices.ContainsFunc(folders, func(f string) bool { return !d.made(f) })
	}
	for !made() {
		var asked string
		d.until(fmt.Sprintf("to be asked for %q", folders), func() bool {
			asked = w.askedFor(dialog)
			return slices.Contains(folders, asked) || made()
		})
		if made() {
			break
		}
		w.repeat(func(key string) {
			if w.askedFor(dialog) == asked {
				at = time.Now()
				w.consented++
				w.press(key)
			}
		}, "\r", func() bool { return w.askedFor(dialog) != asked })
	}
	if w.consented -= len(folders); w.consented < 0 {
		w.t.Errorf("of %q, some were made without a dialog", folders)
	}
	return at
}

// toldOf waits for what a model is told of a step.
func toldOf(d *driver, model *mockmodel.Server, step int) string {
	d.t.Helper()
	d.until("what the model is told", func() bool { return model.Seen()[step].Result != "" })
	return model.Seen()[step].Result
}

// waitsAfter waits until the row of an agent's session says that it asks, what it was asked
// last, and that it has used tokens.
func waitsAfter(d *driver, agent, prompt string) {
	d.t.Helper()
	d.until("its row", func() bool {
		return slices.ContainsFunc(d.listed(), func(s sessions.Session) bool {
			return s.Agent == agent && s.State == string(snapshot.WaitsForPermission) && s.Title == prompt && s.Tokens.In > 0
		})
	})
}

// waitsIn is how many prompts of an agent are open.
func waitsIn(d *driver, agent string) int {
	d.t.Helper()
	out, _ := d.command("ask", "list").Output()
	return strings.Count(string(out), agent)
}

// ownProgram gives the driver a name of its own for the program, which the test may remove. A copy
// could not be started while another test that starts something has inherited it, open to be written.
func ownProgram(d *driver) {
	d.t.Helper()
	own := filepath.Join(d.home, "mcpdeck")
	if err := os.Link(d.program, own); err != nil {
		d.t.Fatal(err)
	}
	d.program = own
}
