package contract_test

import (
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

func TestFoldersAreOrderedByPathBehindTheTop(t *testing.T) {
	list := []string{"src", "lib", ".", "src/a"}
	slices.SortFunc(list, contract.CompareFolders)
	if want := []string{".", "lib", "src", "src/a"}; !slices.Equal(list, want) || contract.CompareFolders(".", ".") != 0 {
		t.Errorf("order = %q, want %q", list, want)
	}
}

func TestRootsOfOneNameKeepTheirExtensions(t *testing.T) {
	names := contract.RootNames([]string{"a/Knob.tsx", "a/Knob.ts", "a/Cog.tsx"})
	for root, want := range map[string]string{"a/Knob.tsx": "Knob.tsx", "a/Knob.ts": "Knob.ts", "a/Cog.tsx": "Cog"} {
		if names[root] != want {
			t.Errorf("%s is called %q, want %q", root, names[root], want)
		}
	}
}

func TestAProjectWithoutComponentsHasAnEmptyContext(t *testing.T) {
	c := contract.Empty("/p", "logicstamp-context@0.8.8")
	if c.Tool != "logicstamp-context@0.8.8" || c.Depth() != 0 || c.HasStyle() || len(c.Visible())+len(c.Bundles()) != 0 || !slices.Equal(c.Files(), []string{contract.IndexFile}) {
		t.Errorf("context = %+v", c)
	}
}

func TestExportsAreEqualHoweverTheyAreWritten(t *testing.T) {
	one := contract.Exports{Names: []string{"a"}, Raw: `["a"]`}
	if !one.Equal(contract.Exports{Names: []string{"a"}}) || one.Equal(contract.Exports{Unnamed: true}) || !one.Known() || (contract.Exports{}).Known() {
		t.Error("exports are compared by their text")
	}
}
