package compare

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

func TestWhatAUnionHasNoMore(t *testing.T) {
	for _, row := range []struct {
		before, after string
		optional      bool
		want          string
	}{
		{"'a' | 'b'", "'a'", false, "'b'"},
		{"'a' | 'b' | 'c'", "'b'", false, "'a' | 'c'"},
		{"'a' | 'b'", "'b' | 'a'", false, ""},
		{"'a' | \"b\"", "'a' | 'b' | 'c'", false, ""},
		{"'a' | 'b'", "string", false, ""},
		{"'a' | 'b'", "number", false, ""},
		{"string | undefined", "string", true, ""},
		{"string | undefined", "string", false, "undefined"},
		{"true | 'x'", "boolean | 'x'", false, ""},
		{"boolean | 'x'", "true | 'x' | false", false, ""},
		{"Map<'a' | 'b', string> | null", "Map<'a', string> | null", false, "Map<'a' | 'b', string>"},
		{"(x: 'a' | 'b') => void", "(x: 'a') => void", false, ""},
		{"'a | b' | 'c'", "'a | b'", false, "'c'"},
		{"A & B | C", "A & B", false, ""},
		{"string", "number", false, ""},
	} {
		if got := lost(row.before, row.after, row.optional); got != row.want {
			t.Errorf("%s → %s lost %q, want %q", row.before, row.after, got, row.want)
		}
	}
}

// A component that is exported by default has no name for those who import it.
func TestTheNameOfADefaultExportBreaksNothing(t *testing.T) {
	by := contract.Exports{Default: true}
	before, after := &contract.Contract{Exports: by, Functions: []string{"Knob"}}, &contract.Contract{Exports: by, Functions: []string{"Dial"}}
	if got := breaking(before, after, fields(before, after)); len(got) > 0 {
		t.Errorf("breaking = %+v", got)
	}
	after.Exports = contract.Exports{Unnamed: true}
	if got := breaking(before, after, fields(before, after)); len(got) == 0 {
		t.Error("an export that is gone breaks nothing")
	}
}

func TestAPropThatTakesLessBreaks(t *testing.T) {
	before := &contract.Contract{Props: map[string]contract.Type{"tone": {Text: "'calm' | 'loud'"}, "size": {Text: "number"}}}
	after := &contract.Contract{Props: map[string]contract.Type{"tone": {Text: "'calm'"}, "size": {Text: "string"}}}
	got := breaking(before, after, fields(before, after))
	if len(got) != 2 || got[0].Severity != Error || got[0].Name != "tone" || got[1].Severity != Caution || got[1].Name != "size" {
		t.Errorf("breaking = %+v", got)
	}
}
