package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ReadWarnings is the action that shows all warnings in full.
const ReadWarnings = "deck.warnings"

// Action is one thing the user can do.
type Action struct {
	ID    string   // for configuration: "calls.copy"
	Title string   // in help and palette: "Copy the result"
	Hint  string   // one word for the footer; "" keeps it out of there
	Label string   // keys as the footer shows them, when not the first: "up/down"
	Keys  []string // as Bubble Tea writes them: "y", "ctrl+s", "shift+tab", "space"
	Part  string   // of the page in which it acts; "" is the whole page

	// Acts marks what changes something outside the screen; not available while
	// only watching.
	Acts bool
	// Sight marks what decides something about what the page or the overlay shows:
	// it is done by its key alone, while nothing covers that.
	Sight bool
	// InText lets the keys act while a text field has the focus, but for those
	// that write.
	InText bool
	// Hidden keeps an action out of the palette and the footer: moving about.
	Hidden bool

	// HintNow is the hint where it depends on what the keys would do now; "" is Hint.
	HintNow func() string
	// Enabled says why the action cannot be done now; "" when it can. nil is
	// always.
	Enabled func() string
	// Run does it. It must not wait; what takes time goes into the command.
	Run func() tea.Cmd

	page  string // "" for those of the root
	every string // ID for all that move alike: "list.down"
}

// why says what keeps the action from being done now; "" when nothing does.
func (a *Action) why(watch bool) string {
	if watch && a.Acts {
		return "the deck only watches (--watch)"
	}
	if a.Enabled != nil {
		return a.Enabled()
	}
	return ""
}

// hint is what the footer says of the action.
func (a *Action) hint() string {
	if a.HintNow != nil {
		return cmp.Or(a.HintNow(), a.Hint)
	}
	return a.Hint
}

// Binding is the action's keys as the widgets of bubbles take them, shown as label.
// The table dispatches keys itself: key.Matches knows a key by what it types alone,
// which on some keyboards is not how the user's configuration writes it.
func (a *Action) Binding(label string) key.Binding {
	return key.NewBinding(key.WithKeys(a.Keys...), key.WithHelp(label, widget.Cut(cmp.Or(a.hint(), a.Title), longestDesc)))
}

// longestDesc is how much of a title a column of keys shows.
const longestDesc = 30

// table is all actions of a page, an overlay or the root with the user's keys.
type table []*Action

// newTable copies actions and lays the user's keys over the default ones.
func newTable(actions []Action, page string, keys map[string][]string) table {
	out := make(table, len(actions))
	for i, a := range actions {
		a.page = page
		if mine, ok := keys[a.every]; ok && a.every != "" {
			a.Keys = mine
		}
		if mine, ok := keys[a.ID]; ok {
			a.Keys = mine
		}
		out[i] = &a
	}
	return out
}

// find is the action that key means in a part; those of the part win, and of two
// of them the one that can be done.
func (t table) find(key string, part string, text bool) *Action {
	var found *Action
	for _, a := range t {
		if text && (!a.InText || writes(key)) || !slices.Contains(a.Keys, key) {
			continue
		}
		switch a.Part {
		case part:
			if a.Enabled == nil || a.Enabled() == "" {
				return a
			}
			if found == nil || found.Part != part {
				found = a
			}
		case "":
			if found == nil {
				found = a
			}
		}
	}
	return found
}

// writes tells whether a key puts a character into a text field.
func writes(key string) bool {
	return key == "space" || utf8.RuneCountInString(key) == 1
}

// keyNames are the ways a key press may be written in the table: what it types
// ("?"), and the key itself ("shift+/").
func keyNames(k tea.KeyPressMsg) []string {
	s, stroke := k.String(), k.Keystroke()
	if s == "\u3000" { // the wide space of Japanese keyboards
		s = "space"
	}
	if s == stroke {
		return []string{s}
	}
	return []string{s, stroke}
}

// KeyLabel is how a key is shown: "ctrl+p" as "^P" would be shorter, but not
// everybody reads that.
func KeyLabel(key string, ascii bool) string {
	if ascii {
		return key
	}
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	}
	return key
}

// KeyList is the table of actions as Markdown, for the README.
func KeyList(o Options) string {
	m := New(o)
	defer m.Close()
	var b strings.Builder
	section := func(title string, t table) {
		fmt.Fprintf(&b, "### %s\n\n| key | what | action |\n|---|---|---|\n", title)
		said := map[string]bool{} // the same in two parts of a page is said once
		for _, a := range t {
			row := fmt.Sprintf("| %s | %s | `%s` |\n", cmp.Or(codes(a.Keys), "–"), a.Title, a.ID)
			if a.every == "" && !said[row] {
				b.WriteString(row)
			}
			said[row] = true
		}
		b.WriteString("\n")
	}
	moving := func(title string, moves []Action) {
		for i := range moves {
			moves[i].every = ""
		}
		section(title, newTable(moves, "", o.Keys))
	}
	section("Everywhere", m.global)
	moving("In a list", ListActions("list", "", nil))
	moving("In a text", ScrollActions("text", "", nil))
	for i, p := range m.pages {
		section(p.Title(), m.tables[i])
	}
	return b.String()
}

func codes(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "`" + k + "`"
	}
	return strings.Join(out, " ")
}
