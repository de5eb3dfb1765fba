package drift

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
)

// partTree is the part of the page that lists what changed.
const partTree = "tree"

// tree is what changed in a result, as a list whose parts can be folded, and the details of
// what is under its cursor.
type tree struct {
	browser.Browser
	board  *board
	view   view
	rows   []row
	typeAt int
	mode   mode
	drawn  drawn
	// from is the key of the row that a jump came from.
	from string
	// fresh are the rows that changed, until when they are marked.
	fresh map[string]time.Time
}

func newTree() *tree {
	t := &tree{view: view{closed: folded()}, fresh: map[string]time.Time{}}
	t.Browser = browser.New(browser.Options{ID: ID, List: partTree, Open: tui.Do(t.enter)}, tui.Filter{Narrow: tui.Do(t.narrow)})
	t.List.Close = true
	t.Filter.Edit.Placeholder = "path, name, field, sign"
	return t
}

// mark remembers for two seconds which rows a new result changed.
func (t *tree) mark(old *board) {
	until := time.Now().Add(2 * time.Second)
	t.fresh = map[string]time.Time{}
	for id := range t.board.contracts {
		if t.board.text[id] != old.text[id] {
			t.fresh["c:"+id], t.fresh["b:"+id] = until, until
		}
	}
}

// reflow lists the rows anew and finds the cursor's row again; when it is gone,
// the nearest stays.
func (t *tree) reflow() {
	key := ""
	if x, ok := t.selected(); ok {
		key = x.key
	}
	t.rows = t.board.rows(t.view)
	t.List.SetLen(len(t.rows))
	for i, x := range t.rows {
		if x.key == key || key == "" && x.isChange() {
			t.List.MoveTo(i)
			return
		}
	}
}

func (t *tree) selected() (row, bool) {
	if i := t.List.Cursor; i >= 0 && i < len(t.rows) {
		return t.rows[i], true
	}
	return row{}, false
}

// narrow filters by what was typed.
func (t *tree) narrow() {
	t.view.filter = strings.Fields(strings.ToLower(t.Filter.Text()))
	if t.board != nil {
		t.reflow()
	}
}

// reveal puts the cursor on a row, also when its section is folded.
func (t *tree) reveal(key string) bool {
	for range 2 {
		for i, x := range t.rows {
			if x.key == key {
				t.List.MoveTo(i)
				t.FromTop()
				return true
			}
		}
		for key := range folded() {
			delete(t.view.closed, key)
		}
		t.reflow()
	}
	return false
}

// sourceFile is the file behind the selected row, "" when there is none.
func (t *tree) sourceFile(project string) string {
	x, ok := t.selected()
	if !ok {
		return ""
	}
	switch x.kind {
	case bundleRow:
		return filepath.Join(project, filepath.FromSlash(x.bundle.EntryID))
	case contractRow:
		return filepath.Join(project, filepath.FromSlash(x.contract.EntryID))
	case signatureRow:
		return filepath.Join(project, filepath.FromSlash(x.signature.EntryID))
	case contentRow, uncoveredRow:
		return filepath.Join(project, filepath.FromSlash(x.name))
	default:
		return ""
	}
}

// look is what the page keeps between runs.
type look struct {
	Filter         string
	Kind           int
	Breaking, Same bool
	Mode           mode
	Folds          []string `json:",omitempty"` // of sections, where they are not as at first
}

func (t *tree) whyEmpty() string {
	return tui.Because(len(t.rows) == 0, "nothing to show")
}

// enter looks closer: it unfolds, jumps from a root to what changed it, or goes
// to the details.
func (t *tree) enter() {
	x, ok := t.selected()
	if !ok {
		return
	}
	if x.opens {
		t.fold(!x.open)
		return
	}
	if x.kind == bundleRow && x.bundle.Type == compare.HashChanged && x.bundle.Details != nil && len(x.bundle.Details.ChangedDependencies) > 0 {
		from := x.key
		if t.reveal("c:" + t.cause(x.bundle.Details.ChangedDependencies)) {
			t.from = from
			return
		}
	}
	t.Focus = browser.PartDetail
}

// cause is the dependency to look at first: one that breaks, else the first.
func (t *tree) cause(deps []compare.Dependency) string {
	for _, d := range deps {
		if t.board.errors[d.EntryID] > 0 {
			return d.EntryID
		}
	}
	return deps[0].EntryID
}

func (t *tree) goBack(narrow bool) {
	switch {
	case t.Focus == browser.PartDetail && narrow:
		t.Focus = partTree
	case t.from != "":
		t.reveal(t.from)
		t.from, t.Focus = "", partTree
	}
}

// fold opens or closes the row under the cursor; on a row without others below
// it, it closes the one above it, or goes to the details.
func (t *tree) fold(open bool) {
	x, ok := t.selected()
	if !ok {
		return
	}
	switch {
	case x.kind == sameRow:
		t.view.same = open
	case x.opens && x.open != open:
		if open {
			delete(t.view.closed, x.key)
		} else {
			t.view.closed[x.key] = true
		}
	case !open && x.depth > 0:
		for i := t.List.Cursor; i >= 0; i-- {
			if t.rows[i].depth == 0 {
				t.List.MoveTo(i)
				return
			}
		}
	case open && !x.opens:
		t.Focus = browser.PartDetail
		return
	default:
		return
	}
	t.reflow()
}

// seek moves to the next row in a direction that fits, past the ends.
func (t *tree) seek(d int, fits func(row) bool) {
	n := len(t.rows)
	for i := 1; i <= n; i++ {
		at := ((t.List.Cursor+d*i)%n + n) % n
		if fits(t.rows[at]) {
			t.List.MoveTo(at)
			t.FromTop()
			return
		}
	}
}

func (t *tree) unfilter() {
	t.Filter.SetText("")
	t.view.filter, t.view.breaking, t.view.sign, t.typeAt, t.Focus = nil, false, 0, 0, partTree
	if t.board != nil {
		t.reflow()
	}
}

// kinds are the signs that the list is narrowed to, one after the other.
func kinds() []report.Sign {
	return []report.Sign{0, report.Added, report.Removed, report.Changed, report.Through, report.Moved, report.Unseen}
}

// SaveState implements tui.StateSaver.
func (t *tree) SaveState() string {
	return tui.EncodeState(look{t.Filter.Text(), t.typeAt, t.view.breaking, t.view.same, t.mode, t.view.unusual()})
}

// LoadState implements tui.StateSaver.
func (t *tree) LoadState(kept string) {
	var l look
	if !tui.DecodeState(kept, &l) || l.Kind < 0 || l.Kind >= len(kinds()) || l.Mode < unified || l.Mode > raw {
		return
	}
	t.Filter.SetText(sanitize.Line(l.Filter))
	t.view.filter = strings.Fields(strings.ToLower(t.Filter.Text()))
	t.view.breaking, t.view.same, t.mode = l.Breaking, l.Same, l.Mode
	t.typeAt, t.view.sign = l.Kind, kinds()[l.Kind]
	for _, title := range l.Folds {
		if slices.Contains(sections(), title) {
			key := "s:" + title
			t.view.closed[key] = !folded()[key]
		}
	}
}

// nextType narrows to one sign after the other, then to none.
func (t *tree) nextType() tea.Cmd {
	signs := kinds()
	t.typeAt = (t.typeAt + 1) % len(signs)
	t.view.sign = signs[t.typeAt]
	t.reflow()
	if t.view.sign == 0 {
		return tui.Toast(tui.Info, "showing all kinds of change")
	}
	return tui.Toast(tui.Info, "only "+string(rune(t.view.sign))+"; f for the next kind")
}

func (t *tree) toggle(m mode) {
	if t.mode == m {
		m = unified
	}
	t.mode = m
	t.FromTop()
}

func (t *tree) copySelected() tea.Cmd {
	x, _ := t.selected()
	switch x.kind {
	case bundleRow:
		return tui.Copy(strings.TrimSpace(x.bundle.EntryID+" "+x.bundle.SemanticHashAfter), "the path and hash")
	case signatureRow:
		return tui.Copy(x.signature.EntryID+" "+x.signature.After, "the signature")
	case contractRow:
		return tui.Copy(strings.TrimSpace(x.contract.EntryID+" "+x.contract.SemanticHashAfter), "the path and hash")
	default:
		return tui.Copy(x.name, "the line")
	}
}
