package inbox_test

import (
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
