package logicstamp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// newService makes a service over a command; "" for none.
func newService(t testing.TB, cli, project string, options ...stageOption) *logicstamp.Service {
	t.Helper()
	if cli == "" {
		cli = filepath.Join(t.TempDir(), "no-such-stamp")
	}
	o := logicstamp.Options{
		Dir: t.TempDir(), CLI: stampcli.Options{Command: []string{cli}, Environment: os.Environ(), VersionTimeout: 10 * time.Minute},
		ProjectPath: project, DeepContracts: "off", GitTimeout: 10 * time.Minute,
	}
	for _, f := range options {
		f(&o)
	}
	s, err := logicstamp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git: ", err)
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestDriftAfterAnEditIsFound(t *testing.T) {
	t.Parallel()
	cli := stamptest.CLI(t, stampcli.Wanted)
	project := stamptest.Shop(t)
	git(t, project, "init", "-q", "-b", "main")
	git(t, project, "add", "-A")
	git(t, project, "commit", "-qm", "first")
	s := newService(t, cli, project)
	ctx, call := t.Context(), logicstamp.Call{}

	snap, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{})
	if err != nil {
		t.Fatal(err)
	}
	if snap.Summary.TotalComponents != 9 || snap.Coverage.Visible != 6 || snap.Published {
		t.Errorf("summary = %+v, coverage %+v, published %v", snap.Summary, snap.Coverage, snap.Published)
	}
	before, err := s.Compare(ctx, call, logicstamp.CompareArgs{})
	if err != nil {
		t.Fatal(err)
	}
	if before.Status != compare.Pass {
		t.Errorf("unchanged project: %+v", before)
	}

	stamptest.Replace(t, project, "src/parts/Knob.tsx", " locked?: boolean;", "")
	after, err := s.Compare(ctx, call, logicstamp.CompareArgs{})
	if err != nil {
		t.Fatal(err)
	}
	if after.Status != compare.Diff || after.CurrentInfo == nil || after.CurrentInfo.Source != "regenerated" {
		t.Fatalf("after the edit: %+v", after)
	}
	change := after.FolderDiffs[0].Changes[0]
	if change.EntryID != "src/Shell.tsx" || change.Type != compare.HashChanged || change.Details.ChangedDependencies[0].EntryID != "src/parts/Knob.tsx" {
		t.Errorf("change = %+v %+v", change, change.Details)
	}
	knob := after.ContractChanges[0]
	if knob.EntryID != "src/parts/Knob.tsx" || len(knob.Details.RemovedProps) != 1 || len(knob.Breaking) != 1 {
		t.Errorf("contract = %+v", knob)
	}
	again, err := s.Compare(ctx, call, logicstamp.CompareArgs{})
	if err != nil {
		t.Fatal(err)
	}
	if again.CurrentInfo.Source != "private" || again.Status != compare.Diff {
		t.Errorf("second comparison ran the CLI again: %+v", again.CurrentInfo)
	}
	if out := git(t, project, "status", "--porcelain"); out != " M src/parts/Knob.tsx\n" {
		t.Errorf("the project is not clean:\n%s", out)
	}
}
