package snapshot

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
)

// Projects are what the projects of sessions are called, by their place in all: the name of
// the folder, with a number where an agent has several sessions in one, such as "shop#2". The session that
// began first has the lowest number, wherever it stands.
func Projects(all []Session) []string {
	names := make([]string, len(all))
	of := map[[2]string][]int{}
	for i := range all {
		s := &all[i]
		if s.Folder == "" {
			continue
		}
		names[i] = OnMachine(s.Machine, filepath.Base(s.Folder))
		k := [2]string{s.Agent, names[i]}
		of[k] = append(of[k], i)
	}
	for _, same := range of {
		if len(same) < 2 {
			continue
		}
		slices.SortFunc(same, func(a, b int) int {
			return cmp.Or(all[a].Started.Compare(all[b].Started), cmp.Compare(all[a].ID, all[b].ID))
		})
		for n, i := range same {
			names[i] = fmt.Sprintf("%s#%d", names[i], n+1)
		}
	}
	return names
}

// OnMachine puts the name of another machine before that of a project or an agent there: "build1:shop".
func OnMachine(machine, name string) string {
	if machine == "" {
		return name
	}
	return machine + ":" + name
}
