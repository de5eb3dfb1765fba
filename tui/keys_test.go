package tui_test

import (
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	"github.com/mcpdeck/mcpdeck/tui/page/servers"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

func keyed() []tui.Page {
	var list widget.List
	return []tui.Page{
		&page{id: "one", title: "One", part: "list", actions: append([]tui.Action{
			{ID: "one.copy", Title: "Copy", Hint: "copy", Keys: []string{"y"}},
			{ID: "one.follow", Title: "Follow", Keys: []string{"f"}},
			{ID: "one.show", Title: "Show", Part: "list", Keys: []string{"enter"}},
			{ID: "one.hide", Title: "Hide", Part: "detail", Keys: []string{"esc"}},
			{ID: "one.take", Title: "Take", Part: "text", Keys: []string{"enter"}, InText: true},
			{ID: "one.send", Title: "Send", Part: "text", Keys: []string{"ctrl+s"}, InText: true},
		}, tui.ListActions("one", "list", &list)...)},
		&page{id: "two", title: "Two", actions: []tui.Action{{ID: "two.copy", Title: "Copy", Keys: []string{"y"}}}},
	}
}

// A remap that cannot be is refused with the line it stands in, the default keys
// hold, and the others are taken.
func TestKeysThatCannotBeAreRefused(t *testing.T) {
	type keys = map[string][]string
	tests := []struct {
		name  string
		keys  keys
		lines map[string]int
		want  []string // beginnings of the problems
	}{
		{"nothing wrong", keys{"one.copy": {"c", "ctrl+shift+k", "alt+x", "ö"}}, nil, nil},
		{"quit without a key", keys{"quit": {}}, map[string]int{"quit": 7}, []string{"config.toml line 7: quit needs a key; refused"}},
		{"any other without a key", keys{"one.copy": {}}, nil, nil},
		{"no key", keys{"one.copy": {"ctlr+x"}}, map[string]int{"one.copy": 3}, []string{`config.toml line 3: one.copy: "ctlr+x" is not a key; keys are written as`}},
		{"another order", keys{"one.copy": {"shift+ctrl+x"}}, nil, []string{`keys: one.copy: "shift+ctrl+x" is not a key; write "ctrl+shift+x"; refused`}},
		{"another name", keys{"one.copy": {"Escape"}}, nil, []string{`keys: one.copy: "Escape" is not a key; write "esc"`}},
		{"a word", keys{"one.copy": {"copy"}}, nil, []string{`keys: one.copy: "copy" is not a key`}},
		{"empty", keys{"one.copy": {""}}, nil, []string{`keys: one.copy: "" is not a key`}},
		{"almost an action", keys{"one.cpoy": {"x"}}, nil, []string{`keys: unknown action "one.cpoy"; did you mean "one.copy"?; refused`}},
		{"no action", keys{"one.fly": {"x"}}, nil, []string{`keys: unknown action "one.fly"; mcpdeck config keys lists them; refused`}},
		{"the key of another", keys{"one.copy": {"f"}}, nil, []string{"keys: one.copy: the key f is already one.follow (One)"}},
		{"a key of the part", keys{"one.copy": {"enter"}}, nil, []string{"keys: one.copy: the key enter is already one.show (One)"}},
		{"a key of everywhere", keys{"one.copy": {"q"}}, nil, []string{"keys: one.copy: the key q is already quit (One)"}},
		{"everywhere, a key of a page", keys{"quit": {"y"}}, nil, []string{"keys: quit: the key y is already one.copy (One), two.copy (Two)"}},
		{"two of everywhere", keys{"quit": {"f9"}, "help": {"f9"}}, map[string]int{"help": 2}, []string{"config.toml line 2: help: the key f9 is already quit (everywhere); refused"}},
		{"a text field does not meet the page", keys{"one.send": {"ctrl+t"}}, nil, nil},
		{"keys changed over", keys{"one.copy": {"f"}, "one.follow": {"y"}}, nil, nil},
		{
			"two that clash: the later is refused",
			keys{"one.copy": {"x"}, "one.follow": {"x"}},
			map[string]int{"one.copy": 9, "one.follow": 12},
			[]string{"config.toml line 12: one.follow: the key x is already one.copy (One)"},
		},
		{
			"one that takes a key that comes back",
			keys{"one.copy": {"f"}, "one.follow": {"nokey"}},
			map[string]int{"one.copy": 1, "one.follow": 2},
			[]string{"config.toml line 1: one.copy: the key f is already one.follow", "config.toml line 2: one.follow"},
		},
		{"all lists", keys{"list.down": {"y"}}, nil, []string{"keys: list.down: the key y is already one.copy"}},
		{"in a menu", keys{"menu.down": {"esc"}}, nil, []string{"keys: menu.down: the key esc is already menu.close (menus)"}},
		{"a letter in a text field", keys{"one.send": {"s"}}, nil, []string{"keys: one.send: the key s does nothing: it types a letter"}},
		{"what terminals do not tell apart", keys{"one.copy": {"ctrl+i"}}, nil, []string{"keys: one.copy: the key ctrl+i does nothing: most terminals send tab"}},
		{"a letter with shift", keys{"one.copy": {"shift+d"}}, nil, []string{"keys: one.copy: the key shift+d does nothing: most terminals send D"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tui.CheckKeys(tui.Options{Pages: keyed(), Keys: tt.keys, KeysFile: "config.toml", KeyLines: tt.lines})
			ok := len(got) == len(tt.want)
			for i := range min(len(got), len(tt.want)) {
				ok = ok && strings.HasPrefix(got[i].Text, tt.want[i])
			}
			if !ok {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
}

func TestQuitKeepsItsKeys(t *testing.T) {
	o := tui.Options{Pages: keyed(), Keys: map[string][]string{"quit": {}, "one.copy": {"ctrl+c", "q"}}, KeyLines: map[string]int{"quit": 4}, KeysFile: "config.toml"}
	run(t, frame.Size{W: 90, H: 20}, o, func(s *frame.Screen) {
		s.Has("config.toml line 4: quit needs a key", "y copy")
		s.Keys("q")
		if !s.Ended() {
			t.Error("q did not end the program")
		}
	})
}

// The keys of pages are theirs in every part of a page, and with alt in a text field.
func TestThePagesHaveTheirKeys(t *testing.T) {
	pages := keyed()
	one := pages[0].(*page)
	o := tui.Options{Pages: pages, Keys: map[string][]string{"go.two": {"ctrl+o"}, "one.copy": {"c"}, "go.one": {"z"}}}
	run(t, frame.Size{W: 90, H: 20}, o, func(s *frame.Screen) {
		s.Has("c copy")
		s.Keys("2")
		s.Has("this is One", "Digits choose answers. Pages: O T")
		s.Keys("ctrl+o")
		s.Has("this is Two")
		s.Keys("z")
		s.Has("this is One")
		s.Keys("]")
		s.Has("this is Two")
		s.Keys("]", "[")
		s.Has("this is Two")
	})
	o.Keys = nil
	run(t, frame.Size{W: 90, H: 20}, o, func(s *frame.Screen) {
		s.Do(func() { one.part = "options" })
		s.Keys("T")
		s.Has("this is Two")
		s.Keys("O")
		s.Do(func() { one.text = true })
		s.Keys("T")
		s.Has("this is One")
		s.Keys("alt+t")
		s.Has("this is Two")
		s.Do(func() { one.text = false })
	})
}

// An action that was bound by another name has its key, the first of two that became one.
func TestActionsOfOldNamesKeepTheirKeys(t *testing.T) {
	type keys = map[string][]string
	p := &page{id: "servers", title: "Servers", actions: []tui.Action{
		{ID: "servers.restart", Title: "Restart", Hint: "again", Keys: []string{"r"}, Run: tui.Do(func() {})},
		{ID: "servers.tool", Title: "Allow", Hint: "on/off", Keys: []string{"space"}, Run: tui.Do(func() {})},
	}}
	for _, tt := range []struct {
		name  string
		keys  keys
		lines map[string]int
		shown string
		lost  string
	}{
		{"by the page's old name", keys{"cards.restart": {"w"}}, nil, "w again", ""},
		{"by its own", keys{"cards.prompts": {"w"}}, nil, "w on/off", ""},
		{"old and new", keys{"cards.restart": {"v"}, "servers.restart": {"w"}}, nil, "w again", "cards.restart"},
		{"old before new", keys{"cards.restart": {"w"}, "servers.restart": {"v"}}, map[string]int{"cards.restart": 3, "servers.restart": 4}, "w again", "servers.restart"},
		{"two that became one", keys{"cards.prompts": {"v"}, "cards.resources": {"w"}}, map[string]int{"cards.prompts": 4, "cards.resources": 3}, "w on/off", "cards.prompts"},
	} {
		o := tui.Options{Pages: []tui.Page{p}, Keys: tt.keys, KeyLines: tt.lines}
		lost := ""
		for _, p := range tui.CheckKeys(o) {
			lost += p.Action
		}
		if lost != tt.lost {
			t.Errorf("%s: %q has no effect, want %q", tt.name, lost, tt.lost)
		}
		run(t, frame.Size{W: 60, H: 20}, o, func(s *frame.Screen) { s.Has(tt.shown) })
	}
}

func TestActionsOfOldNamesAreThoseThatTheyBecame(t *testing.T) {
	pages := []tui.Page{inbox.New(questions.New(questions.Options{}), inbox.Options{}), servers.New(servers.Options{}), drift.New(drift.Options{Source: fake.NewDrift(time.Now())})}
	for old := range tui.RenamedActions() {
		for _, p := range tui.CheckKeys(tui.Options{Pages: pages, Keys: map[string][]string{old: {"f9"}}}) {
			if strings.Contains(p.Text, "unknown action") {
				t.Error(p.Text)
			}
		}
	}
}
