package drift

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/theme"
)

// weight is how much a row matters, the most first.
type weight int

const (
	breaks    weight = iota // those who use it
	mayBreak                // or the comparison is not to be trusted
	harmless                // a contract that changed
	came                    // one that is new, gone, or elsewhere
	signature               // of what no contract holds
	unseen                  // what could not be compared
	affected                // by what it uses
	inside                  // what changed and is no drift
)

// row is one line of the list: a contract that changed, or several files of which there is
// less to say.
type row struct {
	weight weight
	key    string // stays the same over results
	name   string
	words  []word // what changed in it
	file   string // of the project; "" for none

	contract *compare.ContractChange
	about    string   // what there is to say of it, if it is no contract
	items    []string // the files it stands for
	search   string   // what a filter looks at
}

// word is what changed, in a few words with its sign.
type word struct {
	sign report.Sign
	text string
}

// mark is the sign of a row.
func (x row) mark(th *theme.Theme) (string, theme.Style) {
	switch x.weight {
	case breaks:
		return th.Glyph.Fail, th.Bad
	case mayBreak:
		return "!", th.Warn
	case unseen:
		return "?", th.Faint
	case affected, inside:
		return th.Glyph.Off, th.Faint
	default:
		return " ", th.Text
	}
}

// rowsOf lists what changed, what breaks first.
func rowsOf(r *compare.Result) []row {
	if r == nil || r.Status == compare.Failed {
		return nil
	}
	var out []row
	add := func(x row, more ...string) {
		x.search = strings.ToLower(strings.Join(append(append(more, x.name, x.file, x.about), x.items...), " "))
		out = append(out, x)
	}
	changes := report.ByWeight(r.ContractChanges)
	told, names := map[string]bool{}, map[string]int{}
	for _, c := range changes {
		names[c.Name]++
	}
	for i := range changes {
		c := &changes[i]
		told[c.EntryID] = true
		x := contractRow(c)
		if names[c.Name] > 1 {
			x.name = path.Join(path.Base(path.Dir(c.EntryID)), c.Name)
		}
		add(x, searchText(c))
	}
	for _, s := range r.Signatures {
		add(row{
			weight: signature, key: "h:" + s.EntryID + " " + s.Name, name: s.Name, file: s.EntryID, words: []word{{report.Changed, strings.TrimPrefix(s.After, s.Name)}},
			about: "− " + s.Before + "\n+ " + s.After + "\n\nContracts record neither the types of parameters nor inline types of props.",
		})
	}
	for _, w := range r.Warnings {
		if r.Coverage == nil || len(r.Coverage.Uncovered) == 0 || !strings.Contains(string(w.Code), "UNCOVERED") { // which has a row
			add(row{weight: mayBreak, key: "w:" + string(w.Code), name: words(string(w.Code)), about: w.Message})
		}
	}
	several := func(of weight, what, about string, total int, items []string) {
		if len(items) > 0 {
			add(row{weight: of, key: what, name: fmt.Sprint(max(total, len(items)), " ", what), about: about, items: items})
		}
	}
	if r.Coverage != nil {
		several(unseen, "not covered", "Changed, but in no bundle on one side: beyond the depth, or in a cycle that no root reaches. A commit as baseline looks deeper.", 0, r.Coverage.Uncovered)
	}
	several(affected, "affected", "Their own contracts are the same; what they use has changed.", 0, through(r, told))
	several(inside, "edited inside", "Their text changed, but no contract: comments, formatting, the body of a function.", r.Summary.ContentOnly, r.ContentOnly)
	slices.SortStableFunc(out, func(a, b row) int { return cmp.Compare(a.weight, b.weight) })
	return out
}

// through are the roots whose bundles changed though their contracts did not, each with why.
func through(r *compare.Result, told map[string]bool) []string {
	var out []string
	for _, f := range r.FolderDiffs {
		for _, c := range f.Changes {
			moved := c.Details != nil && c.Details.MovedFrom != ""
			if !told[c.EntryID] && (c.Type != compare.BundleAdded || !moved) {
				out = append(out, strings.TrimSpace(c.EntryID+report.Cause(c, r)))
			}
		}
	}
	return out
}

func contractRow(c *compare.ContractChange) row {
	x := row{weight: harmless, key: "c:" + c.EntryID, name: c.Name, file: c.EntryID, contract: c, words: changedWords(c)}
	switch {
	case report.Errors(*c) > 0:
		x.weight = breaks
	case len(c.Breaking) > 0:
		x.weight = mayBreak
	case c.Change == compare.Moved && c.Details != nil:
		x.weight, x.words = came, []word{{report.Moved, c.Details.MovedTo}}
	case c.Change != compare.Changed:
		text := strings.NewReplacer("added", "new", "removed", "gone").Replace(string(c.Change))
		x.weight, x.words = came, []word{{report.SignOfContract(*c), text}}
	}
	return x
}

// searchText is what a filter looks at in a contract: its fields and how they changed.
func searchText(c *compare.ContractChange) string {
	text := []string{c.Kind, string(c.Change)}
	if c.Details != nil {
		text = append(text, c.Details.ModifiedFields...)
	}
	for _, f := range report.Fields(*c) {
		for _, l := range f.Lines {
			text = append(text, l.Text, l.Before, l.After)
		}
	}
	for _, x := range c.Breaking {
		text = append(text, "breaking", x.Kind, x.Name)
	}
	return strings.Join(text, " ")
}

// words makes a code readable: STALE_CONTEXT is "stale context".
func words(code string) string { return strings.ToLower(strings.ReplaceAll(code, "_", " ")) }

// changedWords are what changed in a contract, what breaks first.
func changedWords(c *compare.ContractChange) []word {
	var out []word
	told := map[string]bool{}
	for _, x := range c.Breaking {
		w := word{report.Removed, x.Name}
		switch x.Kind {
		case "contract_removed":
			w.text = "file gone"
		case "prop_required":
			w.sign = report.Changed
			if c.Details != nil && slices.Contains(c.Details.AddedProps, x.Name) {
				w.sign = report.Added
			}
		case "generic_changed", "prop_type", "kind_changed", "member_changed":
			w.sign = report.Changed
		case "enum_member_removed", "member_removed", "union_member_removed":
			_, w.text, _ = strings.Cut(x.Message, ": ")
		}
		if !told[w.text] {
			out = append(out, w)
		}
		told[w.text], told[x.Name] = true, true
	}
	for _, f := range report.Fields(*c) {
		for _, l := range f.Lines {
			if name := nameOf(l); !told[name] {
				told[name] = true
				out = append(out, word{l.Sign, name})
			}
		}
	}
	return out
}

// nameOf is the name of what a line is about.
func nameOf(l report.Line) string {
	text := l.Text
	if l.Sign == report.Changed {
		text = l.After
	}
	name, _, _ := strings.Cut(text, ":")
	return strings.TrimSuffix(name, "?")
}
