package process

import (
	"os"
	"slices"
	"strings"
	"time"
)

// relative is a process as the system knows it; born tells it from a later one
// with the same id.
type relative struct {
	pid, parent int
	group       int
	name        string
	born        string
	ended       bool   // and waits only for its parent to hear of it
	worked      uint64 // time on a processor, in the system's ticks; 0 where that is not told
}

// descendants are the processes below pid, also those that left its group.
// Where the system does not tell, there are none.
func descendants(pid int) []relative {
	if pid <= 1 {
		return nil
	}
	all := processes(nil)
	young := map[int][]relative{}
	for _, p := range all {
		young[p.parent] = append(young[p.parent], p)
	}
	var out []relative
	for next := young[pid]; len(next) > 0; {
		p := next[0]
		next = append(next[1:len(next):len(next)], young[p.pid]...)
		out = append(out, p)
		if len(out) > len(all) {
			break // the ids changed hands while they were read
		}
	}
	return out
}

// EndDescendants ends everything that descends from this process.
func EndDescendants() {
	const rounds, pause = 100, 10 * time.Millisecond
	for range rounds {
		left := slices.DeleteFunc(descendants(os.Getpid()), func(p relative) bool { return p.ended })
		if len(left) == 0 {
			return
		}
		endAll(left)
		time.Sleep(pause)
	}
}

// Worked is how long the child and what it has started have had a processor, in ticks
// of the system: a number that grows while they work. Where the system does not tell
// it stays 0.
func (p *Child) Worked() (ticks uint64) {
	if self, ok := look(p.PID); ok {
		ticks = self.worked
	}
	for _, d := range descendants(p.PID) {
		ticks += d.worked
	}
	return ticks
}

// Running is a process of the user's.
type Running struct {
	PID, Parent int
	Name        string // of its program, as the system cuts it
}

// All returns the processes that run; none where the system does not tell.
func All() []Running {
	var out []Running
	for _, p := range processes(nil) {
		out = append(out, Running{p.pid, p.parent, p.name})
	}
	return out
}

// Args returns the words of the command line of a process, its program first; none of a
// process of another user, or where the system does not tell.
func Args(pid int) []string { return argsOf(pid) }

// Variables returns what the environment of a process said of names when it was started;
// nothing of a process of another user.
func Variables(pid int, names ...string) map[string]string {
	out := map[string]string{}
	for entry := range strings.SplitSeq(environOf(pid), "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok && slices.Contains(names, name) {
			out[name] = value
		}
	}
	return out
}
