package logicstamp_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stamptest"
)

// With a commit as baseline, components deeper than the depth are compared too;
// a cycle that no root reaches stays uncovered.
func TestACommitIsComparedDeeper(t *testing.T) {
	cli := stamptest.CLI(t, stampcli.Wanted)
	project := stamptest.Shop(t)
	git(t, project, "init", "-q", "-b", "main")
	git(t, project, "add", "-A")
	git(t, project, "commit", "-qm", "first")
	s := newService(t, cli, project)
	stamptest.Replace(t, project, "src/parts/Cog.tsx", "teeth: number }", "teeth: string }")
	stamptest.Replace(t, project, "src/loop/Ping.tsx", "n: number", "n: number; m?: string")
	r, err := s.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{Baseline: "git:HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status == compare.Failed {
		t.Fatal(r.Error)
	}
	checkExpected(t, describeResult(r), expected{
		status: compare.Diff, changes: []string{"src/Shell.tsx hash_changed"},
		contracts: []string{"src/parts/Cog.tsx changed interface.props"}, breaking: []string{"prop_type teeth"},
		uncovered: []string{"src/loop/Ping.tsx"},
	})
	if f := r.Summary; f.ChangedFolders != 1 || f.UnchangedFolders+1 != f.TotalFolders || f.TokenDelta != (compare.TokenDelta{}) {
		t.Errorf("summary = %+v", f)
	}
}
