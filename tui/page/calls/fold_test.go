package calls_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// readFourth reads a call with an object of four keys, the third of which is a list of two,
// and with more JSON in its result.
func readFourth(s *frame.Screen) { s.Keys("home", "down", "down", "down", "enter") }

func TestJSONIsFolded(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
		readFourth(s)
		s.Has("▌{")
		s.Keys("space")
		s.Has("▌{… 4 keys}", `type: "image"`)
		s.Lacks("layers", "hero.pxl")
		s.Keys("space", "down", "down", "down", "space")
		s.Has(`file: "hero.pxl"`, "▌  layers: [… 2 items]", "background: null")
		s.Golden("80x24-folded")
		s.Keys("down")
		s.Has("▌  background: null")
		s.Keys("space")
		s.Has("▌{… 4 keys}")
		s.Keys("space")
		s.Has("layers: [… 2 items]") // as it was
		s.Resize(160, 40)
		s.Has("layers: [… 2 items]", "▌{")
	})
}

// An escape sequence that was sent or answered is there to be read, in every way that a call
// is shown.
func TestEscapeSequencesAreShownAsSuch(t *testing.T) {
	show(t, frame.Size{W: 120, H: 60}, func(s *frame.Screen, d *fake.Deck) {
		quoted := func(text string) string { b, _ := json.Marshal(text); return string(b) }
		d.SetBody(4, snapshot.CallBody{
			Args: json.RawMessage(`{"c\u001b[8mommand":` + quoted("ls\x1b[2K\rtrue") + `}`),
			Result: json.RawMessage(`{"content":[{"type":"text","text":` + quoted("plain \x1b[31mred") + `},{"type":"text","text":` + quoted("# A heading\n\n- **bold \x1b[32mgreen**\n- `code \x1b[33myellow`\n") +
				`},{"type":"text","text":` + quoted(`{"a":`+quoted("json \x1b[34mblue")+`}`) + `}],"structuredContent":{"b":` + quoted("data \x1b]0;title\x07") + `}}`),
		})
		readFourth(s)
		s.Has("c<U+001B>[8mommand", "ls<U+001B>[2K<U+000D>true", "plain <U+001B>[31mred", "bold <U+001B>[32mgreen", "code <U+001B>[33myellow", "json <U+001B>[34mblue", "data <U+001B>]0;title<U+0007>")
	})
}

// However many calls there are, the smallest terminal has room for the key that folds.
func TestTheSmallestTerminalSaysHowToFold(t *testing.T) {
	show(t, frame.Size{W: 40, H: 12}, func(s *frame.Screen, d *fake.Deck) {
		for range 2000 {
			d.Add(snapshot.Call{AgentName: "codex", Tool: "echo", Status: snapshot.OK})
		}
		s.Wait(time.Second)
		readFourth(s)
		s.Has("4 of 2009", "▌{")
		s.Keys("space")
		s.Has("▌{…")
	})
}

func TestAFoundTextIsUnfolded(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
		readFourth(s)
		s.Keys("down", "down", "down", "space", "up", "up", "up", "space")
		s.Has("▌{… 4 keys}")
		s.Keys("/")
		s.Type("hat")
		s.Has(`▌    "hat"`, "1 of 1")
		s.Keys("enter", "end", "enter")
		s.Has(`▌    "hat"`)
	})
}

func TestWhatIsFoldedIsCopiedToo(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
		readFourth(s)
		s.Keys("space", "c", "2")
		_, text, _ := strings.Cut(s.Raw(), "\x1b]52;c;")
		text, _, _ = strings.Cut(text, "\a")
		if got, _ := base64.StdEncoding.DecodeString(text); !strings.Contains(string(got), `"hat"`) {
			t.Errorf("copied %q", got)
		}
	})
}

// A click folds what begins in its row, and elsewhere takes the cursor there.
func TestAClickFolds(t *testing.T) {
	for _, size := range []frame.Size{{W: 80, H: 24}, {W: 110, H: 34}, {W: 160, H: 34}} {
		show(t, size, func(s *frame.Screen, _ *fake.Deck) {
			readFourth(s)
			s.ClickOn("layers: [")
			s.Has("▌  layers: [… 2 items]")
			s.ClickOn("scale")
			s.Has("▌  scale: 4", "layers: [… 2 items]")
			s.ClickOn("layers: [")
			s.Has("▌  layers: [", `"hat"`)
		})
	}
}

func TestAnotherCallIsShownUnfolded(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
		readFourth(s)
		s.Keys("space", "h")
		s.Lacks("… ")
		s.Keys("l")
		s.Has(`file: "hero.pxl"`)
	})
}
