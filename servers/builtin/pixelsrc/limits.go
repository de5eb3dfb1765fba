package pixelsrc

import "fmt"

// Limits of answers. An agent pays for each byte; what is left out is said, with how
// to get it.
const (
	MaxListed   = 192 << 10 // bytes of an answer that lists, as JSON; the last entry may exceed it
	MaxEntries  = 500       // of one list in an entry
	maxProblems = 100       // that are named beside an answer
)

// excerpt keeps lists within bounds and notes what was left out.
type excerpt struct {
	from  int // entries that are left out first
	notes []string
}

func (e *excerpt) note(format string, args ...any) {
	const most = 20
	if len(e.notes) < most {
		e.notes = append(e.notes, fmt.Sprintf(format, args...))
	}
}

// part is what an answer shows of a list.
func part[T any](e *excerpt, of, what string, list []T) []T {
	from := min(e.from, len(list))
	to := min(from+MaxEntries, len(list))
	switch {
	case from == to && from > 0:
		e.note("%s has %d %s.", of, len(list), what)
	case from > 0 || to < len(list):
		e.note("%s: %s %d to %d of %d.", of, what, from+1, to, len(list))
	}
	return list[from:to:to]
}
