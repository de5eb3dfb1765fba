package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// completing is a page with one field, at a row of the page, whose words are completed; with
// pick the keys choose at once.
type completing struct {
	page
	field    widget.Editor
	complete tui.Completion
	row      int
	pick     bool
	after    int // how often the page was told of another text
}

func (p *completing) Part() string {
	if p.complete.Picking() {
		return tui.PartCompletion
	}
	return "field"
}

func (p *completing) Actions() []tui.Action {
	part := "field"
	if p.pick {
		part = ""
	}
	return p.complete.Actions("one.complete", part)
}

func (p *completing) Update(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok && p.field.Key(key) {
		return p.typed()
	}
	return nil
}

func (p *completing) typed() tea.Cmd {
	p.after++
	word := p.field.Before()
	word = word[strings.LastIndexByte(word, ' ')+1:]
	var offers []string
	for _, one := range []string{"status:", "status:ok", "status:error", "server:"} {
		goesOn := strings.HasSuffix(one, ":") && one == word
		if word != "" && strings.HasPrefix(one, word) && !goesOn {
			offers = append(offers, one)
		}
	}
	p.complete.Offer(&p.field, p.typed, word, offers, p.pick)
	return nil
}

func (p *completing) Render(f *tui.Frame) []string {
	rows := make([]string, f.H)
	rows[p.row] = "> " + p.field.Value()
	f.Cursor(2+widget.Width(p.field.Before()), p.row)
	p.complete.Render(f)
	return rows
}

func onField(t *testing.T, row int, pick bool, test func(s *frame.Screen, p *completing)) {
	t.Helper()
	p := &completing{page: page{id: "one", title: "One", text: true}, row: row, pick: pick}
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) { test(s, p) })
}

func TestAWordIsCompletedByTheKeysThatGoToTheList(t *testing.T) {
	onField(t, 0, false, func(s *frame.Screen, p *completing) {
		s.Type("is s")
		s.Has("status:", "status:ok", "server:")
		s.Keys("enter") // is the field's until the list is gone to
		if got := strings.TrimSpace(p.field.Value()); strings.Contains(got, ":") {
			t.Fatalf("completed to %q without being asked", got)
		}
		s.Keys("down", "down", "down", "up", "enter")
		if got := p.field.Value(); !strings.HasSuffix(got, "status:ok") {
			t.Errorf("completed to %q", got)
		}
		s.Lacks("status:error")
	})
}

func TestSuggestionsThatWereClosedStayAwayForTheirWord(t *testing.T) {
	onField(t, 0, false, func(s *frame.Screen, p *completing) {
		s.Type("st")
		s.Has("status:error")
		s.Keys("esc")
		s.Lacks("status:error")
		s.Type("a")
		s.Lacks("status:error")
		s.Type(" st")
		s.Has("status:error")
		s.Keys("tab")
		s.Has("> sta status:")
		s.Has("status:error") // the completed word may go on
		s.Type("ok")
		s.Lacks("status:error") // it is whole
		if p.after != len("sta stok")+1 {
			t.Errorf("the page was told of %d texts", p.after)
		}
	})
}

func TestKeysChooseAtOnceWhereThePageSaysSo(t *testing.T) {
	onField(t, 0, true, func(s *frame.Screen, p *completing) {
		s.Type("st")
		s.Keys("down", "enter")
		if got := p.field.Value(); got != "status:ok" {
			t.Errorf("completed to %q", got)
		}
		s.Lacks("status:error")
		s.Keys("backspace")
		s.Has("status:ok")
		s.Keys("esc")
		s.Lacks("status:ok")
	})
}

func TestSuggestionsLieWhereThereIsRoom(t *testing.T) {
	for _, row := range []int{0, 18} {
		onField(t, row, false, func(s *frame.Screen, p *completing) {
			s.Type("s")
			field, offer := -1, -1
			for y, line := range strings.Split(s.Text(), "\n") {
				switch {
				case strings.Contains(line, "> s"):
					field = y
				case strings.Contains(line, "status:ok"):
					offer = y
				}
			}
			if field < 0 || offer < 0 || (offer > field) != (row == 0) {
				t.Errorf("the field on row %d, a suggestion on row %d", field, offer)
			}
			s.ClickOn("status:ok")
			if got := p.field.Value(); got != "status:ok" {
				t.Errorf("a click completes to %q", got)
			}
		})
	}
}
