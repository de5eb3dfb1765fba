package logicstamp

import (
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/store"
)

// A baseline belongs to the session that made or adopted it, or to the user;
// nobody else's snapshot moves it.

// baselineKey names the baseline of a session, or of the user, in a project.
type baselineKey struct{ client, project string }

// owns makes a snapshot the baseline of who calls.
func (s *Service) owns(call Call, e *store.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.baselines[baselineKey{call.Client, e.Project}] = e.ID
}

// adopts makes a snapshot the baseline of who calls and has none.
func (s *Service) adopts(call Call, e *store.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := baselineKey{call.Client, e.Project}
	if s.baselines[key] == "" {
		s.baselines[key] = e.ID
	}
}

// own is the baseline of who calls: the snapshot they made or adopted, whatever
// happened to it since. One who has none gets the newest usable one, their own
// from an earlier session first; said is a warning where that is news to them.
// Without any, it is nil.
func (s *Service) own(call Call, project string) (e *store.Entry, said *problem.Warning, err error) {
	s.mu.Lock()
	id := s.baselines[baselineKey{call.Client, project}]
	s.mu.Unlock()
	if id != "" {
		e, err := s.store.Get(id)
		if problem.CodeOf(err) == problem.SnapshotUnknown {
			// Another process cleaned it away with all that it knew of it.
			err = problem.New(problem.SnapshotLost, problem.Of(err).Next, "the snapshot %s, the baseline here, is gone", id)
		}
		return e, nil, err
	}
	list, past := s.store.Newest(project)
	for _, one := range list {
		if one.Owner == call.Identity {
			return one, nil, nil
		}
	}
	if len(list) == 0 {
		if past != nil && past.Owner == call.Identity {
			_, err := s.store.Get(past.ID)
			return nil, nil, err
		}
		return nil, nil, nil
	}
	e = list[0]
	why := "this session has made no snapshot of the project"
	if past != nil && past.Owner == call.Identity {
		why = "this client's last snapshot of the project, " + past.ID + ", can be used no more"
	}
	w := problem.Warn(problem.BaselineAdopted, "%s; the baseline is %s, which %s made %s ago",
		why, e.ID, madeBy(e), s.opts.Now().Sub(e.CreatedAt).Round(time.Second))
	return e, &w, nil
}

func madeBy(e *store.Entry) string {
	if e.MadeBy == "" {
		return "the user"
	}
	return e.MadeBy
}

// cleanStore removes what has expired. Baselines go last.
func (s *Service) cleanStore() {
	s.mu.Lock()
	held := map[string]bool{}
	for _, id := range s.baselines {
		held[id] = true
	}
	s.mu.Unlock()
	s.store.Clean(func(id string) bool { return held[id] })
}

// forgetBaselines drops those of a session that has ended.
func (s *Service) forgetBaselines(client string) {
	if client == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.baselines {
		if key.client == client {
			delete(s.baselines, key)
		}
	}
}
