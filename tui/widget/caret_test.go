package widget

import "testing"

func TestTheCaretIsSetAndRead(t *testing.T) {
	const text = "ab\n\ncafé\u0301 x\nend"
	for n := range len([]rune(text)) + 1 {
		var e Editor
		e.Multi = true
		e.SetValue(text)
		if got := e.Caret(); got != len([]rune(text)) {
			t.Fatalf("at the end: %d", got)
		}
		e.SetCaret(n)
		got := e.Caret()
		if got != n && got != n+1 { // inside a cluster it goes behind it
			t.Errorf("set %d, got %d", n, got)
		}
	}
}

func TestAWordIsCompletedInOneChange(t *testing.T) {
	e := Editor{Multi: true}
	e.SetValue("one\nsee café @séa and more")
	e.SetCaret(len([]rune("one\nsee café @séa")))
	if got, want := e.Before(), "see café @séa"; got != want {
		t.Errorf("before the cursor is %q, want %q", got, want)
	}
	e.Complete("@séa", "@séa/main.go")
	if got, want := e.Value(), "one\nsee café @séa/main.go and more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if e.Insert("!"); e.Before() != "see café @séa/main.go!" {
		t.Errorf("the cursor is behind %q", e.Before())
	}
	e.Undo()
	e.Undo()
	if got, want := e.Value(), "one\nsee café @séa and more"; got != want {
		t.Errorf("undone it is %q, want %q", got, want)
	}
}
