package pixelsrc

import (
	"cmp"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

// Issue is one problem of a source.
type Issue struct {
	Line       int    `json:"line"`
	Column     int    `json:"column,omitempty"`
	Code       string `json:"issue_type"`
	Message    string `json:"message"`
	Context    string `json:"context,omitempty"`
	Suggestion string `json:"suggestion,omitempty"`
	// Severity decides in which list of a [Verdict] it is.
	Severity pxl.Severity `json:"-"`
}

// Verdict reports whether a source is valid, and what is wrong with it.
type Verdict struct {
	Valid    bool    `json:"valid"`
	Errors   int     `json:"error_count"`
	Warnings int     `json:"warning_count"`
	ErrorsL  []Issue `json:"errors"`
	WarnL    []Issue `json:"warnings"`
}

// Issues lists everything that is wrong with a source, in its order. It looks
// once.
func (src *Source) Issues() []Issue {
	if src.checked {
		return src.found
	}
	var list []Issue
	for _, d := range src.Check() {
		list = append(list, Issue{d.Line, d.Column, d.Code, d.Message, d.Object, d.Help, d.Severity})
	}
	list = append(list, src.importIssues()...)
	slices.SortStableFunc(list, func(a, b Issue) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column, cmp.Compare(a.Code, b.Code))
	})
	src.found, src.checked = slices.Compact(list), true
	return src.found
}

// importIssues are the imports that could not be resolved: of a source without
// a file warnings, since nothing tells where they lie.
func (src *Source) importIssues() (list []Issue) {
	for _, n := range src.notes {
		if n.unused && src.at == nil {
			continue
		}
		i := Issue{Line: max(n.line, 1), Code: pxl.CodeImport, Message: n.text, Context: n.context, Severity: pxl.Error}
		if src.at == nil {
			i.Severity = pxl.Warning
		}
		if n.unused {
			i.Code, i.Severity = "unused_import", pxl.Warning
		}
		list = append(list, i)
	}
	return list
}

// Verdict judges a source; when strict, warnings make it invalid too.
func (src *Source) Verdict(strict bool) Verdict {
	v := Verdict{ErrorsL: []Issue{}, WarnL: []Issue{}}
	for _, i := range src.Issues() {
		if i.Severity == pxl.Error {
			v.ErrorsL = append(v.ErrorsL, i)
		} else {
			v.WarnL = append(v.WarnL, i)
		}
	}
	v.Errors, v.Warnings = len(v.ErrorsL), len(v.WarnL)
	v.Valid = v.Errors == 0 && (!strict || v.Warnings == 0)
	return v
}
