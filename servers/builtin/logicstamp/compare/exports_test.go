package compare

import (
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

// What the command alone tells of exports: that names are gone is said, and which
// where it can be told.
func TestRemovedExportsBreakAlsoWhereTheCommandGivesNoName(t *testing.T) {
	named := func(names ...string) contract.Exports { return contract.Exports{Names: names} }
	one, byDefault := contract.Exports{Unnamed: true}, contract.Exports{Default: true}
	for name, row := range map[string]struct {
		before, after contract.Exports
		was, is       []string // functions
		want          []string
	}{
		"one of two, which one is told by the functions": {named("a", "b"), one, []string{"a", "b"}, []string{"a"}, []string{"error export_removed b"}},
		"one of two, which one is not told":              {named("a", "b"), one, []string{"a", "b"}, []string{"a", "b"}, []string{"error export_removed a, b"}},
		"two of three":                                   {named("a", "b", "c"), one, []string{"a", "b", "c"}, []string{"b"}, []string{"error export_removed a", "error export_removed c"}},
		"the only one":                                   {one, contract.Exports{}, []string{"a"}, []string{"a"}, []string{"error export_removed a"}},
		"the only one, without a function":               {one, contract.Exports{}, nil, nil, []string{"error export_removed the one named export"}},
		"a default beside names that are told no more":   {named("a", "b"), byDefault, nil, nil, []string{"warning export_removed a, b"}},
		"the default":                                    {byDefault, one, nil, nil, []string{"error export_removed default"}},
		"a rename, once":                                 {named("a", "b"), named("a", "c"), []string{"a", "b"}, []string{"a", "c"}, []string{"error export_removed b"}},
		"nothing":                                        {named("a", "b"), named("a", "b", "c"), nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			before := &contract.Contract{Exports: row.before, Functions: row.was}
			after := &contract.Contract{Exports: row.after, Functions: row.is}
			var got []string
			if d := fields(before, after); d != nil {
				for _, b := range breaking(before, after, d) {
					got = append(got, string(b.Severity)+" "+b.Kind+" "+b.Name)
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("breaking = %q, want %q", got, row.want)
			}
		})
	}
}
