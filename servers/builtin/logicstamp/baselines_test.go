package logicstamp_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// treeState is every file below dir with its content and mode.
func treeState(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		info, errInfo := d.Info()
		if err != nil || errInfo != nil {
			return err
		}
		out[p] = info.Mode().String() + info.ModTime().String() + string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	for p, v := range before {
		if after[p] != v {
			t.Errorf("%s: %s was changed", what, p)
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			t.Errorf("%s: %s is new", what, p)
		}
	}
}

// Drift is found with every kind of baseline after a real edit, the snapshot is
// a copy that the edit does not reach, and a commit as baseline leaves
// the repository as it was.
func TestEveryBaselineFindsDrift(t *testing.T) {
	t.Parallel()
	cli := stamptest.CLI(t, stampcli.Wanted)
	top := t.TempDir()
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(top, "web")
	if err := os.Rename(stamptest.Shop(t), project); err != nil {
		t.Fatal(err)
	}
	git(t, top, "init", "-q", "-b", "main")
	stamptest.Write(t, top, map[string]string{".gitattributes": "*.tsx export-ignore\n", "other/big.ts": "export const x = 1;\n", "web/.gitignore": "secret.ts\n"})
	git(t, top, "add", "-A")
	git(t, top, "commit", "-qm", "first")
	stamptest.Write(t, top, map[string]string{"web/secret.ts": "export const key = 1;\n"})

	s := newService(t, cli, project)
	ctx, call := t.Context(), logicstamp.Call{}
	snap, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.List(ctx, call, logicstamp.ListArgs{SnapshotID: snap.SnapshotID})
	if err != nil || list.TotalBundles == 0 {
		t.Fatalf("list = %+v, %v", list, err)
	}
	published := filepath.Join(project, "was")
	yes := true
	copied, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{Publish: &yes})
	if err != nil || !copied.Published || !copied.Incremental.Reused {
		t.Fatalf("publish = %+v, %v", copied, err)
	}
	moveContext(t, project, published)
	stamptest.Replace(t, project, "src/parts/Knob.tsx", " locked?: boolean;", "")
	stamptest.Write(t, project, map[string]string{"src/Extra.tsx": "import React from 'react';\nexport function Extra() { return <i>x</i>; }\n"})
	before := treeState(t, top)

	for _, baseline := range []string{"disk", "snapshot", "snapshot:" + snap.SnapshotID, "git:HEAD", "git: main", "was", published} {
		t.Run(strings.ReplaceAll(baseline, "/", "_"), func(t *testing.T) {
			r, err := s.Compare(ctx, call, logicstamp.CompareArgs{Baseline: baseline})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != compare.Diff {
				t.Fatalf("status = %s %s", r.Status, r.Error)
			}
			got := describeResult(r)
			checkExpected(t, got, expected{
				status: compare.Diff, changes: []string{"src/Extra.tsx bundle_added new", "src/Shell.tsx hash_changed"},
				contracts:   []string{"src/Extra.tsx added", "src/parts/Knob.tsx changed interface.props"},
				contentOnly: nil, breaking: []string{"prop_removed locked"},
			})
		})
	}
	sameTree(t, "the repository", before, treeState(t, top))
	again, err := s.Compare(ctx, call, logicstamp.CompareArgs{Baseline: "git:HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	if again.CurrentInfo.Source != "private" || again.BaselineInfo.Describe != "main" {
		t.Errorf("again: %+v %+v", again.CurrentInfo, again.BaselineInfo)
	}
	for ref, code := range map[string]problem.Code{"git:nowhere": problem.GitBadRef, "git:": problem.GitBadRef, "git:--all": problem.GitBadRef} {
		r, err := s.Compare(ctx, call, logicstamp.CompareArgs{Baseline: ref})
		if err != nil || r.ErrorCode != code {
			t.Errorf("%s = %+v, %v", ref, r, err)
		}
	}
}

// moveContext moves a published context out of the project's way.
func moveContext(t *testing.T, project, to string) {
	t.Helper()
	for _, name := range []string{"context_main.json", "context.json", "src/context.json", "src/util/context.json"} {
		dest := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(project, name), dest); err != nil {
			t.Fatal(err)
		}
	}
}
