package logicstamp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// watched writes the status file of a watch mode.
func (s *stage) watched(pid, started, root string) {
	s.Write(".logicstamp/context_watch-status.json", fmt.Sprintf(`{"active":true,"projectRoot":%q,"pid":%s,"startedAt":%q,"strictWatch":true}`, root, pid, started))
}

func TestWatchStatusIsNotBelievedBlindly(t *testing.T) {
	dead := exec.Command(os.Args[0], stamptest.StandInFlag, t.TempDir(), "--version")
	_ = dead.Run()
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Skipf("no sleep here: %v", err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	now := time.Now().Format(time.RFC3339)
	for name, row := range map[string]struct {
		pid, started, root string
		active             bool
		says               string
	}{
		"alive":           {fmt.Sprint(os.Getpid()), now, "", true, "watches this project"},
		"ended":           {fmt.Sprint(dead.Process.Pid), now, "", false, "no longer runs"},
		"another program": {fmt.Sprint(other.Process.Pid), now, "", false, "another program"},
		"reused number":   {fmt.Sprint(os.Getpid()), "2001-01-01T00:00:00Z", "", false, "younger"},
		"init":            {"1", now, "", false, "names no process"},
		"zero":            {"0", now, "", false, "names no process"},
		"negative":        {"-1", now, "", false, "names no process"},
		"a text":          {`"12"`, now, "", false, "names no process"},
		"another project": {fmt.Sprint(os.Getpid()), now, "/elsewhere", false, "another project"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			root := row.root
			if root == "" {
				root = s.Project
			}
			s.watched(row.pid, row.started, root)
			out, err := s.WatchStatus(t.Context(), logicstamp.Call{}, logicstamp.WatchArgs{Project: s.Project})
			if err != nil || out.WatchModeActive != row.active || !strings.Contains(out.Message, row.says) || out.StrictWatch == nil || !*out.StrictWatch {
				t.Errorf("status = %+v, %v", out, err)
			}
			if _, err := os.Stat(filepath.Join(s.Project, ".logicstamp/context_watch-status.json")); err != nil {
				t.Error("the status file was deleted")
			}
		})
	}
}

func TestWatchLogs(t *testing.T) {
	entry := func(n int) string { return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:%02dZ","n":%d}`, n, n) }
	for name, row := range map[string]struct {
		text string
		want string
	}{
		"newest first": {`{"entries":[` + entry(3) + `,` + entry(2) + `,` + entry(1) + `],"maxEntries":100}`, "2 3"},
		"a list":       {`[` + entry(1) + `,` + entry(2) + `]`, "1 2"},
		"one":          {entry(7), "7"},
		"lines":        {entry(1) + "\n" + entry(2) + "\n" + entry(3) + "\n", "2 3"},
		"damaged":      {`{"entries":[`, ""},
		"none":         {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			s.Write(".logicstamp/context_watch-mode-logs.json", row.text)
			out, err := s.WatchStatus(t.Context(), logicstamp.Call{}, logicstamp.WatchArgs{Project: s.Project, IncludeRecentLogs: true, LogLimit: 2})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, raw := range out.RecentLogs {
				var entry struct{ N int }
				if err := json.Unmarshal(raw, &entry); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(entry.N))
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("logs = %v", got)
			}
			if out, err = s.WatchStatus(t.Context(), logicstamp.Call{}, logicstamp.WatchArgs{Project: s.Project}); err != nil || out.RecentLogs != nil {
				t.Errorf("logs without being asked for: %+v, %v", out, err)
			}
		})
	}
}

func TestRefreshWhileStampWatches(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	active := func(t *testing.T) *stage {
		t.Helper()
		s := newStage(t, standIn{})
		s.MustRefresh(logicstamp.RefreshArgs{Publish: &yes})
		s.watched(fmt.Sprint(os.Getpid()), time.Now().Format(time.RFC3339), s.Project)
		return s
	}
	t.Run("a fresh context is copied", func(t *testing.T) {
		s := active(t)
		r := s.MustRefresh(logicstamp.RefreshArgs{Force: true})
		if len(s.Runs()) != 1 || r.WatchMode == nil || !r.WatchMode.Active || r.Freshness.State != "fresh" || r.Summary.TotalBundles == 0 {
			t.Errorf("%d runs, %+v", len(s.Runs()), r)
		}
	})
	t.Run("a stale one is not", func(t *testing.T) {
		s := active(t)
		s.Write("src/App.tsx", "// props: other\n")
		if s.MustRefresh(logicstamp.RefreshArgs{}); len(s.Runs()) != 2 {
			t.Errorf("%d runs", len(s.Runs()))
		}
	})
	t.Run("but is when asked for", func(t *testing.T) {
		s := active(t)
		s.Write("src/App.tsx", "// props: other\n")
		r := s.MustRefresh(logicstamp.RefreshArgs{SkipIfWatchActive: &yes})
		if len(s.Runs()) != 1 || len(r.Warnings) != 1 || r.Warnings[0].Code != problem.WatchStale || r.Freshness.State != "stale" {
			t.Errorf("%d runs, %+v", len(s.Runs()), r)
		}
	})
	t.Run("analysed when asked for", func(t *testing.T) {
		s := active(t)
		if s.MustRefresh(logicstamp.RefreshArgs{SkipIfWatchActive: &no, Force: true}); len(s.Runs()) != 2 {
			t.Errorf("%d runs", len(s.Runs()))
		}
	})
	t.Run("one that is being written is read again", func(t *testing.T) {
		s := active(t)
		file := filepath.Join(s.Project, "src/context.json")
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s.Write("src/context.json", string(whole[:len(whole)/2]))
		written := errors.New("never waited")
		s.Service = s.Open(func(o *logicstamp.Options) {
			o.Pause = func(context.Context, time.Duration) error {
				written = os.WriteFile(file, whole, 0o600)
				return nil
			}
		})
		r := s.MustRefresh(logicstamp.RefreshArgs{Force: true})
		if written != nil || len(s.Runs()) != 1 || r.Summary.TotalBundles == 0 {
			t.Errorf("%d runs, %+v, %v", len(s.Runs()), r.Summary, err)
		}
	})
	t.Run("one that stays half is an error", func(t *testing.T) {
		s := active(t)
		s.Write("src/context.json", `[{"entryId":`)
		_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
		if problem.CodeOf(err) != problem.ContextIncomplete {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("without an index", func(t *testing.T) {
		s := active(t)
		if err := os.Remove(filepath.Join(s.Project, "context_main.json")); err != nil {
			t.Fatal(err)
		}
		_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
		if problem.CodeOf(err) != problem.ContextMissing {
			t.Errorf("error = %v", err)
		}
	})
}

func TestCleaningSparesWhatIsThePersons(t *testing.T) {
	s := newStage(t, standIn{})
	for _, name := range []string{"config.json", "x.tmp", "y.lock", "compare/z.json", "strict_watch_violations.json"} {
		s.Write(".logicstamp/"+name, "{}")
	}
	s.watched("1", "2026-01-01T00:00:00Z", s.Project)
	s.Write("context_main.json", "{broken")
	s.MustRefresh(logicstamp.RefreshArgs{})
	left, _ := filepath.Glob(filepath.Join(s.Project, ".logicstamp", "*"))
	var names []string
	for _, p := range left {
		names = append(names, filepath.Base(p))
	}
	if strings.Join(names, " ") != "config.json strict_watch_violations.json" {
		t.Errorf("left: %q", names)
	}
	if _, err := os.Stat(filepath.Join(s.Project, "context_main.json")); err == nil {
		t.Error("the broken index is still there")
	}
}
