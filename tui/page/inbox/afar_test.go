package inbox_test

import (
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestWhatIsEnteredInAnotherDeckIsShownUntilTheUserEntersSomething(t *testing.T) {
	setup{ask: []string{deletes}}.run(t, func(d *driver) {
		desk := func(text string) {
			questions.Afar{Queue: d.q, Deck: "desk"}.Draft(1, questions.Draft{Answers: []questions.AnswerDraft{{Other: text, OtherOn: true}}})
			d.Wait(time.Second)
		}
		desk("neither")
		d.Has("“neither”", "being answered in the deck desk")
		desk("neither, since")
		d.Has("“neither, since”")
		d.Wait(2 * time.Minute)
		d.Has("entered in the deck desk")
		d.Lacks("being answered")
		d.Keys("3")
		desk("neither, since it is late")
		d.Has("neither, since")
		d.Lacks("it is late")
		d.Send(frame.Key("!"))
		d.Has("neither, since!", "being answered in the deck desk")
		d.Keys("enter")
		d.Has("do this again to answer anyway: it is being answered in the deck desk")
		d.Keys("enter")
		d.Has("sent to claude")
	})
}

func TestAPermissionThatIsBeingAnsweredInAnotherDeckSaysSo(t *testing.T) {
	prompted(t, func(d *driver, _ []*questions.Call) {
		questions.Afar{Queue: d.q, Deck: "desk"}.Draft(1, questions.Draft{Field: questions.NoteField})
		d.Wait(time.Second)
		d.Has("being answered in the deck desk")
		d.Keys("y")
		d.Has("do this again to answer anyway")
		d.Keys("y")
		d.Lacks("do this again")
		d.Has("sent: Bash")
	}, bash("1", "make all"))
}

func TestWhatWasAnsweredElsewhereSaysWhereAndWhat(t *testing.T) {
	const lap = "lap (SHA256:72261abcb03732448ca164fd4cf5d46d)"
	for how, want := range map[string]string{
		"answered on build1: Yes":                     "answered on build1",
		"answered in the deck " + lap + ": Yes":       "answered in the deck lap",
		"answered in its terminal: in two days' time": "answered in its terminal",
	} {
		with(t, deletes, func(d *driver, c *questions.Call) {
			c.Settled(how)
			d.Wait(10 * time.Second)
			d.Has("→ "+want+": ", "─ claude · shop · "+want+" ─")
			if rows := strings.SplitN(d.Text()+"─ claude", "─ claude", 2); strings.Contains(rows[0], "SHA256") || strings.Contains(how, "SHA256") != strings.Contains(rows[1], "SHA256") {
				t.Errorf("the fingerprint is not in the text alone:\n%s", d.Text())
			}
		})
	}
}

func TestAnAgentThatIsAwayOnItsMachineIsShownSo(t *testing.T) {
	with(t, deletes, func(d *driver, c *questions.Call) {
		d.Keys("esc")
		for absent, says := range map[questions.Absence]string{
			questions.HandedOver: "claude was told to come back for the answer",
			questions.Restarted:  "from before the restart; claude may come back for the answer",
		} {
			c.Away(absent)
			d.Wait(time.Second)
			d.Has("agent away", says)
		}
		c.Away(questions.Gone) // which is told otherwise
		d.Wait(time.Second)
		d.Lacks("away", "come back", "no agent is waiting")
	})
}

func TestWhatWasAnsweredInAnotherDeckIsTitledSo(t *testing.T) {
	with(t, deletes, func(d *driver, c *questions.Call) {
		if err := (questions.Afar{Queue: d.q, Deck: "lap (SHA256:72261abc)"}).Decline(1, "not now"); err != nil {
			t.Fatal(err)
		}
		d.Wait(3 * time.Second)
		c.Delivered(questions.Delivered)
		d.Wait(10 * time.Second)
		d.Has("─ claude · shop · declined in the deck lap ─")
		d.Lacks("lap (SHA256")
	})
}

func TestARequestIsHandedToAnotherDeckTakenBackAndGivenBack(t *testing.T) {
	setup{ask: []string{deletes}}.run(t, func(d *driver) {
		d.Lacks("hand over")
		d.Keys("t")
		d.Has("no other deck may answer this")
		questions.SetDecks(d.q, []string{"desk (SHA256:11)"})
		d.Wait(10 * time.Second)
		d.Has("t hand over")
		d.press("t", "'you know it", "enter")
		d.Has("handed to the deck desk: you know it", "t take back")
		d.Keys("t")
		d.Lacks("handed to")
		questions.SetDecks(d.q, []string{"desk (SHA256:11)", "vm (SHA256:22)"})
		d.Wait(time.Second)
		d.Keys("t", "down", "enter", "enter")
		d.Has("handed to the deck vm")
		d.Lacks("handed to the deck vm:")

		d.Keys("t")
		d.Raw()
		if err := (questions.Afar{Queue: d.q, Deck: "vm (SHA256:22)"}).Hand(1, &questions.Handed{To: "", Note: "yours," + strings.Repeat(" since", 20) + " tomorrow"}); err != nil {
			t.Fatal(err)
		}
		d.Wait(3 * time.Second)
		if raw := d.Raw(); strings.Count(raw, "\x1b]9;") != 1 {
			t.Errorf("it is not announced once: %q", raw)
		}
		d.Has("handed to you by the deck vm: yours, since", "t give back")
		d.Has("tomorrow")
		d.Keys("d")
		d.Has("tomorrow")
		d.Keys("esc")
		d.Keys("t")
		d.Lacks("handed to")
	})
}
