package drift

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/theme"
)

// TestTwoContractsStandSideBySideWithNothingCut has exports and a type that are
// longer than half of the width.
func TestTwoContractsStandSideBySideWithNothingCut(t *testing.T) {
	names := func(list ...string) contract.Exports {
		return contract.Exports{Names: list, Raw: `{"named":["` + strings.Join(list, `","`) + `"]}`}
	}
	long := "(first: string, second: number, third: boolean, fourth: unknown) => Promise<void>"
	d := &writer{th: theme.New(theme.Options{}), w: 60}
	d.contracts(&compare.ContractChange{
		Before: &contract.Contract{Exports: names("alphabet", "kept"), API: "short"},
		After:  &contract.Contract{Exports: names("kept", "omega"), API: long},
	})
	text := ansi.Strip(strings.Join(d.out, "\n"))
	if strings.Contains(text, "named") || strings.Contains(text, "…") {
		t.Errorf("exports are raw, or something is cut:\n%s", text)
	}
	var right []string
	for _, row := range strings.Split(text, "\n") {
		if r := []rune(row); len(r) > 31 {
			right = append(right, strings.Fields(string(r[31:]))...)
		}
	}
	for _, word := range append(strings.Fields(long), "omega", "kept") {
		if !slices.Contains(right, word) {
			t.Errorf("%q is not on the right:\n%s", word, text)
		}
	}
}
