package pxl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
)

// Severity of a diagnostic.
type Severity uint8

// An Error means that something asked for is not drawn as asked; a Warning that it
// may not look as meant.
const (
	Warning Severity = iota
	Error
)

// String is "warning" or "error".
func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// Diagnostic says what is wrong with a document, where, and what to do about it.
type Diagnostic struct {
	Code     string // one of the Code constants
	Severity Severity
	Line     int // from 1
	Column   int // from 1, in characters
	Message  string
	Help     string // what to do; may be empty
	Object   string // the object it is about, such as `sprite "hero"`; may be empty
}

// String is one line: place, severity, message, help.
func (d Diagnostic) String() string {
	s := fmt.Sprintf("%d:%d: %s: %s [%s]", d.Line, d.Column, d.Severity, d.Message, d.Code)
	if d.Object != "" {
		s = fmt.Sprintf("%d:%d: %s: %s: %s [%s]", d.Line, d.Column, d.Severity, d.Object, d.Message, d.Code)
	}
	if d.Help != "" {
		s += "; " + d.Help
	}
	return s
}

// The codes of diagnostics. They are part of the contract with whoever reads them.
const (
	CodeSyntax         = "json_syntax"
	CodeMissingType    = "missing_type"
	CodeUnknownType    = "unknown_type"
	CodeUnknownField   = "unknown_field"
	CodeDuplicateKey   = "duplicate_key"
	CodeDuplicateName  = "duplicate_name"
	CodeColour         = "invalid_color"
	CodeMissingPalette = "missing_palette"
	CodeRoleToken      = "invalid_role_token"
	CodeRelationship   = "invalid_relationship_target"
	CodeCircular       = "circular_dependency"
	CodeToken          = "undefined_token"
	CodeNoRegions      = "empty_grid"
	CodeMissingSize    = "missing_size"
	CodeSize           = "invalid_size"
	CodeBounds         = "out_of_bounds"
	CodeUnknownRegion  = "unknown_region"
	CodeForward        = "forward_reference"
	CodeWithinRef      = "invalid_within_ref"
	CodeAdjacentRef    = "invalid_adjacent_ref"
	CodeConstraint     = "uncertain_constraint"
	CodeFrame          = "missing_frame"
	CodeMissingSprite  = "missing_sprite"
	CodeSymbol         = "undefined_symbol"
	CodeMissingBase    = "missing_base"
	CodeMissingSource  = "missing_source"
	CodeConflict       = "conflicting_fields"
	CodeShape          = "invalid_shape"
	CodeModifier       = "unsupported_modifier"
	CodeRange          = "range_validation"
	CodeTransform      = "invalid_transform"
	CodeNineSlice      = "invalid_nine_slice"
	CodeBlend          = "invalid_blend"
	CodeCell           = "cell_size_mismatch"
	CodeCycle          = "composition_cycle"
	CodeState          = "invalid_state_rule"
	CodeInclude        = "unresolved_include"
	CodeLimit          = "limit"
	CodeImport         = "unresolved_import"
	CodeShadowed       = "shadowed_import"
)

// sortDiagnostics puts diagnostics in source order and drops repeats.
func sortDiagnostics(ds []Diagnostic) []Diagnostic {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Code, b.Code))
	})
	return slices.Compact(ds)
}

// sink gathers diagnostics for one object.
type sink struct {
	doc    *Document
	object string
	list   *[]Diagnostic
}

func (s *sink) report(pos int32, sev Severity, code, help, format string, args ...any) {
	if len(*s.list) >= maxDiagnostics || int(pos) > s.doc.own {
		return
	}
	line, column := s.doc.lines.At(pos)
	*s.list = append(*s.list, Diagnostic{
		Code: code, Severity: sev, Line: line, Column: column,
		Message: clip(fmt.Sprintf(format, args...)), Help: clip(help), Object: clip(s.object),
	})
}

// clip shortens what names and values of the source make long: there are up to a
// thousand diagnostics, and the source may be one name.
func clip(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func (s *sink) warn(pos int32, code, help, format string, args ...any) {
	s.report(pos, Warning, code, help, format, args...)
}

func (s *sink) fail(pos int32, code, help, format string, args ...any) {
	s.report(pos, Error, code, help, format, args...)
}

// nearest finds the candidate within edit distance 2 of name, braces and case
// aside; "" when there is none.
func nearest(name string, candidates []string) string {
	fold := func(s string) string { return strings.ToLower(Bare(s)) }
	best, bestAt := "", 3
	for _, c := range candidates[:min(len(candidates), 256)] {
		if len(c) > 64 || len(name) > 64 || c == name {
			continue
		}
		if d := fuzzy.Slips(fold(name), fold(c)); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// meant asks whether one of the candidates was meant, unless nothing more is reported.
func (s *sink) meant(name string, candidates []string) string {
	if len(*s.list) >= maxDiagnostics {
		return ""
	}
	return didYouMean(name, candidates)
}

func didYouMean(name string, candidates []string) string {
	if n := nearest(name, candidates); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}
