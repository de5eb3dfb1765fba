// Package pid tells which processes run, and one process from a later one with the same ID.
package pid

// Same reports whether a process still runs that was born so, as [Born] said; any that has
// the ID if born is "".
func Same(id int, born string) bool { return Alive(id) && (born == "" || Born(id) == born) }
