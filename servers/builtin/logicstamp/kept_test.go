package logicstamp_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// Snapshots are for their user alone and cannot be written; what they may
// hold beyond contracts is said.
func TestSnapshotsArePrivateAndRisksAreTold(t *testing.T) {
	s := newStage(t, standIn{})
	full := "full"
	r := s.MustRefresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Mode: &full}})
	if !hasWarning(r.Warnings, problem.SecretsUnmasked) {
		t.Errorf("warnings = %v", r.Warnings)
	}
	dir := s.contextDir(r.SnapshotID)
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := os.FileMode(0o400)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %s", p, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Write("stamp_security_report.json", "{}")
	if r = s.MustRefresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Mode: &full}}); hasWarning(r.Warnings, problem.SecretsUnmasked) {
		t.Errorf("warnings with a report = %v", r.Warnings)
	}
}

// A project that a commit does not have is new as a whole, submodules
// take no part, and both are said.
func TestFoldersThatACommitHasNotOrOnlyNames(t *testing.T) {
	s := newStage(t, standIn{})
	top := filepath.Dir(s.Project)
	module := filepath.Join(t.TempDir(), "module")
	if err := os.MkdirAll(module, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(module, "Foreign.tsx"), []byte("// props: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commit := func(dir, text string) {
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", text, "--allow-empty")
	}
	git(t, module, "init", "-q")
	commit(module, "module")
	git(t, top, "init", "-q", "-b", "main")
	git(t, top, "commit", "-qm", "before the project", "--allow-empty")
	git(t, top, "tag", "empty")
	commit(top, "project")
	git(t, top, "tag", "project")

	r := s.MustCompare(logicstamp.CompareArgs{Baseline: "git:empty"})
	if r.Status != compare.Diff || r.Summary.AddedFolders != r.Summary.TotalFolders || r.Summary.TotalFolders == 0 || !hasWarning(r.Warnings, problem.GitPathNew) {
		t.Errorf("new as a whole: %s %+v %v", r.Error, r.Summary, r.Warnings)
	}
	git(t, s.Project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module, "src/module")
	commit(top, "submodule")
	r = s.MustCompare(logicstamp.CompareArgs{Baseline: "git:HEAD"})
	if r.Status != compare.Pass || !hasWarning(r.Warnings, problem.GitSubmodules) {
		t.Errorf("with a submodule: %s %s %v", r.Status, r.Error, r.Warnings)
	}
	if r = s.MustCompare(logicstamp.CompareArgs{Baseline: "git:project"}); slices.Contains(describeResult(r).contracts, "src/module/Foreign.tsx added") {
		t.Errorf("a submodule takes part: %+v", r.ContractChanges)
	}
}
