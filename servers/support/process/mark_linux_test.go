package process

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
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
	testwait.For(t, "its members are the child and what that has started", func() []string { return members(g) }, func(marks []string) bool {
		return slices.Equal(marks, []string{"", "m"})
	})
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

// A program that `docker exec` or `nsenter` starts is in a session that has no number.
func TestAGroupIsFoundInAContainer(t *testing.T) {
	container := exec.Command("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", os.Args[0], "-test.run=^TestAGroupIsNotTakenForALaterOne$")
	if out, err := exec.Command(container.Args[0], append(slices.Clone(container.Args[1:6]), "true")...).CombinedOutput(); err != nil {
		t.Skipf("this machine lets nobody make a container: %v: %s", err, out)
	}
	if out, err := container.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
