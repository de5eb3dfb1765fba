package widget

import "testing"

func TestTheCursorOfAListStaysInside(t *testing.T) {
	var l List
	items := []string{"a", "b", "c"}
	if l.SetLen(0); Selected(&l, items[:0]) != nil || !l.AtEnd() {
		t.Error("an empty list has an item under its cursor")
	}
	l.SetLen(len(items))
	for _, step := range []struct {
		move  func()
		want  string
		atEnd bool
	}{
		{func() { l.MoveTo(0) }, "a", false},
		{func() { l.Half(1) }, "b", false},
		{func() { l.Half(9) }, "c", true},
		{func() { l.Half(-9) }, "a", false},
		{func() { l.MoveTo(2) }, "c", true},
		{func() { l.SetLen(2) }, "b", true},
	} {
		step.move()
		if got := Selected(&l, items[:l.Len()]); got == nil || *got != step.want || l.AtEnd() != step.atEnd {
			t.Errorf("the cursor is on %v, at the end: %v; want %s, %v", got, l.AtEnd(), step.want, step.atEnd)
		}
	}
}

func TestTextIsPaddedAndCutOnTheLeft(t *testing.T) {
	for _, r := range []struct{ got, want string }{
		{PadLeft("ab", 4), "  ab"},
		{PadLeft("日", 3), " 日"},
		{PadLeft("abcd", 3), "ab…"},
		{PadLeft("abc", 3), "abc"},
		{CutLeft("/a/long/path", 5), "…path"},
		{CutLeft("path", 5), "path"},
		{CutLeft("path", 1), "…"},
		{Indent([]byte(`{"a":[1]}`)), "{\n  \"a\": [\n    1\n  ]\n}"},
		{Indent([]byte("{a")), "{a"},
	} {
		if r.got != r.want {
			t.Errorf("%q, want %q", r.got, r.want)
		}
	}
}
