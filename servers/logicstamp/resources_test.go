package logicstamp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
)

// resource reads a resource as a client in a folder would.
func (s *stage) resource(uri, root string) (string, error) {
	s.t.Helper()
	at := 0
	if strings.HasPrefix(uri, "logicstamp://drift/") {
		at = 1
	}
	ctx := host.WithCaller(s.t.Context(), func() deck.Caller { return deck.Caller{Root: root} })
	out, err := s.module.Offer().Templates[at].Handler(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
	if err != nil {
		return "", err
	}
	return out[0].(mcp.TextResourceContents).Text, nil
}

// Files of snapshots and the newest result are resources, under the checks
// of the tools.
func TestSnapshotFilesAreResources(t *testing.T) {
	s := newStage(t, standIn{}, func(o *logicstamp.Options) { o.ProjectPath = "" })
	refreshed, _ := s.use("logicstamp_refresh_snapshot", nil)
	snapshot := "logicstamp://snapshot/" + refreshed["snapshotId"].(string) + "/"
	if _, err := s.resource(logicstamp.DriftURI(s.project), s.project); err == nil {
		t.Error("a result before anything was compared")
	}
	s.use("logicstamp_compare_snapshot", nil)
	for uri, says := range map[string]string{
		snapshot + "index": "LogicStampIndex", snapshot + "context_main.json": "LogicStampIndex", snapshot + "src/context.json": "src/App.tsx",
		logicstamp.DriftURI(s.project): `"status":"pass"`,
	} {
		if text, err := s.resource(uri, s.project); err != nil || !strings.Contains(text, says) {
			t.Errorf("%s = %s, %v", uri, text, err)
		}
		if text, err := s.resource(uri, t.TempDir()); err == nil {
			t.Errorf("%s is told to another project's client: %s", uri, text)
		}
	}
	for _, uri := range []string{snapshot + "snapshot.json", snapshot + "../x.json", "logicstamp://snapshot/snap_1/index", "logicstamp://snapshot/", "logicstamp://drift/0000"} {
		if text, err := s.resource(uri, s.project); err == nil {
			t.Errorf("%s = %s", uri, text)
		}
	}
}

// Snapshots are for their user alone and cannot be written; what they may
// hold beyond contracts is said.
func TestSnapshotsArePrivateAndRisksAreTold(t *testing.T) {
	s := newStage(t, standIn{})
	full := "full"
	r := s.refresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Mode: &full}})
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
	s.write("stamp_security_report.json", "{}")
	if r = s.refresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Mode: &full}}); hasWarning(r.Warnings, problem.SecretsUnmasked) {
		t.Errorf("warnings with a report = %v", r.Warnings)
	}
}

// A project that a commit does not have is new as a whole, submodules
// take no part, and both are said.
func TestFoldersThatACommitHasNotOrOnlyNames(t *testing.T) {
	s := newStage(t, standIn{})
	top := filepath.Dir(s.project)
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

	r := s.compare(logicstamp.CompareArgs{Baseline: "git:empty"})
	if r.Status != compare.Diff || r.Summary.AddedFolders != r.Summary.TotalFolders || r.Summary.TotalFolders == 0 || !hasWarning(r.Warnings, problem.GitPathNew) {
		t.Errorf("new as a whole: %s %+v %v", r.Error, r.Summary, r.Warnings)
	}
	git(t, s.project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module, "src/module")
	commit(top, "submodule")
	r = s.compare(logicstamp.CompareArgs{Baseline: "git:HEAD"})
	if r.Status != compare.Pass || !hasWarning(r.Warnings, problem.GitSubmodules) {
		t.Errorf("with a submodule: %s %s %v", r.Status, r.Error, r.Warnings)
	}
	if r = s.compare(logicstamp.CompareArgs{Baseline: "git:project"}); slices.Contains(describeResult(r).contracts, "src/module/Foreign.tsx added") {
		t.Errorf("a submodule takes part: %+v", r.ContractChanges)
	}
}
