package upstream

import (
	"strings"
	"testing"
	"time"
)

// What an agent is told never says that nothing has happened.
func TestTextsForAgentsPromiseNothing(t *testing.T) {
	o := Options{Name: "git", Key: "g", Limits: Limits{Call: time.Minute}}.filled()
	for _, text := range []string{o.Texts.Off, o.lost(""), o.lost("it ended with code 3"), o.Texts.Failed, o.Texts.Deadline, closedText, o.busy(3), o.crowded(9), o.needsUser("x"), o.noTool(nil, "x"), o.behind("x"), o.waiting(0), o.waiting(2)} {
		for _, bad := range []string{"nothing", "unchanged", "not changed", "no change"} {
			if strings.Contains(strings.ToLower(text), bad) {
				t.Errorf("%q in %q", bad, text)
			}
		}
		if !strings.Contains(text, "git") && text != closedText {
			t.Errorf("%q names no server", text)
		}
	}
}

// A name that is in no list is cut, too.
func TestNamesInTextsAreCut(t *testing.T) {
	o := Options{Name: "git"}.filled()
	if got := o.noTool(nil, strings.Repeat("x", 500)); len(got) > 250 {
		t.Errorf("%d characters", len(got))
	}
}
