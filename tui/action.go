package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
)

// Action is one thing the user can do.
type Action struct {
	ID    string // for configuration: "calls.copy"
	Title string // in help and palette: "Copy the result"
	Hint  string // one word for the footer; "" keeps it out of there
	Label string // keys as the footer shows them, when not the first: "up/down"
	Verb  verb.Verb
	Also  []verb.Verb // whose keys it has, too
	Keys  []string    // as Bubble Tea writes them: "y", "ctrl+s", "shift+tab", "space"; nil: those of the verbs
	Part  string      // of the page in which it acts; "" is the whole page

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

	// Unknown reports whether there is nothing that it could ever be done with; nil: never. Help and the palette do
	// not list it then.
	Unknown func() bool
	// LabelNow is the Label where it depends on what is shown; nil is Label.
	LabelNow func() string
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

// name is the last word of the ID, by which the palette finds the action, too.
func (a *Action) name() string { return a.ID[strings.LastIndex(a.ID, ".")+1:] }

// unknown is Unknown.
func (a *Action) unknown() bool { return a.Unknown != nil && a.Unknown() }

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
		a.Keys = a.DefaultKeys()
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

// has reports whether an action is one of a verb.
func (a *Action) has(v verb.Verb) bool { return a.Verb == v || slices.Contains(a.Also, v) }

// DefaultKeys are those that it has where the user has bound no others.
func (a *Action) DefaultKeys() []string {
	if a.Keys != nil {
		return a.Keys
	}
	keys := slices.Clone(a.Verb.Keys())
	for _, v := range a.Also {
		keys = append(keys, v.Keys()...)
	}
	return keys
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
	Verbs []verb.Verb
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
				out = append(out, Bound{place, a.ID, a.Title, append([]verb.Verb{a.Verb}, a.Also...), a.Keys})
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
	add("In a reader", newTable((&Reader{}).Actions(), "reader", m.keys))
	for i, p := range m.pages {
		add(p.Title(), m.tables[i])
	}
	return out
}

// KeyList is what keys mean as Markdown, for the README of this package: a row for each
// verb with what it does on each page in particular, and the names of the actions that have
// no key.
func KeyList(o Options) string {
	m := New(o)
	defer m.Close()
	var b strings.Builder
	for _, fields := range []bool{false, true} {
		title := "Everywhere"
		if fields {
			title = "In fields and forms"
		}
		fmt.Fprintf(&b, "## %s\n\n| key | everywhere | and in particular |\n|---|---|---|\n", title)
		for _, v := range verb.All() {
			if v.Field() == fields {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", codes(v.Keys()), v.Means(), m.inParticular(v))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("## Without a key\n\n| page | actions |\n|---|---|\n")
	place, sep := "", ""
	for _, a := range Bounds(o) {
		if len(a.Keys) > 0 {
			continue
		}
		if a.Place != place {
			b.WriteString(sep + "| " + a.Place + " |")
			place, sep = a.Place, " |\n"
		}
		b.WriteString(" `" + a.ID + "`")
	}
	b.WriteString(sep)
	return b.String()
}

// inParticular says what a verb does on each page where that is not said by what it means.
func (m *Model) inParticular(v verb.Verb) string {
	said := []verb.Verb{verb.NextPane, verb.PreviousPane, verb.Up, verb.Down, verb.First, verb.Last, verb.PageDown, verb.PageUp, verb.Back, verb.Filter, verb.FindNext, verb.FindPrevious}
	if slices.Contains(said, v) {
		return ""
	}
	var pages []string
	for i, p := range m.pages {
		var does []string
		for _, a := range m.tables[i] {
			if a.has(v) && !a.InText && (v != verb.Choose || !a.Hidden) && !slices.Contains(does, a.Title) {
				does = append(does, a.Title)
			}
		}
		if len(does) > 0 {
			pages = append(pages, p.Title()+": "+strings.Join(does, "; "))
		}
	}
	return strings.Join(pages, " · ")
}

func codes(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "`" + k + "`"
	}
	return strings.Join(out, " ")
}
