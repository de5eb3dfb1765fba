package logicstamp_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// Two callers that want the same share one analysis, and the one that leaves
// does not end it for the other; when both leave it ends.
func TestACallerThatLeavesDoesNotEndTheAnalysisOfAnother(t *testing.T) {
	yes := true
	works := map[string]func(ctx context.Context, s *stage, call logicstamp.Call) error{
		"refresh": func(ctx context.Context, s *stage, call logicstamp.Call) error {
			_, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{Force: true})
			return err
		},
		"compare": func(ctx context.Context, s *stage, call logicstamp.Call) error {
			return failed(s.Compare(ctx, call, logicstamp.CompareArgs{ForceRegenerate: &yes}))
		},
		"compare with a commit": func(ctx context.Context, s *stage, call logicstamp.Call) error {
			return failed(s.Compare(ctx, call, logicstamp.CompareArgs{Baseline: "git:HEAD"}))
		},
		"modes": func(ctx context.Context, s *stage, call logicstamp.Call) error {
			_, err := s.Modes(ctx, call, logicstamp.ModesArgs{})
			return err
		},
	}
	for name, work := range works {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			git(t, s.Project, "init", "-q", "-b", "main")
			git(t, s.Project, "add", "-A")
			git(t, s.Project, "commit", "-qm", "first")
			s.MustRefresh(logicstamp.RefreshArgs{})
			release := filepath.Join(t.TempDir(), "release")
			s.Behave(standIn{Until: release})
			start := func(ctx context.Context) (stage chan string, ended chan error) {
				stage, ended = make(chan string, 100), make(chan error, 1)
				call := logicstamp.Call{Progress: func(name string, _ time.Duration) { stage <- name }}
				go func() { ended <- work(ctx, s, call) }()
				return stage, ended
			}
			begun := func(stage chan string) {
				t.Helper()
				for {
					select {
					case name := <-stage:
						if len(name) >= 5 && name[:5] == "stamp" {
							return
						}
					case <-stamptest.Patience(t):
						t.Fatal("the second caller does not share the analysis of the first")
					}
				}
			}
			before := len(s.Runs())
			first, leave := context.WithCancel(t.Context())
			stage1, ended1 := start(first)
			begun(stage1)
			testwait.Until(t, "a run", func() bool { return len(s.Runs()) == before+1 })
			stage2, ended2 := start(t.Context())
			begun(stage2)
			leave()
			if err := <-ended1; problem.CodeOf(err) != problem.Cancelled {
				t.Errorf("the first: %v", err)
			}
			if err := os.WriteFile(release, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-ended2; err != nil {
				t.Errorf("the second: %v", err)
			}
			sides := map[string]int{"compare with a commit": 2}[name] // its two sides; one for the others
			if got := len(s.Runs()) - before; got != max(sides, 1) {
				t.Errorf("%d runs", got)
			}
		})
	}
	t.Run("everybody leaves", func(t *testing.T) {
		s := newStage(t, standIn{Until: filepath.Join(t.TempDir(), "never")})
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := s.Refresh(ctx, logicstamp.Call{}, logicstamp.RefreshArgs{})
				ended <- err
			}()
		}
		testwait.Until(t, "a run", func() bool { return len(s.Runs()) == 1 })
		leave()
		for range 2 {
			if err := <-ended; problem.CodeOf(err) != problem.Cancelled {
				t.Errorf("error = %v", err)
			}
		}
		s.Behave(standIn{})
		s.MustRefresh(logicstamp.RefreshArgs{}) // would wait for ever behind a run that went on
	})
}

func failed(r *compare.Result, err error) error {
	if err == nil && r.Status == compare.Failed {
		return problem.New(r.ErrorCode, "", "%s", r.Error)
	}
	return err
}
