// Package report writes comparisons as text: plain, Markdown, and the lines a
// screen shows for one contract.
package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

// Sign says what happened in one character. Colour only repeats it.
type Sign rune

// The signs.
const (
	Added    Sign = '+'
	Removed  Sign = '−'
	Changed  Sign = '~'
	Through  Sign = '○'
	Moved    Sign = '→'
	Same     Sign = '='
	Unseen   Sign = '?'
	Breaking Sign = '✗'
	Warning  Sign = '!'
)

// signOf is the sign of a bundle's change.
func signOf(c compare.ComponentChange) Sign {
	switch c.Type {
	case compare.BundleAdded:
		if c.Details != nil && c.Details.MovedFrom != "" {
			return Moved
		}
		return Added
	case compare.BundleRemoved:
		if c.Details != nil && c.Details.MovedTo != "" {
			return Moved
		}
		return Removed
	case compare.HashChanged:
		return Through
	default:
		return Changed
	}
}

// SignOfContract is the sign of a contract's change.
func SignOfContract(c compare.ContractChange) Sign {
	switch c.Change {
	case compare.Added, compare.Revealed:
		return Added
	case compare.Removed, compare.Hidden:
		return Removed
	case compare.Moved:
		return Moved
	default:
		return Changed
	}
}

// signOfFolder is the sign of a folder; one changed only through dependencies
// has the sign for that.
func signOfFolder(f compare.FolderDiff) Sign {
	switch f.Status {
	case compare.FolderAdded:
		return Added
	case compare.FolderRemoved:
		return Removed
	case compare.FolderUnchanged:
		return Same
	default:
	}
	for _, c := range f.Changes {
		if signOf(c) != Through {
			return Changed
		}
	}
	return Through
}

// Line is one entry of a field that differs. A changed one has both texts.
type Line struct {
	Sign          Sign
	Text          string
	Before, After string
}

// String is the line without colour: "− locked?: boolean", "~ a → b".
func (l Line) String() string {
	if l.Sign == Changed {
		return fmt.Sprintf("%c %s → %s", l.Sign, l.Before, l.After)
	}
	return fmt.Sprintf("%c %s", l.Sign, l.Text)
}

// Field is one part of a contract with what differs in it.
type Field struct {
	Name  string
	Lines []Line
}

// Fields are the parts of a contract that changed, in reading order.
func Fields(c compare.ContractChange) []Field {
	d := c.Details
	if d == nil {
		return nil
	}
	var out []Field
	add := func(name string, lines []Line) {
		if len(lines) > 0 {
			out = append(out, Field{fieldName(d, name), lines})
		}
	}
	typed, sets := d.Parts()
	for _, p := range typed {
		add(p.Name, typeLines(c, p))
	}
	add("apiSignature", rawLines(d.APISignatureBefore, d.APISignatureAfter))
	add("exports", exportLines(d))
	for _, p := range sets {
		add(p.Name, lines(*p.Added, *p.Removed, nil))
	}
	var kind []Line
	if d.KindBefore != d.KindAfter {
		kind = []Line{{Sign: Changed, Before: d.KindBefore, After: d.KindAfter}}
	}
	add("kind", kind)
	add("nextjs", rawLines(d.NextJSBefore, d.NextJSAfter))
	add("style", rawLines(d.StyleBefore, d.StyleAfter))
	return out
}

// fieldName finds the full name of a part: "props" is "interface.props" or
// "logicSignature.props".
func fieldName(d *compare.Details, part string) string {
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(d.Totals)), d.ModifiedFields) {
		if name == part || strings.HasSuffix(name, "."+part) {
			return name
		}
	}
	return part
}

// exportLines are the exports by name, where the sources or both contracts name
// them.
func exportLines(d *compare.Details) []Line {
	if len(d.AddedExports)+len(d.RemovedExports)+len(d.ChangedExports) > 0 {
		return lines(d.AddedExports, d.RemovedExports, d.ChangedExports)
	}
	before, after := exportNames(d.ExportsBefore), exportNames(d.ExportsAfter)
	if before == nil || after == nil {
		return rawLines(d.ExportsBefore, d.ExportsAfter)
	}
	missing := func(base, list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(base, s) })
	}
	return lines(missing(before, after), missing(after, before), nil)
}

// exportNames are the names in the command's word on exports; nil when it gives
// none.
func exportNames(raw json.RawMessage) []string {
	var object struct{ Named []string }
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object.Named
}

// lines are what is gone, what is new, and what changed; of that, one side can
// be missing.
func lines(plus, minus []string, changed []compare.TypeChange) []Line {
	var out []Line
	for _, name := range minus {
		out = append(out, Line{Sign: Removed, Text: name})
	}
	for _, name := range plus {
		out = append(out, Line{Sign: Added, Text: name})
	}
	for _, t := range changed {
		switch {
		case t.Before == "":
			out = append(out, Line{Sign: Added, Text: t.After})
		case t.After == "":
			out = append(out, Line{Sign: Removed, Text: t.Before})
		default:
			out = append(out, Line{Sign: Changed, Before: t.Before, After: t.After})
		}
	}
	return out
}

// typeLines names types where the contracts are at hand.
func typeLines(c compare.ContractChange, p compare.Part) []Line {
	typed := func(side *contract.Contract, names []string) []string {
		out := slices.Clone(names)
		for i, name := range names {
			if side != nil {
				if t, ok := p.Types(side)[name]; ok {
					out[i] = compare.Typed(name, t)
				}
			}
		}
		return out
	}
	return lines(typed(c.After, *p.Added), typed(c.Before, *p.Removed), *p.Changed)
}

func rawLines(before, after json.RawMessage) []Line {
	switch {
	case string(before) == string(after):
		return nil
	case len(before) == 0:
		return []Line{{Sign: Added, Text: string(after)}}
	case len(after) == 0:
		return []Line{{Sign: Removed, Text: string(before)}}
	}
	return []Line{{Sign: Changed, Before: plainText(before), After: plainText(after)}}
}

// plainText is a JSON string without its quotes, other JSON as it is.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Reason says in words why something was added, removed or moved.
func Reason(d *compare.Details, c compare.ContractChange, depth int) string {
	if d == nil {
		return ""
	}
	switch d.Reason {
	case "moved":
		if d.MovedFrom != "" {
			return "moved from " + d.MovedFrom
		}
		return "moved to " + d.MovedTo
	case "became_dependency":
		if len(c.Affects) > 0 {
			return "still there, now rendered by " + c.Affects[0]
		}
		return "still there, now rendered by another component"
	case "became_root":
		return "nothing renders it any more, so it is now a root"
	case "hidden":
		if depth > 0 {
			return fmt.Sprintf("still there, beyond depth %d or in a cycle", depth)
		}
		return "still there, but in no bundle"
	case "revealed":
		return "was there before, but in no bundle"
	case "deleted":
		return "its file is gone"
	case "new":
		return "its file is new"
	}
	return d.Reason
}

// ByWeight orders contract changes for people: breaking ones first, then those
// that reach most roots.
func ByWeight(changes []compare.ContractChange) []compare.ContractChange {
	out := slices.Clone(changes)
	slices.SortStableFunc(out, func(a, b compare.ContractChange) int {
		if d := Errors(b) - Errors(a); d != 0 {
			return d
		}
		return reach(b) - reach(a)
	})
	return out
}

// Errors counts what of a change breaks its users.
func Errors(c compare.ContractChange) int {
	n := 0
	for _, b := range c.Breaking {
		if b.Severity == compare.Error {
			n++
		}
	}
	return n
}

func reach(c compare.ContractChange) int { return max(len(c.Affects), c.AffectsTotal) }

// Clean makes text from the project fit to be shown: control characters become
// a dot.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '·'
		}
		return r
	}, s)
}
