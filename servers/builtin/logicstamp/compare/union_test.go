package compare

import (
	"slices"
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

// A lean record has counts where a full one has lists: they are no two states of a style.
func TestStylesAreComparedOnlyIfTheyWereMadeInOneMode(t *testing.T) {
	for _, r := range []struct {
		before, after string
		changed       bool
	}{
		{`{"classes":["a"],"n":{"x":1}}`, `{"classes":["b"],"n":{"x":1}}`, true},
		{`{"classes":["a"]}`, `{"classes":["a"],"more":1}`, true},
		{`{"classes":["a"]}`, `{"classes":1}`, false},
		{`{"n":{"x":1}}`, `{"n":{"x":["1"]}}`, false},
		{`{"classes":["a"]}`, `["a"]`, false},
		{`{"classes":["a"]}`, `{"classes":["a"]}`, false},
		{`{"classes":`, `{"classes":["a"]}`, false},
		{"", `{"classes":["a"]}`, false},
	} {
		d := fields(&contract.Contract{Style: r.before}, &contract.Contract{Style: r.after})
		if changed := d != nil && slices.Contains(d.ModifiedFields, "style"); changed != r.changed {
			t.Errorf("%s → %s: changed %v", r.before, r.after, changed)
		} else if changed && (string(d.StyleBefore) != r.before || string(d.StyleAfter) != r.after) {
			t.Errorf("%s → %s is told as %s → %s", r.before, r.after, d.StyleBefore, d.StyleAfter)
		}
	}
}

func TestWhatGoesOrBecomesSomethingElseIsTold(t *testing.T) {
	before := &contract.Contract{Kind: "react:component", Emits: map[string]contract.Type{"close": {Text: "() => void"}}, State: map[string]contract.Type{"open": {Text: "boolean"}}, Variables: []string{"limit"}}
	after := &contract.Contract{Kind: "ts:module"}
	got := map[string]string{}
	for _, b := range breaking(before, after, fields(before, after)) {
		got[b.Kind] = string(b.Severity) + " " + b.Name
	}
	for kind, want := range map[string]string{
		"event_removed": string(Error) + " close", "state_removed": string(Caution) + " open",
		"variable_removed": string(Caution) + " limit", "kind_changed": string(Caution) + " ts:module",
	} {
		if got[kind] != want {
			t.Errorf("%s: %q, want %q of %v", kind, got[kind], want, got)
		}
	}
}
