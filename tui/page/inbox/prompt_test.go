package inbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func (d *driver) prompt(r questions.Request) *questions.Call {
	d.t.Helper()
	c, err := d.q.Open(r)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// prompted opens prompts and waits until keys count.
func prompted(t *testing.T, test func(d *driver, calls []*questions.Call), requests ...questions.Request) {
	t.Helper()
	setup{page: page.Options{Home: "/home/ann"}}.run(t, func(d *driver) {
		var calls []*questions.Call
		for _, r := range requests {
			calls = append(calls, d.prompt(r))
		}
		d.Wait(5 * time.Second)
		test(d, calls)
	})
}

func chosen(t *testing.T, r questions.Reply) (label, note string) {
	t.Helper()
	if len(r.Results) != 1 || len(r.Results[0].SelectedOptions) != 1 {
		t.Fatalf("the reply is %+v", r)
	}
	return r.Results[0].SelectedOptions[0], r.Results[0].Note
}

func TestEachKeyGivesThePermissionThatStandsBesideIt(t *testing.T) {
	for keys, want := range map[string]string{
		"y": "Allow once", "n": "Deny", "a enter y": "Allow for this session", "x": "Deny and stop the turn",
		"1": "Allow once", "3 y": "Always", "6": "Deny and stop the turn", "enter enter": "Allow once", "enter down down enter y": "Always",
		"m 'use_go_vet enter": "Deny with a message", "5 'use_go_vet enter": "Deny with a message",
	} {
		prompted(t, func(d *driver, calls []*questions.Call) {
			d.press(strings.Fields(keys)...)
			label, note := chosen(t, d.reply(calls[0]))
			if label != want || (note == "use_go_vet") != strings.Contains(keys, "'") {
				t.Errorf("%s gives %q with the note %q, want %q", keys, label, note, want)
			}
		}, bash("1", "make"))
	}
}

// What lasts is read and given by itself: no key gives it from the list of options.
func TestWhatLastsIsGivenByItselfOnceItsWordsWereRead(t *testing.T) {
	for _, key := range []string{"2", "3"} {
		prompted(t, func(d *driver, calls []*questions.Call) {
			d.Keys("Y")
			d.notSent(calls[0])
			d.Keys(key)
			d.Has("Allow this more than once?")
			d.Quick("y", "enter") // before it can have been read
			d.notSent(calls[0])
			d.Keys("esc", key, "y")
			if label, _ := chosen(t, d.reply(calls[0])); label != map[string]string{"2": "Allow for this session", "3": "Always"}[key] {
				t.Errorf("%s gave %q", key, label)
			}
		}, bash("1", "make"))
	}
}

// A long effect is read to its end.
func TestAnEffectThatIsNotWhollyShownIsNotGiven(t *testing.T) {
	r := bash("1", "make")
	r.Prompt.Grants = slices.Clone(r.Prompt.Grants)
	r.Prompt.Grants[2].Effect = strings.Repeat("Bash(make:*)\n", 80)
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Keys("3", "y")
		d.Has("not shown yet")
		d.notSent(calls[0])
		for range 30 {
			d.Keys("pgdown")
		}
		d.Has("rows shown")
		d.Keys("y")
		d.reply(calls[0])
	}, r)
}

func TestWhatIsNotConfirmedIsAllowedOnceOnly(t *testing.T) {
	r := bash("1", "make")
	r.Prompt.Unconfirmed = true
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Has("not offered")
		for _, option := range []string{"Allow for this session", "Always"} {
			result := questions.Result{ID: "permission", SelectedOptions: []string{option}}
			if err := d.q.Answer(1, []questions.Result{result}); err == nil {
				t.Errorf("%s was given", option)
			}
		}
		d.Keys("2")
		d.Has("it can only be allowed once")
		d.Keys("enter")
		d.notSent(calls[0])
	}, r)
}

func TestAKeyForWhatTheAgentDoesNotOfferSaysSo(t *testing.T) {
	r := bash("1", "make")
	r.Questions[0].Options, r.Prompt.Grants = r.Questions[0].Options[:1:1], r.Prompt.Grants[:1:1]
	prompted(t, func(d *driver, calls []*questions.Call) {
		for _, key := range []string{"n", "Y", "x", "2", "9"} {
			d.Keys(key)
		}
		d.notSent(calls[0])
		d.Keys("n")
		d.Has("the agent does not offer this")
	}, r)
}

func TestANoteThatIsBlankDeniesNothing(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.press("m", "enter", "' ", "enter")
		d.Has("type a message, or esc")
		d.press("esc")
		d.notSent(calls[0])
		d.Has("▌  5 Deny with a message")
	}, bash("1", "make"))
}

func TestADigitAloneGivesNothingThatLasts(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		for _, digit := range []string{"2", "3"} {
			d.Keys(digit)
			d.Has("Allow this more than once?")
			d.notSent(calls[0])
			d.Keys("esc")
		}
		d.Keys("1")
		if label, _ := chosen(t, d.reply(calls[0])); label != "Allow once" {
			t.Errorf("got %q", label)
		}
	}, bash("1", "make"))
}

func TestWhatLastsIsUnderTheCursorIfItWasAskedFor(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Send(tui.ShowQuestionMsg{ID: 1, Lasting: true})
		d.Wait(time.Second)
		d.Has("▌  2 Allow for this session", "to see exactly what it allows")
		d.notSent(calls[0])
		d.Keys("enter", "y")
		if label, _ := chosen(t, d.reply(calls[0])); label != "Allow for this session" {
			t.Errorf("got %q", label)
		}
	}, bash("1", "make"))
}

func TestKeysDoNothingUntilAPermissionCanHaveBeenRead(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		d.Wait(5 * time.Second) // the page is idle, so the permission comes by itself
		c := d.prompt(bash("1", "make"))
		d.Wait(100 * time.Millisecond)
		d.Keys("y")
		d.Has("make", "just arrived")
		d.Quick("enter", "1")
		d.notSent(c)
		d.Keys("y")
		d.reply(c)
	})
}

func TestTheNextPermissionDoesNotSlideUnderAKey(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Quick("y", "y", "y")
		d.reply(calls[0])
		d.notSent(calls[1])
	}, bash("1", "make"), bash("2", "make install"))
}

func TestAClickNeverGivesAPermission(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		for y, l := range strings.Split(d.Text(), "\n") {
			if strings.Contains(l, "Always") {
				d.Click(8, y)
				d.Click(8, y)
			}
		}
		d.notSent(calls[0])
		d.Has("› 3 Always")
		if d.first().Chosen != nil {
			t.Errorf("chosen: %v", d.first().Chosen)
		}
	}, bash("1", "make"))
}

func TestAPromptThatMayBeSettledSaysSo(t *testing.T) {
	const words = "may be settled: nothing tells when its terminal answers"
	prompted(t, func(d *driver, calls []*questions.Call) {
		calls[0].Watched(false)
		d.Wait(time.Second)
		if text := d.Text(); !strings.Contains(text, words) {
			t.Errorf("it does not say so:\n%s", text)
		}
		calls[0].Watched(true)
		d.Wait(time.Second)
		if text := d.Text(); strings.Contains(text, words) {
			t.Errorf("it still says so:\n%s", text)
		}
	}, bash("1", "make"))
}

func TestAHeldPermissionIsLetGoToItsTerminal(t *testing.T) {
	r := bash("1", "make")
	r.Prompt.Door = questions.Held
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Has("kept from its terminal", "J terminal")
		d.Keys("J")
		<-calls[0].Released()
		d.Has("answer in its terminal")
		d.Lacks("kept from its terminal", "y allow once")
		d.Wait(time.Second)
		d.Keys("y", "1", "n", "x", "m")
		d.notSent(calls[0])
	}, r)
}

// jumper notes where it is asked to go.
type jumper struct {
	to  []string
	err error
}

func (j *jumper) jump(r questions.Request) (string, error) {
	j.to = append(j.to, r.Prompt.ID)
	return "", j.err
}

func TestWhatOnlyItsTerminalAnswersIsShownAndLeadsThere(t *testing.T) {
	r := bash("7", "npm test")
	r.Prompt.Door = questions.InTerminal
	j := &jumper{}
	setup{page: page.Options{Jump: j.jump}}.run(t, func(d *driver) {
		c := d.prompt(r)
		d.Wait(5 * time.Second)
		d.Has("answer in its terminal", "npm test")
		d.Lacks("1 Allow once", "enter choose")
		d.Keys("enter", "J")
		same(t, j.to, []string{"7"})
		j.err = errors.New("no terminal is known")
		d.Keys("enter")
		d.Has("no terminal is known")
		d.notSent(c)
	})
	prompted(t, func(d *driver, _ []*questions.Call) {
		d.Keys("enter", "enter")
		d.Has("this deck cannot go to a terminal")
	}, r)
}

func TestATextThatOnlyItsTerminalTakesIsNotTypedHere(t *testing.T) {
	r := bash("7", "")
	r.Prompt.Kind, r.Prompt.Door, r.Prompt.Grants = questions.OwnQuestion, questions.InTerminal, nil
	r.Questions = []questions.Question{{ID: "secret", Question: "Which token?", Kind: questions.Text, AllowOther: true, Required: true}}
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Has("Which token?", "answer in its terminal")
		d.Type("abc")
		d.Keys("enter")
		d.notSent(calls[0])
		if s := d.first().Other; s != "" {
			t.Errorf("%q was typed", s)
		}
	}, r)
}

func TestWhatWasSettledElsewhereIsSaidAndKeysDoNothingMeanwhile(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Has("make all")
		calls[0].Settled("answered in its terminal: allowed")
		d.Wait(100 * time.Millisecond)
		d.Has("answered in its terminal: allowed", "make all")
		d.Lacks("Allow once")
		d.Keys("y", "n", "1", "enter")
		d.Has("answered in its terminal: allowed")
		d.Wait(6 * time.Second)
		d.Has("make install", "Allow once")
		d.notSent(calls[1])
		d.Keys("y")
		d.reply(calls[1])
	}, bash("1", "make all"), bash("2", "make install"))
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.press("m", "'use go ve")
		calls[0].Leave("the agent ended")
		d.press("'t quit now", "enter")
		d.Has("gone: the agent ended")
		d.Keys("esc")
		d.Has("Nothing needs you")
	}, bash("1", "make all"))
}

func TestAQuestionThatWasAnsweredInItsTerminalLeavesUnlessItHasADraft(t *testing.T) {
	own := bash("1", "")
	own.Prompt.Kind, own.Prompt.Grants = questions.OwnQuestion, nil
	own.Questions = []questions.Question{{ID: "q1", Question: "Which one?", Kind: questions.Choice, Required: true, AllowOther: true, Options: []questions.Option{{Label: "red"}, {Label: "green"}}}}
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Has("Which one?", "2 green")
		calls[0].Settled("answered in its terminal")
		d.Wait(100 * time.Millisecond)
		d.Has("answered in its terminal", "Which one?")
		d.Lacks("2 green", "Allow once")
		d.Keys("1", "enter")
		d.Wait(6 * time.Second)
		d.Has("make install", "Allow once")
		d.notSent(calls[1])
	}, own, bash("2", "make install"))
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.press("o", "'blue")
		calls[0].Settled("answered in its terminal")
		d.Wait(100 * time.Millisecond)
		d.Has("blue", "no agent is waiting for this")
	}, own)
}

func TestOneThatIsNotSelectedKeepsItsRowForAWhile(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		calls[1].Settled("answered in its terminal: allowed")
		d.Wait(100 * time.Millisecond)
		d.Has("make all", "Allow once", "answered in its terminal: allowed: Bash  make inst")
		d.Wait(6 * time.Second)
		d.Lacks("make inst")
	}, bash("1", "make all"), bash("2", "make install"))
}

func TestAPermissionLeavesAQuestionWithADraftOnScreen(t *testing.T) {
	setup{ask: []string{abc}}.run(t, func(d *driver) {
		d.press("f6", "'my note")
		d.prompt(bash("1", "make"))
		d.Wait(20 * time.Second)
		d.Has("my note", "Which?")
		d.Lacks("make")
	})
}

func TestQuittingLeavesPermissionsToTheirTerminals(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Keys("q")
		d.Lacks("Quit mcpdeck?")
		d.notSent(calls[0])
	}, bash("1", "make"))
}

func TestADeckThatOnlyWatchesShowsAPermission(t *testing.T) {
	setup{page: page.Options{Watch: true}}.run(t, func(d *driver) {
		c := d.prompt(bash("1", "make"))
		d.Wait(5 * time.Second)
		d.Keys("enter")
		d.Wait(time.Second)
		d.Has("make", "Allow once")
		d.Keys("y", "enter", "1", "n", "m", "t")
		d.notSent(c)
	})
}

func TestTheWholeTextOfAPermission(t *testing.T) {
	prompted(t, func(d *driver, _ []*questions.Call) {
		d.Has("1 echo 0", "lines below, not shown yet")
		d.Lacks("50 echo 49", "99 echo 98")
		d.Keys("d", "pgdown", "pgdown")
		d.Has("50 echo 49")
		d.Keys("end", "esc")
		d.Has("1 echo 0")
	}, bash("1", lines(99)))
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "echo %d\n", i)
	}
	return b.String()
}

func TestTheLastNoteIsOfferedAgainAndNotTheDecision(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.press("m", "'use the linter", "enter")
		d.reply(calls[0])
		d.prompt(bash("2", "make install"))
		d.Wait(5 * time.Second)
		d.Keys("m")
		d.Lacks("use the linter")
		d.Keys("esc", "esc")
		again := d.prompt(bash("3", "make"))
		d.Wait(time.Second)
		d.Keys("j")
		d.Wait(time.Second)
		d.Lacks("use the linter")
		d.notSent(again)
		d.Keys("m")
		d.Has("use the linter")
		d.Keys("enter")
		if label, note := chosen(t, d.reply(again)); label != "Deny with a message" || note != "use the linter" {
			t.Errorf("got %q, %q", label, note)
		}
	}, bash("1", "make"))
}

func TestTheHistorySaysWhoDecidedAndWhatWasGranted(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Keys("3", "y")
		d.reply(calls[0])
		calls[0].Delivered(questions.Delivered)
		calls[1].Settled("answered in its terminal: allowed")
		d.Wait(10 * time.Second)
		d.Keys("H")
		d.Has("✓ claude api  Answered in its terminal: allowed: make install", "✓ claude api  Allowed from now on: make ")
		d.Keys("j")
		d.Has(" claude in ~/src/api", "  Always: Bash(make:*) in this project")
	}, bash("1", "make"), bash("2", "make install "+strings.Repeat("x", 100)))
}

func TestNothingIsMarkdownInAPermission(t *testing.T) {
	const command = "rm `*.o` **/all** *x*"
	r := bash("1", command)
	r.Prompt.Path = ""
	r.Questions[0].Options = slices.Clone(r.Questions[0].Options)
	r.Questions[0].Options[0].Label = "Allow `*.o`"
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Has(command, "Allow `*.o`")
		d.Keys("d")
		d.Has(command, "Allow `*.o`")
		d.Keys("esc", "esc")
		d.Has(command)
		d.Keys("enter")
		d.Wait(time.Second)
		d.Keys("y")
		d.reply(calls[0])
		d.Keys("H")
		d.Has("taken yet: "+command, "Bash\n "+command, "Allow `*.o`")
	}, r)
}

func TestPromptFrames(t *testing.T) {
	names := []string{"held", "edit", "long", "arguments", "plan", "own", "terminal"}
	for i, r := range fake.Prompts() {
		for _, size := range []frame.Size{{W: 40, H: 12}, {W: 60, H: 20}, {W: 100, H: 24}, {W: 200, H: 60}} {
			name := fmt.Sprintf("prompt-%s-%dx%d", names[i], size.W, size.H)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				setup{size: size}.run(t, func(d *driver) {
					d.prompt(r)
					d.Wait(5 * time.Second)
					d.Golden(name)
				})
			})
		}
	}
}

func TestWhatACommandMayDoLeavesRoomForIt(t *testing.T) {
	r := bash("1", "cp -r dist ~/www && rsync -a --delete build/ ../site/ && cat .env ~/.ssh/config && echo x >> .git/config")
	r.Prompt.Marks = []string{
		"reads what may be secret: .env, ~/.ssh/config", "changes what may run later: .git/config", "writes outside the project: ~/www, ~/src/site, a path known only when it runs",
		"reads outside the project: ~/src/other/README.md",
	}
	r.Prompt.Notes = []string{"deletes what rsync removes", "reaches the network: rsync, example.com"}
	for _, size := range []frame.Size{{W: 40, H: 12}, {W: 80, H: 24}, {W: 110, H: 34}} {
		setup{size: size}.run(t, func(d *driver) {
			d.prompt(r)
			d.Wait(5 * time.Second)
			if size.W == 40 {
				d.Keys("enter")
			}
			d.Has("cp -r dist")
			d.Golden(fmt.Sprintf("prompt-facts-%dx%d", size.W, size.H))
		})
	}
}

func TestANoteIsDrawnUnderItsOption(t *testing.T) {
	prompted(t, func(d *driver, _ []*questions.Call) {
		d.Keys("m")
		d.Send(tea.PasteMsg{Content: "run the linter first"})
		d.Golden("prompt-note-80x24")
	}, bash("1", "make"))
}
