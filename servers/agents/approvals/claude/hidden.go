package claude

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Why sessions have no row.
const (
	spareSession  = "kept ready for a task in the background"
	parkedSession = "its terminal shows a session in the background"
)

// hide marks the rows that are no conversations: those that wait for a task, and those of
// terminals that show a session in the background, which is then in that terminal.
func hide(all map[string]session, rows map[string]snapshot.Session) {
	jobs := map[string]string{}
	for id, s := range all {
		if s.Job != "" {
			jobs[s.Job] = id
		}
	}
	for id, s := range all {
		row := rows[id]
		job, parked := jobs[s.Parked]
		switch {
		case s.Spare, s.waitsForTask():
			row.Hidden = spareSession
		case parked && job != id:
			row.Hidden = parkedSession
			of := rows[job]
			of.PID, of.Place, of.Door = s.PID, row.Place, snapshot.Door{} // there the user types
			rows[job] = of
		default:
			continue
		}
		rows[id] = row
	}
}

// waitsForTask reports whether a session of a version that does not say so waits for a task:
// one that was given none has no name of its own and no state.
func (s *session) waitsForTask() bool {
	if s.Kind != "bg" || s.Agent == nil || s.Job == "" || s.Name != s.Job || !strings.HasPrefix(s.ID, s.Job) || !filepath.IsLocal(s.Job) {
		return false
	}
	_, err := os.Lstat(filepath.Join(s.config, "jobs", s.Job, "state.json"))
	return os.IsNotExist(err)
}
