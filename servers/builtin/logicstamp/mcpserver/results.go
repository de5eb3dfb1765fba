package mcpserver

import (
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
)

// resultKey names a stored result in a cursor.
func resultKey(r *compare.Result) string {
	return digest(r.ProjectPath + r.ComparedAt.Format(time.RFC3339Nano) + r.Baseline)
}

// pageResult gives the part of a result that begins at the cursor: whole folder
// diffs, then contract changes. The first page has everything else. A folder
// too large for a page of its own comes in parts that repeat its path.
func (p pager) pageResult(r *compare.Result, cur cursor, maxTokens int) *compare.Result {
	later := compare.Result{
		Baseline: r.Baseline, Status: r.Status, ProjectPath: r.ProjectPath, ComparedAt: r.ComparedAt,
		DurationMs: r.DurationMs, Published: r.Published, Summary: r.Summary, Warnings: r.Warnings[:0:0],
		FolderDiffs: []compare.FolderDiff{}, ContractChanges: []compare.ContractChange{},
	}
	page := later
	if !cur.Later {
		page = *r
		page.FolderDiffs, page.ContractChanges = later.FolderDiffs, later.ContractChanges
	}
	room := p.budget(maxTokens) - cursorRoom
	whole := room - sizeOf(later)
	// Beside the summary nothing is forced in that does not fit.
	fill := filling{room: room - sizeOf(page), force: cur.Later}
	for cur.At < len(r.FolderDiffs) {
		f := r.FolderDiffs[cur.At]
		if cur.Node == 0 && (sizeOf(f) < whole || len(f.Changes) == 0) {
			if !fill.take(f) {
				break
			}
			page.FolderDiffs = append(page.FolderDiffs, f)
			cur.At++
			continue
		}
		part := compare.FolderDiff{Path: f.Path, Status: f.Status, Changes: []compare.ComponentChange{}}
		fill.room -= sizeOf(part)
		for ; cur.Node < len(f.Changes) && fill.take(f.Changes[cur.Node]); cur.Node++ {
			part.Changes = append(part.Changes, f.Changes[cur.Node])
		}
		if len(part.Changes) > 0 {
			page.FolderDiffs = append(page.FolderDiffs, part)
		}
		if cur.Node < len(f.Changes) {
			break
		}
		cur.At, cur.Node = cur.At+1, 0
	}
	for cur.At >= len(r.FolderDiffs) && cur.At < len(r.FolderDiffs)+len(r.ContractChanges) {
		change := r.ContractChanges[cur.At-len(r.FolderDiffs)]
		if !fill.take(change) {
			break
		}
		page.ContractChanges = append(page.ContractChanges, change)
		cur.At++
	}
	if cur.At < len(r.FolderDiffs)+len(r.ContractChanges) {
		cur.Later, cur.Source = true, resultKey(r)
		page.Truncated, page.NextCursor = true, p.seal(cur)
	}
	return &page
}

// filling is the room left in a page, in bytes.
type filling struct {
	room int
	// force takes the next item whatever its size: a page must bring something.
	force bool
}

// take reports whether an item goes onto the page.
func (f *filling) take(item any) bool {
	n := sizeOf(item) + 1
	if n > f.room && !f.force {
		return false
	}
	f.room, f.force = f.room-n, false
	return true
}

// comparePage gives the first page of a result or, with a cursor, the next page
// of the stored result that the cursor belongs to.
func (h *handlers) comparePage(r *compare.Result, call logicstamp.Call, tool, args, text string, maxTokens int) (*compare.Result, error) {
	cur, err := h.pager.open(text, tool, args)
	if err != nil {
		return nil, err
	}
	if text != "" {
		if r = h.s.FindResult(call, func(r *compare.Result) bool { return resultKey(r) == cur.Source }); r == nil {
			return nil, staleCursor()
		}
	}
	return h.pager.pageResult(r, cur, maxTokens), nil
}
