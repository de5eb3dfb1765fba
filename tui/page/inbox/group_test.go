package inbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func ended(calls []*questions.Call) (done []int) {
	for i, c := range calls {
		select {
		case <-c.Done():
			done = append(done, i)
		default:
		}
	}
	return done
}

// marks marks the first permissions of the list.
func (d *driver) marks(n int) {
	for range n {
		d.Keys("space", "j")
	}
}

func TestAGroupIsAnsweredWithOneEnter(t *testing.T) {
	for key, want := range map[string]string{"y": "Allow once", "n": "Deny"} {
		prompted(t, func(d *driver, calls []*questions.Call) {
			d.marks(3)
			d.Keys("space") // of another session
			d.Has("marked", "a common answer needs one session")
			d.Keys("g", key)
			d.Has("make one", "make two", "make three", "[x] 1 of 3")
			d.Lacks("other session")
			d.Wait(5 * time.Second)
			same(t, ended(calls), []int(nil))
			late := d.prompt(bash("6", "make late"))
			d.Wait(time.Second)
			d.Lacks("make late")
			d.Keys("enter")
			d.Wait(5 * time.Second)
			same(t, ended(append(calls, late)), []int{0, 1, 2})
			for _, c := range calls[:3] {
				if label, _ := chosen(t, d.reply(c)); label != want {
					t.Errorf("%s gave %q", key, label)
				}
			}
		}, bash("1", "make one"), bash("2", "make two"), bash("3", "make three"),
			fake.Permission("claude", "/home/ann/src/api", questions.Prompt{ID: "5", Session: "another", Tool: "Bash", Command: "other session"}))
	}
}

func TestWhatIsNotTickedStaysOpen(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.marks(2)
		d.Keys("y", "down", "space", "enter")
		d.Wait(5 * time.Second)
		same(t, ended(calls), []int{0})
	}, bash("1", "make one"), bash("2", "make two"))
}

func TestAGroupAnswersOnlyWhatWasOnScreenInFull(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.marks(2)
		d.Keys("y")
		d.Wait(time.Second)
		d.Has("1 not shown in full")
		d.Keys("enter")
		d.Wait(time.Second)
		same(t, ended(calls), []int{0})
		d.Has("1 allowed once; 1 not shown in full")
		d.Keys("pgdown", "pgdown", "pgdown")
		d.Text()
		d.Keys("y", "enter")
		d.Wait(time.Second)
		same(t, ended(calls), []int{0, 1})
	}, bash("1", "make"), bash("2", lines(50)))
	// The end alone is not the whole.
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.marks(2)
		d.Keys("y")
		d.Wait(time.Second)
		d.Keys("enter")
		d.Wait(time.Second)
		if got := ended(calls); len(got) != 0 {
			t.Errorf("answered: %v\n%s", got, d.Text())
		}
	}, bash("1", lines(50)), bash("2", lines(60)))
}

func TestAGroupShowsNothingTwice(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.marks(2)
		d.Keys("y")
		d.Wait(time.Second)
		calls[0].Settled("answered in its terminal: allowed")
		d.Wait(time.Second)
		d.Lacks("make one")
		d.Has("make two")
		calls[1].Settled("answered in its terminal: allowed")
		d.Wait(time.Second)
		d.Has("Nothing needs you")
	}, bash("1", "make one"), bash("2", "make two"))
}

func TestGroupFrames(t *testing.T) {
	for _, size := range []frame.Size{{W: 40, H: 12}, {W: 80, H: 24}} {
		setup{size: size}.run(t, func(d *driver) {
			for i, cmd := range []string{"make one", lines(8), "rm -rf build && make " + strings.Repeat("all ", 20)} {
				d.prompt(bash(fmt.Sprint(i), cmd))
			}
			d.Wait(5 * time.Second)
			d.marks(3)
			d.Keys("y")
			d.Golden(fmt.Sprintf("prompt-group-%dx%d", size.W, size.H))
		})
	}
}

// Two sub-agents that ask for the same are told apart.
func TestTwinsAreToldApart(t *testing.T) {
	twin := func(id string) questions.Request {
		r := bash(id, "make all")
		r.Prompt.Session, r.Prompt.Subagent = "s", "Explore"
		return r
	}
	other := bash("3", "make install")
	other.Prompt.Session = "s"
	prompted(t, func(d *driver, _ []*questions.Call) {
		d.Has("twin 1 of 2", "twin 2 of 2", "sub-agent Explore")
	}, twin("1"), twin("2"), other)
}
