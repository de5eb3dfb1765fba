package pxl

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// codesOf lists diagnostics as line:code.
func codesOf(ds []Diagnostic) string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%d:%s", d.Line, d.Code))
	}
	return strings.Join(out, " ")
}

// TestFixtures asserts code and line of everything wrong with the corpus's broken files.
func TestFixtures(t *testing.T) {
	dir := filepath.Join(shared(t), "corpus", "tests", "fixtures")
	for _, r := range []struct{ file, want string }{
		{"invalid/invalid_color.jsonl", "1:invalid_color"},
		{"invalid/invalid_json.jsonl", "1:json_syntax"},
		{"invalid/missing_name.jsonl", "1:json_syntax"},
		{"invalid/missing_type.jsonl", "1:missing_type"},
		{"invalid/unknown_palette_ref.jsonl", "1:missing_palette"},
		{"invalid/validate_errors.jsonl", "2:undefined_token"},
		{"invalid/validate_typo.jsonl", "2:undefined_token 2:undefined_token"},
		{"lenient/composition_size_not_divisible.jsonl", "3:cell_size_mismatch"},
		{"lenient/duplicate_name.jsonl", "2:duplicate_name"},
		{"lenient/row_too_short.jsonl", ""},
		{"runtime_errors/composition_cycle.jsonl", "3:composition_cycle"},
	} {
		for _, dialect := range []Dialect{Documented, Reference} {
			t.Run(dialect.String()+"/"+r.file, func(t *testing.T) {
				want := r.want
				if dialect == Reference && strings.Contains(r.file, "cycle") {
					want = "3:missing_sprite 4:missing_sprite" // it knows no nesting
				}
				ds := parseFile(t, filepath.Join(dir, r.file), dialect).Check()
				if got := codesOf(ds); got != want {
					t.Errorf("got %q, want %q\n%v", got, want, ds)
				}
			})
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range names {
		if d := filepath.Base(filepath.Dir(f)); d == "invalid" || d == "lenient" || d == "runtime_errors" {
			n++
		}
	}
	if n != 11 {
		t.Errorf("%d fixtures, 11 are asserted", n)
	}
}
