package process

// relative is a process as the system knows it; born tells it from a later one
// with the same id.
type relative struct {
	pid, parent int
	born        string
}

// descendants are the processes below pid, also those that left its group.
// Where the system does not tell, there are none.
func descendants(pid int) []relative {
	if pid <= 1 {
		return nil
	}
	all := processes()
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
