package widget

import "testing"

func TestCaret(t *testing.T) {
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
