package form

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	model "github.com/mcpdeck/mcpdeck/servers/support/form"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// bench is a form whose keys are looked up as the screen does.
type bench struct {
	form *Form
	sent []string
}

func opened(t testing.TB, schema string, o Options) *bench {
	t.Helper()
	m, err := model.Parse(json.RawMessage(schema), model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{}
	o.Send = "Call"
	o.Done = func() tea.Cmd {
		now, _, _ := b.form.check()
		b.sent = append(b.sent, string(model.Compact(now)))
		return nil
	}
	b.form = New(m, State{}, o)
	return b
}

// press does what a key does on the screen; words after a quote are typed.
func (b *bench) press(keys ...string) {
	for _, k := range keys {
		if s, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range s {
				b.form.Key(tea.KeyPressMsg(tea.Key{Text: string(r), Code: r}))
			}
			continue
		}
		b.key(k)
	}
}

func (b *bench) key(name string) {
	for _, a := range Actions("x", func() *Form { return b.form }) {
		if a.Part != "x."+b.form.Part() {
			continue
		}
		if slices.Contains(a.DefaultKeys(), name) || a.ID == "x."+name {
			a.Run()
			return
		}
	}
	b.form.Key(frame.Key(name))
}

func (b *bench) draw(t testing.TB, w, h int) string {
	t.Helper()
	th := theme.New(theme.Options{Dark: true})
	rows := b.form.Render(&tui.Frame{W: w, H: h, Theme: th, Now: time.Time{}, Focus: true})
	if len(rows) < h {
		t.Errorf("%d rows of %d", len(rows), h)
	}
	return strings.Join(rows, "\n")
}

// Who tries a tool may want to see what the server says to what does not fit.
func TestWhatDoesNotFitIsSentAnywayWhereThatIsAllowed(t *testing.T) {
	const schema = `{"properties":{"n":{"type":"integer","maximum":5}},"required":["n"]}`
	b := opened(t, schema, Options{Anyway: true})
	b.press("ctrl+s")
	if len(b.sent) > 0 || !strings.Contains(b.form.Message(), "an answer is required; send again to send it anyway") {
		t.Errorf("sent %q, said %q", b.sent, b.form.Message())
	}
	b.press("enter", "'many", "ctrl+s", "ctrl+s")
	b.press("enter", "backspace", "ctrl+s") // changed since: it is asked for again
	if got := fmt.Sprint(b.sent); got != `[{"n":"many"}]` {
		t.Errorf("sent %s", got)
	}
	b = opened(t, schema, Options{})
	b.press("'many", "ctrl+s", "ctrl+s", "ctrl+s")
	if len(b.sent) > 0 {
		t.Errorf("sent %q", b.sent)
	}
}

func TestAnEnterTooManySendsNoEmptyField(t *testing.T) {
	b := opened(t, `{"properties":{"colour":{"type":"string"}}}`, Options{})
	b.press("enter") // in the field, which is open since it is the only one
	if len(b.sent) > 0 || b.form.Part() != "fields" {
		t.Errorf("one key sent %v, and is in %s", b.sent, b.form.Part())
	}
	b.press("enter") // on the button
	if len(b.sent) != 1 || b.sent[0] != "{}" {
		t.Errorf("the button sent %v", b.sent)
	}
}

func TestWhatCannotBeCheckedIsSentWhenItIsWanted(t *testing.T) {
	b := opened(t, `{"properties":{"a":{"type":"string","pattern":"(?=x)"},"b":{"type":"string"}}}`, Options{})
	b.press("'y", "ctrl+s")
	if len(b.sent) > 0 || !strings.HasPrefix(b.form.Message(), "not checked: ") {
		t.Errorf("sent %q, said %q", b.sent, b.form.Message())
	}
	if b.press("ctrl+s"); fmt.Sprint(b.sent) != `[{"a":"y"}]` {
		t.Errorf("sent %q", b.sent)
	}
}

// A default is shown and not sent where the form does not begin with it.
func TestDefaultsAreShown(t *testing.T) {
	b := opened(t, `{"properties":{"a":{"type":"string","default":"blue"},"b":{"type":"string"}}}`, Options{})
	b.press("tab", "esc")
	if s := b.draw(t, 60, 8); !strings.Contains(s, "default: blue") {
		t.Error(s)
	}
	if b.press("ctrl+s"); fmt.Sprint(b.sent) != `[{}]` {
		t.Errorf("sent %q", b.sent)
	}
}

func TestMarkdownInADescriptionIsDrawn(t *testing.T) {
	b := opened(t, `{"properties":{"a":{"type":"string","minLength":2,"description":"A `+"`name`"+`, **not** a path, or *.go"}}}`, Options{})
	got := ansi.Strip(b.draw(t, 60, 8))
	for _, want := range []string{"    A name, not a path, or *.go  ", "    at least 2 characters"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestNullIsAValueWhereItMayBe(t *testing.T) {
	b := opened(t, `{"properties":{"a":{"type":["string","null"]},"b":{"type":"string"}}}`, Options{})
	b.press("esc", "null", "down", "null")
	if b.form.Message() == "" {
		t.Error("nothing was said of a field that cannot be null")
	}
	if b.press("ctrl+s"); fmt.Sprint(b.sent) != `[{"a":null}]` {
		t.Errorf("sent %q", b.sent)
	}
}

// Whatever keys are pressed in whatever order, nothing panics, what is drawn fits, and
// the form remains an object.
func TestAnyKeys(t *testing.T) {
	keys := []string{
		"enter", "enter", "tab", "shift+tab", "up", "down", "esc", "space", "1", "2", "9", "y", "n", "add", "delete", "alt+up", "alt+down", "null", "home", "end", "'7", "'a", "'{", "ctrl+j",
		"backspace", "json", "ctrl+s", "pgup", "pgdown", "ctrl+u",
	}
	schemas := []string{
		fake.Form(),
		`{"properties":{"next":{"$ref":"#"},"l":{"type":"array","items":{"$ref":"#"}},"v":{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}},{"type":"null"}]}}}`,
		`{"oneOf":[{"title":"A","properties":{"x":{"type":["string","null"]}}},{"title":"B","properties":{"y":{"type":"array","items":{"enum":["p","q"]}}},"required":["y"]}]}`,
		`{}`,
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 12 {
		b := opened(t, schemas[n%len(schemas)], Options{Anyway: n%3 == 0, Watch: n%11 == 10})
		var pressed []string
		for range 100 {
			k := keys[r.IntN(len(keys))]
			pressed = append(pressed, k)
			b.press(k)
			w, h := 10+r.IntN(80), 1+r.IntN(20)
			b.draw(t, w, h)
			b.form.Click(r.IntN(w), r.IntN(h))
			s := b.form.State()
			if !s.AsJSON && !json.Valid(b.form.model.JSON(s.Value)) {
				t.Fatalf("not JSON after %q", pressed)
			}
			b.form = New(b.form.model, s, b.form.opt) // as when the user leaves and comes back
		}
	}
}
