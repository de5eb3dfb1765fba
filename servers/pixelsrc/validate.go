package pixelsrc

import (
	"cmp"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
)

// issue is one problem of a source.
type issue struct {
	Line       int    `json:"line"`
	Column     int    `json:"column,omitempty"`
	Code       string `json:"issue_type"`
	Message    string `json:"message"`
	Context    string `json:"context,omitempty"`
	Suggestion string `json:"suggestion,omitempty"`
	severity   pxl.Severity
}

// verdict is what validate answers.
type verdict struct {
	Valid    bool    `json:"valid"`
	Errors   int     `json:"error_count"`
	Warnings int     `json:"warning_count"`
	ErrorsL  []issue `json:"errors"`
	WarnL    []issue `json:"warnings"`
}

// issues lists everything that is wrong with a source, in its order. It looks
// once.
func (src *source) issues() []issue {
	if src.checked {
		return src.found
	}
	var list []issue
	for _, d := range src.Check() {
		list = append(list, issue{d.Line, d.Column, d.Code, d.Message, d.Object, d.Help, d.Severity})
	}
	list = append(list, src.importIssues()...)
	slices.SortStableFunc(list, func(a, b issue) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column, cmp.Compare(a.Code, b.Code))
	})
	src.found, src.checked = slices.Compact(list), true
	return src.found
}

// importIssues are the imports that could not be resolved: of a source without
// a file warnings, since nothing tells where they lie.
func (src *source) importIssues() (list []issue) {
	for _, n := range src.notes {
		if n.unused && src.at == nil {
			continue
		}
		i := issue{Line: max(n.line, 1), Code: pxl.CodeImport, Message: n.text, Context: n.context, severity: pxl.Error}
		if src.at == nil {
			i.severity = pxl.Warning
		}
		if n.unused {
			i.Code, i.severity = "unused_import", pxl.Warning
		}
		list = append(list, i)
	}
	return list
}

func (src *source) verdict(strict bool) verdict {
	v := verdict{ErrorsL: []issue{}, WarnL: []issue{}}
	for _, i := range src.issues() {
		if i.severity == pxl.Error {
			v.ErrorsL = append(v.ErrorsL, i)
		} else {
			v.WarnL = append(v.WarnL, i)
		}
	}
	v.Errors, v.Warnings = len(v.ErrorsL), len(v.WarnL)
	v.Valid = v.Errors == 0 && (!strict || v.Warnings == 0)
	return v
}

func runValidate(c *call) Answer {
	strict := c.args.Flag("strict", false)
	src, wrong := c.source("source", "path")
	if wrong != nil {
		return *wrong
	}
	return document(src.verdict(strict))
}
