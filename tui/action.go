package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Action is one thing the user can do.
type Action struct {
	ID    string   // for configuration: "calls.copy"
	Title string   // in help and palette: "Copy the result"
	Hint  string   // one word for the footer; "" keeps it out of there
	Label string   // keys as the footer shows them, when not the first: "up/down"
	Keys  []string // as Bubble Tea writes them: "y", "ctrl+s", "shift+tab", "space"
	Part  string   // of the page in which it acts; "" is the whole page

	// Moves marks what only moves about or changes how things look: its keys may be held
	// down. All others count once for each press.
	Moves bool
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

// Because is why an action cannot be done if no is true, and else "".
func Because(no bool, why string) string {
	if no {
		return why
	}
	return ""
}

// Do is the run of an action that needs no command.
func Do(f func()) func() tea.Cmd {
	return func() tea.Cmd { f(); return nil }
}

// hint is what the footer says of the action.
func (a *Action) hint() string {
	if a.HintNow != nil {
		return cmp.Or(a.HintNow(), a.Hint)
	}
	return a.Hint
}

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

// writes reports whether a key puts a character into a text field.
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

// Bound is an action that keys can be bound to, with those of the user.
type Bound struct {
	Place string // where it acts: "Everywhere", the title of a page
	ID    string
	Title string
	Keys  []string
}

// Bounds are the actions that keys can be bound to, by place. Those of a confirmation,
// which are its answers, are not among them.
func Bounds(o Options) []Bound {
	m := New(o)
	defer m.Close()
	var out []Bound
	add := func(place string, t table) {
		said := map[string]bool{} // the same in two parts of a page is said once
		for _, a := range t {
			row := fmt.Sprint(a.Keys, a.Title, a.ID)
			if a.every == "" && !said[row] {
				out = append(out, Bound{place, a.ID, a.Title, a.Keys})
			}
			said[row] = true
		}
	}
	moving := func(place string, moves []Action) {
		for i := range moves {
			moves[i].ID, moves[i].every = moves[i].every, ""
		}
		add(place, newTable(moves, "", m.keys))
	}
	add("Everywhere", m.global)
	moving("In a list", ListActions("list", "", nil))
	moving("In a text", ScrollActions("text", "", nil))
	add("In a menu", newTable((&menu{}).Actions(), "menu", m.keys))
	add("In a text over the page", newTable((&Reader{}).Actions(), "reader", m.keys))
	for i, p := range m.pages {
		add(p.Title(), m.tables[i])
	}
	return out
}

// KeyList is the table of actions as Markdown, for the README of this package.
func KeyList(o Options) string {
	var b strings.Builder
	place := ""
	for _, a := range Bounds(o) {
		if len(a.Keys) == 0 {
			continue
		}
		if a.Place != place {
			place = a.Place
			fmt.Fprintf(&b, "\n## %s\n\n| key | what | action |\n|---|---|---|\n", place)
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", codes(a.Keys), a.Title, a.ID)
	}
	return strings.TrimPrefix(b.String(), "\n") + "\n"
}

func codes(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "`" + k + "`"
	}
	return strings.Join(out, " ")
}
