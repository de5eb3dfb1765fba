package logicstamp

import (
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
)

// resultKey names a stored result in a cursor.
func resultKey(r *compare.Result) string {
	return digest([]byte(r.ProjectPath + r.ComparedAt.Format(time.RFC3339Nano) + r.Baseline))[:16]
}

// stored finds a result that an earlier page came from.
func (s *Service) stored(call Call, key string) *compare.Result {
	s.results.mu.Lock()
	defer s.results.mu.Unlock()
	for project, list := range s.results.byProject {
		if !s.allowed(call, project) {
			continue
		}
		for _, r := range list {
			if resultKey(r) == key {
				return r
			}
		}
	}
	return nil
}

// pageResult gives the part of a result that begins at the cursor: whole folder
// diffs, then contract changes. The first page has everything else.
func (s *Service) pageResult(r *compare.Result, cur cursor, maxTokens int) *compare.Result {
	page := *r
	if cur.At > 0 {
		page = compare.Result{
			Baseline: r.Baseline, Status: r.Status, ProjectPath: r.ProjectPath, ComparedAt: r.ComparedAt,
			DurationMs: r.DurationMs, Published: r.Published, Summary: r.Summary, Warnings: r.Warnings[:0:0],
		}
	}
	page.FolderDiffs, page.ContractChanges = []compare.FolderDiff{}, []compare.ContractChange{}
	room := s.budget(maxTokens) - sizeOf(page) - cursorRoom
	folders, next := fit(r.FolderDiffs, cur.At, room)
	page.FolderDiffs = append(page.FolderDiffs, folders...)
	at := next
	if next == len(r.FolderDiffs) {
		room -= sizeOf(folders)
		start := max(cur.At-len(r.FolderDiffs), 0)
		// Beside folder diffs nothing is forced in that does not fit.
		if len(folders) == 0 || start < len(r.ContractChanges) && sizeOf(r.ContractChanges[start]) < room {
			changes, n := fit(r.ContractChanges, start, room)
			page.ContractChanges = append(page.ContractChanges, changes...)
			at = len(r.FolderDiffs) + n
		} else {
			at = len(r.FolderDiffs) + start
		}
	}
	if at < len(r.FolderDiffs)+len(r.ContractChanges) {
		cur.At, cur.Source = at, resultKey(r)
		page.Truncated, page.NextCursor = true, s.seal(cur)
	}
	return &page
}

// comparePage gives the first page of a result or, with a cursor, the next page
// of the stored result that the cursor belongs to.
func (s *Service) comparePage(r *compare.Result, call Call, tool, args, text string, maxTokens int) (*compare.Result, error) {
	cur, err := s.open(text, tool, args)
	if err != nil {
		return nil, err
	}
	if text != "" {
		if r = s.stored(call, cur.Source); r == nil {
			return nil, staleCursor()
		}
	}
	return s.pageResult(r, cur, maxTokens), nil
}
