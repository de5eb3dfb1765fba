package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/report"
)

// kind is what a row of the tree stands for.
type kind int

const (
	folderRow kind = iota
	bundleRow
	sameRow
	sectionRow
	contractRow
	contentRow
	uncoveredRow
	warningRow
)

// row is one line of the tree. It holds what is needed to draw it and to find
// what it stands for again in another result.
type row struct {
	kind  kind
	key   string // stays the same over results
	sign  report.Sign
	name  string
	note  string
	depth int
	// folder and bundle rows point into the result.
	folder   *compare.FolderDiff
	bundle   *compare.ComponentChange
	contract *compare.ContractChange
	warning  string
	breaking int
	opens    bool // has rows below it
	open     bool
}

// view is what the person chose to see of a result.
type view struct {
	closed   map[string]bool // keys of rows that are folded
	same     bool            // unchanged folders are listed
	breaking bool            // only what breaks
	sign     report.Sign     // only this sign; 0 for all
	filter   []string        // words, lower case; all must be in a row
}

func (v view) narrowed() bool { return v.breaking || v.sign != 0 || len(v.filter) > 0 }

// board is a result prepared for the screen: what every frame would otherwise
// look for.
type board struct {
	result    *compare.Result
	contracts map[string]*compare.ContractChange
	ordered   []*compare.ContractChange
	errors    map[string]int // breaking errors by contract
	text      map[string]string
}

func newBoard(r *compare.Result) *board {
	b := &board{result: r, contracts: map[string]*compare.ContractChange{}, errors: map[string]int{}, text: map[string]string{}}
	for i := range r.ContractChanges {
		c := &r.ContractChanges[i]
		b.contracts[c.EntryID] = c
		b.ordered = append(b.ordered, c)
		b.errors[c.EntryID] = report.Errors(*c)
		b.text[c.EntryID] = searchText(c)
	}
	reach := func(c *compare.ContractChange) int { return max(len(c.Affects), c.AffectsTotal) }
	slices.SortStableFunc(b.ordered, func(x, y *compare.ContractChange) int {
		if d := b.errors[y.EntryID] - b.errors[x.EntryID]; d != 0 {
			return d
		}
		return reach(y) - reach(x)
	})
	return b
}

// searchText is what a filter looks at in a contract: its names and fields.
func searchText(c *compare.ContractChange) string {
	words := []string{c.EntryID, c.Kind, string(c.Change)}
	if c.Details != nil {
		words = append(words, c.Details.ModifiedFields...)
		for _, f := range report.Fields(*c) {
			for _, l := range f.Lines {
				words = append(words, l.Text, l.Before, l.After)
			}
		}
	}
	for _, x := range c.Breaking {
		words = append(words, x.Kind, x.Name)
	}
	return strings.ToLower(strings.Join(words, " "))
}

// rows lists the tree as the view wants it.
func (b *board) rows(v view) []row {
	var out []row
	r := b.result
	for i := range r.FolderDiffs {
		out = b.folderRows(out, &r.FolderDiffs[i], v)
	}
	if n := r.Summary.UnchangedFolders; n > 0 && !v.narrowed() {
		out = append(out, row{kind: sameRow, key: "=", sign: report.Same, name: plural(n, "unchanged folder"), opens: b.hasSame(), open: v.same})
		if v.same {
			for i := range r.FolderDiffs {
				if f := &r.FolderDiffs[i]; f.Status == compare.FolderUnchanged {
					out = append(out, row{kind: folderRow, key: "d:" + f.Path, sign: report.Same, name: f.Path, folder: f, depth: 1})
				}
			}
		}
	}
	var contracts []row
	for _, c := range b.ordered {
		if x := b.contractRow(c); v.shows(x, b.text[c.EntryID]) {
			contracts = append(contracts, x)
		}
	}
	out = section(out, v, "contracts", len(contracts), contracts)
	out = section(out, v, "content only", r.Summary.ContentOnly, names(v, contentRow, report.Same, "t:", r.ContentOnly))
	if r.Coverage != nil {
		out = section(out, v, "not covered", len(r.Coverage.Uncovered), names(v, uncoveredRow, report.Unseen, "u:", r.Coverage.Uncovered))
	}
	var warnings []row
	for _, w := range r.Warnings {
		x := row{kind: warningRow, key: "w:" + string(w.Code), sign: report.Warning, name: words(string(w.Code)), warning: w.Message, depth: 1}
		if v.shows(x, strings.ToLower(x.name+" "+w.Message)) {
			warnings = append(warnings, x)
		}
	}
	return section(out, v, "warnings", len(warnings), warnings)
}

// hasSame tells whether the result names its unchanged folders.
func (b *board) hasSame() bool {
	return slices.ContainsFunc(b.result.FolderDiffs, func(f compare.FolderDiff) bool { return f.Status == compare.FolderUnchanged })
}

// words makes a code readable: STALE_CONTEXT is "stale context".
func words(code string) string { return strings.ToLower(strings.ReplaceAll(code, "_", " ")) }

func (b *board) folderRows(out []row, f *compare.FolderDiff, v view) []row {
	if f.Status == compare.FolderUnchanged {
		return out
	}
	var below []row
	delta := 0
	for i := range f.Changes {
		c := &f.Changes[i]
		delta += c.TokenDelta
		x := row{
			kind: bundleRow, key: "b:" + c.EntryID, sign: report.SignOf(*c), name: c.RootComponent, note: report.Signed(c.TokenDelta),
			bundle: c, contract: b.contracts[c.EntryID], depth: 1, breaking: b.errors[c.EntryID],
		}
		if c.Details != nil {
			for _, d := range c.Details.ChangedDependencies {
				x.breaking += b.errors[d.EntryID]
			}
		}
		if v.shows(x, strings.ToLower(c.EntryID)+" "+b.text[c.EntryID]) {
			below = append(below, x)
		}
	}
	if v.narrowed() && len(below) == 0 {
		return out
	}
	key := "f:" + f.Path
	open := !v.closed[key]
	out = append(out, row{
		kind: folderRow, key: key, sign: report.SignOfFolder(*f), name: f.Path, note: report.Signed(delta), folder: f,
		opens: len(below) > 0, open: open,
	})
	if open {
		out = append(out, below...)
	}
	return out
}

func (b *board) contractRow(c *compare.ContractChange) row {
	x := row{
		kind: contractRow, key: "c:" + c.EntryID, sign: report.SignOfContract(*c), name: c.Name, contract: c, depth: 1,
		breaking: b.errors[c.EntryID],
	}
	switch {
	case x.breaking > 0:
		x.note = fmt.Sprintf("%d breaking", x.breaking)
		x.sign = report.Breaking
	case c.Change == compare.Hidden || c.Change == compare.Revealed:
		x.note = string(c.Change)
	case max(len(c.Affects), c.AffectsTotal) > 1:
		x.note = plural(max(len(c.Affects), c.AffectsTotal), "root")
	}
	return x
}

// section adds a titled part with its rows, folded or not; a part without any
// is left out.
func section(out []row, v view, title string, total int, below []row) []row {
	if len(below) == 0 {
		return out
	}
	key := "s:" + title
	open := !v.closed[key]
	out = append(out, row{kind: sectionRow, key: key, name: title, note: fmt.Sprint(total), opens: true, open: open})
	if open {
		out = append(out, below...)
	}
	return out
}

func names(v view, k kind, sign report.Sign, prefix string, list []string) []row {
	var out []row
	for _, p := range list {
		x := row{kind: k, key: prefix + p, sign: sign, name: p, depth: 1}
		if v.shows(x, strings.ToLower(p)) {
			out = append(out, x)
		}
	}
	return out
}

// shows tells whether a row passes what the view is narrowed to.
func (v view) shows(x row, text string) bool {
	if v.breaking && x.breaking == 0 {
		return false
	}
	if v.sign != 0 && x.sign != v.sign && (v.sign != report.Breaking || x.breaking == 0) {
		return false
	}
	for _, w := range v.filter {
		if !strings.Contains(text, w) && w != string(x.sign) {
			return false
		}
	}
	return true
}

// isChange tells whether n and N stop at a row.
func (x row) isChange() bool {
	return x.kind == bundleRow || x.kind == contractRow || x.kind == uncoveredRow
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
