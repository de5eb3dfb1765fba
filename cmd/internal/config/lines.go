package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
)

// lines are where each key of a file is written, by what it is called in full,
// "ui.mouse", and where each table begins, "ui.".
type lines map[string]int

// linesOf finds the lines of a file, and the names of the tables below profile in
// their order.
func linesOf(b []byte) (at lines, profiles []string) {
	at = lines{}
	for e := range settings.Entries(b) {
		key := strings.Join(e.Path, ".")
		if e.IsTable() {
			key += "."
		}
		at[key] = cmp.Or(at[key], e.At.Line)
		if len(e.Path) > 1 && strings.EqualFold(e.Path[0], "profile") && !slices.Contains(profiles, e.Path[1]) {
			profiles = append(profiles, e.Path[1])
		}
	}
	return at, profiles
}

// at is the line of a name; 0 where it is not written. As in the file, its case does not
// matter.
func (l lines) at(name string) (line int) {
	if line = l[name]; line > 0 {
		return line
	}
	for written, n := range l {
		if strings.EqualFold(written, name) && (line == 0 || n < line) {
			line = n
		}
	}
	return line
}

// of is the line of a key, or of the nearest that it is in; 0 where none is written.
func (l lines) of(key string) int {
	for ; key != ""; key = key[:max(strings.LastIndexByte(key, '.'), 0)] {
		if n := cmp.Or(l.at(key), l.at(key+".")); n > 0 {
			return n
		}
	}
	return 0
}

// set is the line that gives a setting its value, or with which the table begins that it
// is; 0 where none does.
func (l lines) set(key string) int { return cmp.Or(l.at(key+"."), l.at(key)) }

// below are the lines of what is in a table, by its name there.
func (l lines) below(table string) map[string]int {
	out := map[string]int{}
	begin := len(table) + 1
	for key, n := range l {
		if len(key) > begin && strings.EqualFold(key[:begin], table+".") {
			out[key[begin:]] = n
		}
	}
	return out
}
