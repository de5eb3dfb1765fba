//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// judgedByTheModel is a version whose auto mode asks the model itself. That of later ones has a verdict of the
// vendor's service come with the answer, which a model that stands in cannot give.
const judgedByTheModel = "2.1.197"

// What the model that judges says, and for what reason.
const (
	deniedFor = "[Unnamed host] the task names no such host"
	deniedSo  = "<block>yes</block><reason>" + deniedFor + "</reason>"
)

// judgedCommand returns the program whose model judges, a command that auto mode would ask about, and how often
// that has run.
func judgedCommand(t *testing.T) (path, command string, ran *atomic.Int32) {
	t.Helper()
	realtest.On(t)
	if path = realtest.Claudes(t)[judgedByTheModel]; path == "" {
		t.Skip("not of the version whose model judges: " + judgedByTheModel)
	}
	ran = new(atomic.Int32)
	host := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { ran.Add(1) }))
	t.Cleanup(host.Close)
	return path, "curl -sS " + host.URL + "/x", ran
}

// TestWhatTheRealAutoModeDeniesIsListedAndAllowedExactly has auto mode refuse a command, with the hook that tells
// the deck and without: the model is told the same. The deck then writes the exact rule, by which it runs.
func TestWhatTheRealAutoModeDeniesIsListedAndAllowedExactly(t *testing.T) {
	t.Parallel()
	path, command, ran := judgedCommand(t)
	refused := func(hooked bool) (*driver, *mockmodel.Server, *window) {
		d := newDriver(t)
		d.coder = path
		judgedHome(d, hooked)
		model := mockmodel.New(t, "", bash(t, command), mockmodel.Step{Says: "END"}, bash(t, command))
		model.Judges(deniedSo)
		deck := d.window("--page", "inbox")
		deck.wide()
		deck.shows(d, "Inbox")
		judgeStep(d, model, 0)
		return d, model, deck
	}
	_, alone, _ := refused(false)
	d, model, deck := refused(true)
	told := model.Seen()[0].Result
	if told != alone.Seen()[0].Result || !strings.Contains(told, "the task names no such host") || ran.Load() != 0 {
		t.Fatalf("with the hook, the model is told %s, without it %s; it ran %d times", told, alone.Seen()[0].Result, ran.Load())
	}
	deck.shows(d, "Denied by auto mode")
	deck.showsDenied(d, "━ Denied 1 ")
	deck.shows(d, deniedFor)
	deck.keyed("a", func() bool { return strings.Contains(deck.screen(), "Have exactly this allowed?") })
	deck.keyed("y", func() bool { return strings.Contains(deck.screen(), "takes it back") })
	b, err := os.ReadFile(filepath.Join(d.project, ".claude", "settings.local.json"))
	if err != nil || !strings.Contains(string(b), `"Bash(`+command+`)"`) {
		t.Fatalf("%v, the file is\n%s", err, b)
	}
	judgeStep(d, model, 2)
	if told := model.Seen()[2].Result; ran.Load() != 1 {
		t.Errorf("allowed exactly, it ran %d times: %s", ran.Load(), told)
	}
}

// TestWhatTheRealAutoModeDeniesIsTriedAgain has the user let a denied command be tried again, which is judged
// again. A user who is too late is asked at the next try.
func TestWhatTheRealAutoModeDeniesIsTriedAgain(t *testing.T) {
	t.Parallel()
	path, command, ran := judgedCommand(t)
	const told, tries = "The PermissionDenied hook indicated you may retry this tool call.", 8
	var model *mockmodel.Server
	var steps []mockmodel.Step
	for range tries {
		step := bash(t, command)
		step.Before = func() {
			go func() { // the model's answer waits for it to return
				if all := model.Bodies(); strings.Contains(all[len(all)-1], told) {
					model.Judges("<block>no</block>")
				}
			}()
		}
		steps = append(steps, step)
	}
	model = mockmodel.New(t, "", steps...)
	model.Judges(deniedSo)
	d := newDriver(t)
	d.coder = path
	judgedHome(d, true)
	d.configure("[denied]\nhold = \"20s\"\n")
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := startClaude(d, model, "auto")
	c.shows(d, "auto mode on")
	c.says("go")
	deck.shows(d, "again?")
	deck.shows(d, "the task names no such host")
	if ran.Load() != 0 {
		t.Error("what was denied ran")
	}
	deck.keyed("r", func() bool { return slices.Contains(d.became(), ask.EndMayRetry) })
	d.until("the command to run", func() bool { return ran.Load() > 0 })
	d.until("the end", func() bool { return model.Seen()[tries-1].Result != "" })
	if all := model.Bodies(); strings.Count(all[len(all)-1], told) != 1 {
		t.Errorf("one key has it told %d times", strings.Count(all[len(all)-1], told))
	}
}

// judgedHome is claudeHome for auto mode, with the hook that tells the deck what it denies or without.
func judgedHome(d *driver, hooked bool) {
	d.t.Helper()
	claudeHome(d)
	d.rewrites(filepath.Join(d.home, ".claude", "settings.json"), func(o map[string]any) {
		o["skipAutoPermissionPrompt"] = true
		if hooked {
			o["hooks"].(map[string]any)["PermissionDenied"] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": smallHook(d.t) + " claude", "timeout": 25}}}}
		}
	})
}

// judgeStep has a new session make a call of its model's script in auto mode.
func judgeStep(d *driver, model *mockmodel.Server, step int) {
	d.t.Helper()
	c := startClaude(d, model, "auto")
	c.shows(d, "auto mode on")
	c.says("go")
	d.until("the end of the call", func() bool { return model.Seen()[step].Result != "" })
}
