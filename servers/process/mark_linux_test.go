package process

import (
	"os"
	"slices"
	"testing"
	"time"
)

// TestAGroupIsNotTakenForALaterOne has a child and what it has started without an environment:
// both are of its group, and of no group that has had the number at another time or elsewhere.
func TestAGroupIsNotTakenForALaterOne(t *testing.T) {
	p, err := Start(Command{Program: "sh", Args: []string{"-c", "env -i sleep 600 & exec sleep 600"}, Own: os.Environ(), Mark: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	g := GroupOf(p)
	members := func(g Group) (marks []string) {
		for _, m := range g.Members() {
			marks = append(marks, m.Mark)
		}
		slices.Sort(marks)
		return marks
	}
	for i := 0; !slices.Equal(members(g), []string{"", "m"}); i++ {
		if i == 6000 {
			t.Fatalf("found %q", members(g))
		}
		time.Sleep(10 * time.Millisecond)
	}
	for name, other := range map[string]Group{
		"a later process":  {g.PID, g.Born + "1", g.Session},
		"another session":  {g.PID, g.Born, g.Session + 1},
		"nothing is known": {g.PID, "", 0},
		"no group":         {},
	} {
		if found := members(other); len(found) > 0 {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
