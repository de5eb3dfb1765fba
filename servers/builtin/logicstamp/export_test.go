package logicstamp

import "github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"

// Results are the last comparisons of a project, oldest first.
func (s *Service) Results(project string) []*compare.Result {
	s.comparer.results.mu.Lock()
	defer s.comparer.results.mu.Unlock()
	return s.comparer.results.byProject[project]
}
