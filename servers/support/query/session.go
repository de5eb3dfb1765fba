package query

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// SessionStatuses are the states of sessions as a query names them; "waiting" is any of
// those that wait for the user, "done" an idle one that the user has not looked at since.
func SessionStatuses() []string {
	return []string{
		"waiting", string(snapshot.WaitsForPermission), string(snapshot.WaitsForAnswer), "done", string(snapshot.Working), string(snapshot.Background),
		string(snapshot.Idle), string(snapshot.Ended), string(snapshot.StateUnknown),
	}
}

// SessionFields are the names before a colon that mean something for a session.
func SessionFields() []string { return []string{"agent", "status", "tool", "since", "until"} }

// ParseSessions reads a query for sessions, as [Parse] reads one for calls. since and until
// are about when a session's state began, durations about how long ago that is.
func ParseSessions(text string, now time.Time) (Query, error) {
	return parse(text, now, SessionStatuses())
}

// LetsSession tells whether a session is one that the query asks for.
func (q *Query) LetsSession(s *snapshot.Session, now time.Time) bool {
	state := string(s.State)
	if s.State == snapshot.Idle && s.Unread {
		state = "done"
	}
	age := now.Sub(s.Since)
	switch {
	case q.Tool != "" && !like(s.LastTool, q.Tool),
		q.Server != "",
		q.Agent != "" && !like(s.Agent, q.Agent) && (strings.Contains(q.Agent, "*") || !has(s.Agent, strings.ToLower(q.Agent))),
		!strings.HasPrefix(state, q.Status) && (!s.State.Waits() || !strings.HasPrefix("waiting", q.Status)),
		!q.Since.IsZero() && s.Since.Before(q.Since),
		!q.Until.IsZero() && !s.Since.Before(q.Until),
		q.Longer > 0 && age <= q.Longer,
		q.Less > 0 && age >= q.Less:
		return false
	}
	for _, w := range q.Words {
		found := false
		for _, in := range []string{s.Agent, state, s.Folder, s.Title, s.Name(), s.Mode, s.Model, s.LastTool, s.LastSubject, s.WaitingFor, s.Note, s.ID} {
			found = found || has(in, w)
		}
		if !found {
			return false
		}
	}
	return true
}

// Complete returns the last word of a query that is being typed, and what it could become:
// the names of fields, or a field with one of its values, of which values returns those
// there are of names and states; * stands for their spaces.
func Complete(text string, fields []string, values func(field string) []string) (word string, to []string) {
	word = text[strings.LastIndexByte(text, ' ')+1:]
	if word == "" {
		return "", nil
	}
	name, value, isField := strings.Cut(word, ":")
	begins := func(all []string, typed, before, after string) {
		for _, s := range all {
			if s = before + strings.Join(strings.Fields(s), "*") + after; len(s) > len(word) && strings.HasPrefix(strings.ToLower(s), strings.ToLower(before+typed)) && !slices.Contains(to, s) {
				to = append(to, s)
			}
		}
	}
	switch {
	case !isField:
		begins(fields, word, "", ":")
	case name == "since" || name == "until":
		begins([]string{"10m", "1h", "1d"}, value, name+":", "")
	default:
		begins(values(name), value, name+":", "")
	}
	return word, to
}
