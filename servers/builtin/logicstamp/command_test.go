package logicstamp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestFailuresOfTheCommandHaveCodes(t *testing.T) {
	for name, row := range map[string]struct {
		b    standIn
		want problem.Code
		says []string
	}{
		"no sources":           {standIn{Exit: 1, Stderr: "No React/TypeScript modules found under /x"}, problem.NoSources, []string{".tsx", ".stampignore"}},
		"no sources, newer":    {standIn{Exit: 1, Stderr: "No TypeScript modules found under /x"}, problem.NoSources, nil},
		"nothing to analyse":   {standIn{Exit: 1, Stderr: "No components found to analyze"}, problem.NoSources, nil},
		"only cycles":          {standIn{Exit: 1, Stderr: "No bundles could be compiled"}, problem.NoRoots, []string{"entry component"}},
		"only cycles, newer":   {standIn{Exit: 1, Stderr: "No bundles could be generated"}, problem.NoRoots, nil},
		"validation":           {standIn{Exit: 1, Stderr: "Validation failed: 3 error(s)\n    at Object.x (/a/b.js:1:1)"}, problem.CLIFailed, []string{"Validation failed: 3 error(s)"}},
		"unknown option":       {standIn{Exit: 1, Stderr: "Unknown option: --include-style"}, problem.CLITooOld, []string{"--include-style", "npm install -g"}},
		"target not writable":  {standIn{Exit: 1, Stderr: "Permission denied writing to: \"/x/y.json\"\n  at z"}, problem.CLIPermission, []string{"/x/y.json"}},
		"ended by a signal":    {standIn{Exit: 143}, problem.CLIFailed, []string{"143"}},
		"node missing":         {standIn{Exit: 127, Stderr: "env: 'node': No such file or directory"}, problem.NodeNotFound, []string{"Node 20"}},
		"foreign path shorter": {standIn{Exit: 2, Stderr: "boom in /usr/lib/secret/place.js"}, problem.CLIFailed, []string{"boom in place.js"}},
		"half written":         {standIn{Half: true}, problem.CLIIncomplete, []string{"context.json"}},
		"another program":      {standIn{Version: "rubber stamp"}, problem.CLIWrong, []string{"logicstamp.command"}},
		"ancient":              {standIn{Version: "0.0.9"}, problem.CLITooOld, []string{"0.0.9"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, row.b)
			_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
			if got := problem.CodeOf(err); got != row.want {
				t.Fatalf("error = %v, want %s", err, row.want)
			}
			for _, w := range row.says {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "at Object.x") {
				t.Errorf("a stack frame is told: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(s.Project, ".logicstamp")); len(left) > 0 {
				t.Errorf("left in the project: %q", left)
			}
		})
	}
}

func TestTheCommandIsRunWithoutAShell(t *testing.T) {
	s := newStage(t, standIn{})
	s.MustRefresh(logicstamp.RefreshArgs{})
	c := s.Runs()[0]
	want := []string{"context", "--profile", "llm-chat", "--include-code", "header", "--depth", "2", "--format", "json", "--skip-gitignore", "--quiet", "--out"}
	if !slices.Equal(c.Args[:len(want)], want) || len(c.Args) != len(want)+1 || c.Dir != s.Project {
		t.Errorf("ran %q in %q", c.Args, c.Dir)
	}
	for _, e := range c.Env {
		if strings.HasPrefix(e, "NODE_OPTIONS") {
			t.Errorf("the command got %s", e)
		}
	}
	if _, err := s.WatchStatus(t.Context(), logicstamp.Call{}, logicstamp.WatchArgs{Project: s.Project}); err != nil {
		t.Error(err)
	}
	if _, err := s.Monitor(t.Context(), logicstamp.Call{}, logicstamp.MonitorArgs{Action: "start"}); err != nil {
		t.Error(err)
	}
	for _, c := range s.Runs() {
		if slices.Contains(c.Args, "--watch") {
			t.Errorf("the command's own watch was started: %q", c.Args)
		}
	}
	if !slices.Contains(c.Env, "NO_COLOR=1") {
		t.Error("the command may colour its output")
	}
}

func TestOldCommandsGetWhatTheyUnderstand(t *testing.T) {
	safe, style := "llm-safe", true
	s := newStage(t, standIn{Version: "0.2.7"})
	s.MustRefresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Profile: &safe}})
	if args := strings.Join(s.Runs()[0].Args, " "); !strings.Contains(args, "--profile none") || !strings.HasSuffix(args, "--max-nodes 30") {
		t.Errorf("ran %s", args)
	}
	s = newStage(t, standIn{Version: "0.1.1"})
	_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{IncludeStyle: &style}})
	if problem.CodeOf(err) != problem.CLITooOld || len(s.Runs()) > 0 {
		t.Errorf("error = %v", err)
	}
	s = newStage(t, standIn{Version: "0.9.1"})
	if r := s.MustRefresh(logicstamp.RefreshArgs{}); len(r.Warnings) != 1 || r.Warnings[0].Code != problem.CLINewer {
		t.Errorf("warnings = %v", r.Warnings)
	}
}

func TestASlowCommandIsStopped(t *testing.T) {
	s := newStage(t, standIn{Sleep: time.Minute}, func(o *logicstamp.Options) { o.CLI.Timeout = 300 * time.Millisecond })
	_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
	if problem.CodeOf(err) != problem.CLITimeout || !strings.Contains(err.Error(), s.Project) || !strings.Contains(err.Error(), "--out") || !strings.Contains(problem.Of(err).Next, "logicstamp.stamp_seconds") {
		t.Errorf("error = %v", err)
	}
	s = newStage(t, standIn{Sleep: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err = s.Refresh(ctx, logicstamp.Call{}, logicstamp.RefreshArgs{}); problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("error = %v", err)
	}
}

func TestWithoutACommandTheRestWorks(t *testing.T) {
	s := newStage(t, standIn{})
	snap := s.MustRefresh(logicstamp.RefreshArgs{})
	without := newService(t, "", s.Project)
	_, err := without.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
	if problem.CodeOf(err) != problem.CLINotFound || !strings.Contains(err.Error(), "npm install -g logicstamp-context") {
		t.Errorf("error = %v", err)
	}
	s.Behave(standIn{Version: "none"})
	if _, err := s.List(t.Context(), logicstamp.Call{}, logicstamp.ListArgs{SnapshotID: snap.SnapshotID}); err != nil {
		t.Error(err)
	}
	if r, err := s.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{}); err != nil || r.Status != compare.Pass {
		t.Errorf("compare = %+v, %v", r, err)
	}
}

func TestSourcesThatMoveAreAnalysedAgainOnce(t *testing.T) {
	s := newStage(t, standIn{})
	s.Behave(standIn{Touch: filepath.Join(s.Project, "src/App.tsx")})
	r := s.MustRefresh(logicstamp.RefreshArgs{})
	if len(s.Runs()) != 2 || len(r.Warnings) != 1 || r.Warnings[0].Code != problem.SourcesMoving || !strings.Contains(r.Warnings[0].Message, "src/App.tsx") {
		t.Errorf("%d runs, warnings %v", len(s.Runs()), r.Warnings)
	}
}

func TestAnUnchangedProjectIsNotAnalysedAgain(t *testing.T) {
	s := newStage(t, standIn{})
	first := s.MustRefresh(logicstamp.RefreshArgs{})
	second := s.MustRefresh(logicstamp.RefreshArgs{})
	if len(s.Runs()) != 1 || !second.Incremental.Reused || second.Incremental.BasedOn != first.SnapshotID || second.SnapshotID == first.SnapshotID {
		t.Errorf("%d runs, %+v", len(s.Runs()), second.Incremental)
	}
	depth := 3
	s.MustRefresh(logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Depth: &depth}})
	s.MustRefresh(logicstamp.RefreshArgs{Force: true})
	s.Behave(standIn{Version: "0.8.7"})
	s.Service = s.Open()
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.Write("src/New.tsx", "// props: x\n")
	last := s.MustRefresh(logicstamp.RefreshArgs{})
	if len(s.Runs()) != 5 || !slices.Equal(last.Incremental.NewFiles, []string{"src/New.tsx"}) {
		t.Errorf("%d runs, %+v", len(s.Runs()), last.Incremental)
	}
}

func TestEqualCallsAtOnceShareARun(t *testing.T) {
	release := filepath.Join(t.TempDir(), "release")
	s := newStage(t, standIn{Until: release})
	ids := make([]string, 8)
	var wg, joined sync.WaitGroup
	joined.Add(len(ids))
	for i := range ids {
		var once sync.Once
		call := logicstamp.Call{Progress: func(stage string, _ time.Duration) {
			if stage == "stamp" {
				once.Do(joined.Done)
			}
		}}
		wg.Go(func() {
			r, err := s.Refresh(t.Context(), call, logicstamp.RefreshArgs{})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = r.SnapshotID
		})
	}
	joined.Wait()
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 8 || len(s.Runs()) != 1 {
		t.Errorf("%d ids from %d runs", n, len(s.Runs()))
	}
}

func TestModes(t *testing.T) {
	s := newStage(t, standIn{})
	out, err := s.Modes(t.Context(), logicstamp.Call{}, logicstamp.ModesArgs{})
	if err != nil {
		t.Fatal(err)
	}
	header := out["comparisonVsRawSource"].(map[string]any)["header"].(map[string]any)
	if header["savingsPercent"] != -180 || out["elapsed"] != 9.0 || out["stats"].(map[string]any)["totalTSX"] != 2 {
		t.Errorf("modes = %v", out)
	}
	s.Behave(standIn{Half: true})
	if _, err := s.Modes(t.Context(), logicstamp.Call{}, logicstamp.ModesArgs{}); problem.CodeOf(err) != problem.CLITooOld {
		t.Errorf("error = %v", err)
	}
}

func TestNoCommandOutlivesTheService(t *testing.T) {
	s := newStage(t, standIn{Sleep: time.Minute})
	ended := make(chan error, 1)
	go func() {
		_, err := s.Refresh(context.Background(), logicstamp.Call{}, logicstamp.RefreshArgs{})
		ended <- err
	}()
	testwait.Until(t, "the command has begun", func() bool {
		found, _ := filepath.Glob(filepath.Join(s.Dir, "call-*"))
		return len(found) > 0
	})
	s.Close()
	if err := <-ended; problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("error = %v", err)
	}
	if _, err := s.Refresh(context.Background(), logicstamp.Call{}, logicstamp.RefreshArgs{}); problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("after the end: %v", err)
	}
}
