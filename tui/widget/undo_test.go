package widget

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestUndoInAField(t *testing.T) {
	tests := []struct {
		name  string
		multi bool
		do    func(e *Editor)
		want  []string // the text after each undo
	}{
		{"a word at a time", false, func(e *Editor) { press(e, "o", "n", "e", "space", "t", "w", "o") }, []string{"one ", "one", ""}},
		{"a word that is deleted", false, func(e *Editor) { e.Insert("one two"); press(e, "backspace", "backspace", "backspace") }, []string{"one two", ""}},
		{"a paste of lines", true, func(e *Editor) { press(e, "x", "left"); e.Insert("a\nb\nc") }, []string{"x", ""}},
		{"a line break and back", true, func(e *Editor) { e.Insert("ab"); press(e, "left", "ctrl+j", "backspace") }, []string{"a\nb", "ab", ""}},
		{"to the end of the line", true, func(e *Editor) { e.Insert("a b\nc"); press(e, "ctrl+home", "ctrl+k") }, []string{"a b\nc", ""}},
		{"an accent of its own", false, func(e *Editor) { press(e, "e", "\u0301") }, []string{"e", ""}},
		{"flags", false, func(e *Editor) { e.Insert("🇩🇪🇫🇷"); press(e, "home"); e.Insert("🇦") }, []string{"🇩🇪🇫🇷", ""}},
		{"another text", true, func(e *Editor) { e.Insert("mine\nown"); e.Replace("older") }, []string{"mine\nown", ""}},
		{"nothing but the same", false, func(*Editor) {}, []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{Multi: tt.multi}
			tt.do(e)
			end := e.Value()
			for i, want := range tt.want {
				if press(e, "ctrl+_"); e.Value() != want {
					t.Fatalf("undo %d: %q, want %q", i+1, e.Value(), want)
				}
			}
			for range tt.want {
				press(e, "ctrl+y")
			}
			if e.Value() != end {
				t.Errorf("made again: %q, want %q", e.Value(), end)
			}
			press(e, "ctrl+_", "x")
			before := e.Value()
			if press(e, "ctrl+y"); e.Value() != before {
				t.Error("what was typed since did not end the redoing")
			}
		})
	}
}

func TestATextThatWasPutThereCannotBeUndone(t *testing.T) {
	e := &Editor{}
	e.Insert("another question's answer")
	e.SetValue("draft")
	if press(e, "ctrl+/"); e.Value() != "draft" {
		t.Errorf("undo went back to %q", e.Value())
	}
}

// What was undone for good is no reason to forget what comes after it.
func TestWhatIsUndoneTakesNoRoomOfWhatFollows(t *testing.T) {
	e := &Editor{}
	large := strings.Repeat("x", 3<<18)
	for range 3 {
		e.Insert(large)
		e.Undo()
	}
	e.Insert("kept")
	if !e.Undo() || e.Value() != "" {
		t.Errorf("%d characters are left of what was undone", len(e.Value()))
	}
}

func FuzzUndo(f *testing.F) {
	f.Add("a b\u0301\n日本 🇩🇪🇫🇷", []byte{1, 2, 3, 9, 5, 9, 12, 12})
	names := []string{"left", "right", "up", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+j", "x", "日", "\u0301", "\u200d", "🇩", "space", "alt+d", "ctrl+home"}
	f.Fuzz(func(t *testing.T, s string, keys []byte) {
		e := &Editor{Multi: true}
		e.SetValue(s)
		start := e.Value()
		for _, k := range keys[:min(len(keys), undoMost)] {
			e.Key(frame.Key(names[int(k)%len(names)]))
		}
		end := e.Value()
		for e.Undo() {
			continue
		}
		if e.Value() != start {
			t.Fatalf("undone: %q, want %q", e.Value(), start)
		}
		for e.Redo() {
			continue
		}
		if e.Value() != end {
			t.Fatalf("made again: %q, want %q", e.Value(), end)
		}
	})
}
