package compare_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

func TestABreakIsWhereItIsUnlessItIsGone(t *testing.T) {
	for name, row := range map[string]struct {
		b    compare.Breaking
		line int
		was  bool
	}{
		"changed":     {compare.Breaking{Kind: "prop_type", Line: 7, LineBefore: 5}, 7, false},
		"removed":     {compare.Breaking{Kind: "prop_removed", Line: 7, LineBefore: 5}, 5, true},
		"only before": {compare.Breaking{Kind: "prop_type", LineBefore: 5}, 5, true},
		"nowhere":     {compare.Breaking{Kind: "prop_removed"}, 0, false},
	} {
		if line, was := row.b.Place(); line != row.line || was != row.was {
			t.Errorf("%s: line %d, of the baseline %v", name, line, was)
		}
	}
}

func TestAFolderOfTwoFilesIsOne(t *testing.T) {
	side := compare.Side{Context: &contract.Context{Folders: []*contract.Folder{{Path: "src", File: "a.json", Tokens: 1}, {Path: "src", File: "b.json", Tokens: 2}}}}
	r := compare.Compare(side, side, compare.Options{IncludeUnchanged: true})
	if len(r.FolderDiffs) != 1 || r.Summary.UnchangedFolders != 1 || r.Summary.TokensBefore != 3 {
		t.Errorf("result = %+v", r)
	}
}
