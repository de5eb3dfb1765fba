package inbox_test

import (
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestWhatWasAnsweredIsSaidInFull(t *testing.T) {
	setup{size: frame.Size{W: 60, H: 40}, ask: []string{
		`[{"question":"Which currency should the cart of the whole shop use?","options":["Euro","Yen"]}]`, `[{"question":"B?","options":["x","y"]}]`,
	}}.run(t, func(d *driver) {
		d.press("wait")
		d.Send(frame.Key("1")) // which is not let go of
		d.Wait(2200 * time.Millisecond)
		d.Has("should the cart of the whole shop", "press j")
	})
}

func TestAQuestionIsOfTheSessionThatIsConnected(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		const folder = "/home/ana/src/shop"
		d.askAs(`[{"question":"Which port?","options":["x","y"]}]`, "codex", folder)
		one := snapshot.Session{Agent: "codex", ID: "1", State: snapshot.Working, Folder: folder}
		two := one
		two.ID, two.State, two.Connection = "2", snapshot.WaitsForAnswer, "codex"+folder
		d.Send(tui.SessionsMsg{Sessions: []snapshot.Session{one, two}})
		d.Has("codex shop#2  answer?")
	})
}

func TestOfAPromptThatIsGoneNothingSaysThatItWasAnswered(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		calls[0].Gone("")
		d.Wait(time.Second) // keys count again
		for _, key := range []string{"y", "enter", "1"} {
			d.Keys(key)
			d.Has("gone; answer in its terminal")
			d.Lacks("answered", "allowed")
		}
	}, bash("1", "make all"))
}
