package process

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// markName is the variable that carries a mark. Other variables of mcpdeck are not
// passed on, so no child has that of another.
const markName = "MCPDECK_RUN"

// Marked is a process of this user that carries a mark: a child, or what descends from
// it, also after it has left the group and lost its parent.
type Marked struct {
	PID, Group int
	Mark       string
	Program    string // its name, as the system has it

	born string
}

// FindMarked finds the processes with marks that is accepts. Where the system does not
// tell, there are none.
func FindMarked(is func(mark string) bool) (all []Marked) {
	for _, p := range processes(nil) {
		if mark := Variable(p.pid, markName); mark != "" && is(mark) {
			all = append(all, Marked{PID: p.pid, Group: p.group, Mark: mark, Program: p.name, born: p.born})
		}
	}
	return all
}

// Group is the group of processes that a child was started in. Its number is given to
// another group once none of its processes is left.
type Group struct {
	PID     int    // of the child, which is the group's number
	Born    string // when the child began, as the pid package tells it
	Session int    // of terminals, in which all of the group are; 0 is one that began outside of a container
}

// GroupOf is the group of a child.
func GroupOf(p *Child) Group { return Group{p.PID, pid.Born(p.PID), sessionOf(p.PID)} }

// Members finds the processes that are in a group still. Where the number is another
// group's now, or the system does not tell, there are none.
func (g Group) Members() (all []Marked) {
	if g.PID <= 1 || g.Born == "" || g.Session < 0 || pid.Alive(g.PID) && pid.Born(g.PID) != g.Born {
		return nil
	}
	for _, p := range processes(nil) {
		if p.group == g.PID && !p.ended && sessionOf(p.pid) == g.Session {
			all = append(all, Marked{PID: p.pid, Group: p.group, Mark: Variable(p.pid, markName), Program: p.name, born: p.born})
		}
	}
	return all
}

// Variable returns a variable of the environment that a process of this user was started
// with; "" if it has none or the system does not tell.
func Variable(id int, name string) string {
	value, _ := Lookup(strings.Split(environOf(id), "\x00"), name) // "" for none
	return value
}

// End ends the process, if it is still the same.
func (m Marked) End() { endAll([]relative{{pid: m.PID, born: m.born}}) }
