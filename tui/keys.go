package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
)

// KeyProblem is an entry of the user's keys that is refused, or a key in it that
// does nothing.
type KeyProblem struct {
	Action  string // the entry
	Text    string // what is wrong and what to do about it
	Refused bool   // the entry has no effect: the default keys hold
}

// CheckKeys says what is wrong with the keys of the options.
func CheckKeys(o Options) []KeyProblem {
	m := New(o)
	defer m.Close()
	return m.problems
}

// bind makes the tables of actions with those keys of the options that can be
// taken, and warns of the others.
func (m *Model) bind() {
	v := vetting{places: []place{{name: "everywhere", actions: m.actions()}}, file: m.opts.KeysFile, lines: m.opts.KeyLines}
	for _, p := range m.pages {
		v.places = append(v.places, place{name: p.Title(), page: p.ID(), actions: p.Actions()})
	}
	pages := v.places[1:]
	v.places = append(v.places,
		place{name: "menus", page: "menu", actions: (&menu{}).Actions(), alone: true},
		place{name: "texts", page: "reader", actions: (&Reader{}).Actions(), alone: true})
	m.keys = v.vet(m.opts.Keys)
	m.problems = v.problems
	m.global, m.tables = newTable(v.places[0].actions, "", m.keys), nil
	for _, p := range pages {
		m.tables = append(m.tables, newTable(p.actions, p.page, m.keys))
	}
	for _, p := range m.problems {
		m.toasts.add(Warn, p.Text)
	}
}

// place is a set of actions of which no two may have the same key.
type place struct {
	name, page string
	actions    []Action
	alone      bool // what acts everywhere does not act here
}

type vetting struct {
	places   []place // the first acts everywhere
	file     string
	lines    map[string]int // of the entries
	texts    map[string]bool
	problems []KeyProblem
}

// vet returns the entries that can be taken. Of two that cannot both be, the one
// that is written later is refused.
func (v *vetting) vet(keys map[string][]string) map[string][]string {
	if len(keys) == 0 {
		return nil
	}
	v.findTexts()
	known := map[string]bool{}
	for _, p := range v.places {
		for _, a := range p.actions {
			known[a.ID], known[a.every] = true, true
		}
	}
	taken := map[string][]string{}
	written := map[string]string{} // what an action is called in the file
	v.lines = maps.Clone(v.lines)
	for _, entry := range v.inOrder(keys, known) {
		id, list := renamed(entry, known), keys[entry]
		if first, both := written[id]; both {
			v.problem(entry, fmt.Sprintf("%s is now %s, as is %s, which comes first", entry, id, first), true)
			continue
		}
		written[id] = entry
		if n := v.lines[entry]; n > 0 {
			v.lines[id] = n
		}
		of, _, _ := strings.Cut(id, ".")
		bad := slices.IndexFunc(list, func(k string) bool { return !isKey(k) })
		switch {
		case !known[id] && renamedPages()[of] != "":
			v.problem(id, id+" has no effect: there is no such action", true)
		case !known[id] && of != "confirm": // those of a confirmation are its answers
			v.problem(id, fmt.Sprintf("unknown action %q; %s", id, meantAction(id, known)), true)
		case bad >= 0:
			v.problem(id, fmt.Sprintf("%s: %q is not a key%s", id, list[bad], meant(list[bad])), true)
		case id == "quit" && len(list) == 0:
			v.problem(id, "quit needs a key", true)
		default:
			taken[id] = list
		}
	}
	before := v.clashes(nil)
	for {
		id, why := v.clash(taken, before)
		if id == "" {
			break
		}
		delete(taken, id)
		v.problem(id, why, true)
	}
	v.dead(taken)
	slices.SortFunc(v.problems, func(a, b KeyProblem) int {
		return cmp.Or(cmp.Compare(v.lines[a.Action], v.lines[b.Action]), cmp.Compare(a.Text, b.Text))
	})
	return taken
}

// inOrder are the entries as they stand in the file; without one, those under the names of now
// come first.
func (v *vetting) inOrder(keys map[string][]string, known map[string]bool) []string {
	was := func(entry string) int {
		if known[entry] {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(maps.Keys(keys), func(a, b string) int {
		return cmp.Or(cmp.Compare(v.lines[a], v.lines[b]), was(a)-was(b), cmp.Compare(a, b))
	})
}

// meantAction says which action was probably meant, or where the actions are listed.
func meantAction(id string, known map[string]bool) string {
	if meant := fuzzy.Meant(id, slices.Sorted(maps.Keys(known))); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "mcpdeck config keys lists them"
}

func (v *vetting) problem(id, why string, refused bool) {
	at := "keys"
	if n := v.lines[id]; n > 0 {
		at = fmt.Sprintf("%s line %d", v.file, n)
	}
	if refused {
		why += "; refused"
	}
	v.problems = append(v.problems, KeyProblem{Action: id, Text: at + ": " + why, Refused: refused})
}

// findTexts finds the parts that are text fields: all that is done there is done
// while text is typed.
func (v *vetting) findTexts() {
	v.texts = map[string]bool{}
	for _, p := range v.places {
		for _, a := range p.actions {
			at := p.page + " " + a.Part
			if was, ok := v.texts[at]; a.Part != "" && (!ok || was) {
				v.texts[at] = a.InText
			}
		}
	}
}

// everywhere is the place of the actions that each page has, the first of all.
const everywhere = "everywhere"

// pair is one key for two actions where both would act.
type pair struct{ key, a, b string }

// clashes finds the pairs in all places with the entries laid over the defaults,
// and where each is.
func (v *vetting) clashes(keys map[string][]string) map[pair][]string {
	out := map[pair][]string{}
	global := newTable(v.places[0].actions, "", keys)
	for i, p := range v.places {
		var beside table
		if i > 0 && !p.alone {
			beside = global
		}
		t := append(newTable(p.actions, p.page, keys), beside...)
		seen := map[string][]*Action{}
		for _, a := range t {
			for _, k := range a.Keys {
				for _, b := range seen[k] {
					if v.meet(p, a, b) {
						c := pair{k, b.ID, a.ID}
						out[c] = append(out[c], p.name)
					}
				}
				seen[k] = append(seen[k], a)
			}
		}
	}
	return out
}

// meet reports whether two actions can be done in the same part.
func (v *vetting) meet(p place, a, b *Action) bool {
	switch {
	case a.Part == b.Part:
		return true
	case a.Part == "":
		return a.InText || !v.texts[p.page+" "+b.Part]
	case b.Part == "":
		return b.InText || !v.texts[p.page+" "+a.Part]
	}
	return false
}

// clash finds the entry to refuse first: the last written of those that make a
// pair that is none by default.
func (v *vetting) clash(keys map[string][]string, before map[pair][]string) (id, why string) {
	entry := map[string]string{} // of an action
	for _, p := range v.places {
		for _, a := range p.actions {
			if _, ok := keys[a.every]; ok && a.every != "" {
				entry[a.ID] = a.every
			}
			if _, ok := keys[a.ID]; ok {
				entry[a.ID] = a.ID
			}
		}
	}
	type taken struct{ entry, key string }
	by := map[taken][]string{} // what has the key, and where
	for c, where := range v.clashes(keys) {
		if _, ok := before[c]; ok {
			continue
		}
		at := strings.Join(where, ", ")
		if where[0] == everywhere {
			at = everywhere
		}
		for _, side := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if mine := entry[side[0]]; mine != "" {
				of := taken{mine, c.key}
				by[of] = append(by[of], side[1]+" ("+at+")")
			}
		}
	}
	for of, others := range by {
		slices.Sort(others)
		text := fmt.Sprintf("%s: the key %s is already %s", of.entry, of.key, strings.Join(slices.Compact(others), ", "))
		if id == "" || cmp.Or(cmp.Compare(v.lines[of.entry], v.lines[id]), cmp.Compare(text, why)) > 0 {
			id, why = of.entry, text
		}
	}
	return id, why
}

// dead warns of keys that never come: what types a letter where letters are text,
// and what a terminal does not tell from another key.
func (v *vetting) dead(keys map[string][]string) {
	said := map[string]bool{}
	for _, p := range v.places {
		for _, a := range newTable(p.actions, p.page, keys) {
			id := a.ID
			if _, ok := keys[id]; !ok {
				id = a.every
			}
			for _, k := range keys[id] { // none when the user has not set this one
				why := ""
				if same := sameInTerminal(k); same != "" {
					why = fmt.Sprintf("most terminals send %s for it", same)
				} else if v.texts[p.page+" "+a.Part] && writes(k) {
					why = "it types a letter in this field"
				}
				if text := fmt.Sprintf("%s: the key %s does nothing: %s", id, k, why); why != "" && !said[text] {
					said[text] = true
					v.problem(id, text, false)
				}
			}
		}
	}
}

func sameInTerminal(key string) string {
	switch key {
	case "ctrl+i":
		return "tab"
	case "ctrl+m":
		return "enter"
	case "ctrl+[":
		return "esc"
	}
	if rest, ok := strings.CutPrefix(key, "shift+"); ok && utf8.RuneCountInString(rest) == 1 {
		if upper := strings.ToUpper(rest); upper != rest {
			return upper
		}
	}
	return ""
}

// modifiers in the order in which Bubble Tea writes them.
func modifiers() []string { return []string{"ctrl", "alt", "shift", "meta", "hyper", "super"} }

// isKey reports whether a key press can be written so.
func isKey(s string) bool {
	base := s
	for _, m := range modifiers() {
		if rest, ok := strings.CutPrefix(base, m+"+"); ok && rest != "" {
			base = rest
		}
	}
	if keyNamesOf()[base] {
		return true
	}
	r, n := utf8.DecodeRuneInString(base)
	return n == len(base) && r != utf8.RuneError && unicode.IsPrint(r) && r != ' ' &&
		(base == s || r == unicode.ToLower(r)) // with a modifier, the key is named, not what it types
}

// keyNamesOf are the keys that have a name: "enter", "f1".
var keyNamesOf = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	codes := []rune{tea.KeyEnter, tea.KeyTab, tea.KeyBackspace, tea.KeyEscape, tea.KeySpace}
	for c := rune(tea.KeyExtended) + 1; c < tea.KeyExtended+200; c++ {
		codes = append(codes, c)
	}
	for _, c := range codes {
		if s := (tea.Key{Code: c}).Keystroke(); utf8.RuneCountInString(s) > 1 {
			names[s] = true
		}
	}
	return names
})

// meant says how a key is written that is written otherwise, or how keys are.
func meant(s string) string {
	words := strings.Split(strings.ToLower(s), "+")
	alias := map[string]string{
		"control": "ctrl", "option": "alt", "cmd": "super", "escape": "esc", "return": "enter", "del": "delete",
		"pageup": "pgup", "pagedown": "pgdown", " ": "space", "ins": "insert",
	}
	for i, w := range words {
		words[i] = cmp.Or(alias[w], w)
	}
	last := len(words) - 1
	slices.SortStableFunc(words[:last], func(a, b string) int {
		return slices.Index(modifiers(), a) - slices.Index(modifiers(), b)
	})
	if key := strings.Join(words, "+"); isKey(key) {
		return fmt.Sprintf("; write %q", key)
	}
	return `; keys are written as "q", "ctrl+s", "shift+tab", "space", "f5"`
}
