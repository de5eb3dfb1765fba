//go:build unix

package logicstamp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/gittree"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// benchProject has n sources, about half of them roots.
func benchProject(b *testing.B, n int) string {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{"package.json": "{}"}
	filler := strings.Repeat("// one of many lines that say nothing about the contract\n", 55)
	props := strings.Repeat("a b c ", 1)
	for i := range 70 {
		props += fmt.Sprintf("property%02d ", i)
	}
	name := func(i int) string { return fmt.Sprintf("src/area%02d/mod%d/Part%03d.tsx", i%23, i%7, i) }
	for i := range n {
		text := "// props: " + props + "\n"
		if i%2 == 0 && i+1 < n {
			text += "// uses: " + name(i+1) + "\n"
		}
		files[name(i)] = fmt.Sprintf("%s%sexport interface Part%03dProps { title: string; count: number; tone?: 'calm' | 'loud' }\nexport function Part%03d(props: Part%03dProps) { return <i>{props.title}</i>; }\n", text, filler, i, i, i)
	}
	stamptest.Write(b, dir, files)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "first"}} {
		git(b, dir, args...)
	}
	return dir
}

// BenchmarkCommand is the command's own time for 120 sources, and that of a
// refresh with it.
func BenchmarkCommand(b *testing.B) {
	cli := stamptest.CLI(b, stampcli.Wanted)
	project := benchProject(b, 120)
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command(cli, "context", "--profile", "llm-chat", "--skip-gitignore", "--quiet", "--out", b.TempDir())
			cmd.Dir = project
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v %s", err, out)
			}
		}
	})
	s := newService(b, cli, project)
	b.Run("refresh", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Refresh(b.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{Force: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLarge measures what comes on top of the command's own time, for 950
// sources in 475 bundles; a stand-in writes their context.
func BenchmarkLarge(b *testing.B) {
	project, dir, behaviour := benchProject(b, 950), b.TempDir(), b.TempDir()
	if stamptest.WriteJSON(filepath.Join(behaviour, "behaviour"), standIn{Version: "0.8.8"}) != 0 {
		b.Fatal("cannot write the behaviour")
	}
	open := func() *logicstamp.Service {
		s, err := logicstamp.New(logicstamp.Options{
			Dir: dir, ProjectPath: project, CLI: stampcli.Options{Command: stamptest.Command(b, behaviour), Environment: os.Environ()},
		})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	s := open()
	defer s.Close()
	ctx, call := b.Context(), logicstamp.Call{}
	snap, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.PinFor(snap.SnapshotID, true); err != nil {
		b.Fatal(err)
	}
	measure := func(name string, fresh bool, f func(s *logicstamp.Service) error) {
		b.Run(name, func(b *testing.B) {
			start := cpuTime()
			defer func() { b.ReportMetric(float64((cpuTime()-start).Microseconds())/1000/float64(b.N), "cpu-ms/op") }()
			for b.Loop() {
				one := s
				if fresh {
					b.StopTimer()
					one = open()
					b.StartTimer()
				}
				if err := f(one); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	list := func(s *logicstamp.Service) error {
		_, err := s.List(ctx, call, logicstamp.ListArgs{SnapshotID: snap.SnapshotID})
		return err
	}
	same := func(s *logicstamp.Service) error {
		r, err := s.Compare(ctx, call, logicstamp.CompareArgs{Baseline: "snapshot:" + snap.SnapshotID})
		if err == nil && r.Status != compare.Pass {
			err = fmt.Errorf("status %s %s", r.Status, r.Error)
		}
		return err
	}
	measure("list-first", true, list)
	measure("list-again", false, list)
	measure("read", false, func(s *logicstamp.Service) error {
		_, err := s.Read(ctx, call, logicstamp.ReadArgs{SnapshotID: snap.SnapshotID, BundlePath: snap.Folders[0].ContextFile})
		return err
	})
	measure("compare-first", true, same)
	measure("compare-again", false, same)
	measure("reuse", false, func(s *logicstamp.Service) error {
		_, err := s.Refresh(ctx, call, logicstamp.RefreshArgs{})
		return err
	})
	measure("search", false, func(s *logicstamp.Service) error {
		_, err := s.Search(ctx, call, searchFor(snap.SnapshotID))
		return err
	})
	benchmarkFiles(b, project)
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.Run("memory", func(b *testing.B) {
		b.ReportMetric(float64(mem.HeapAlloc)/1e6, "MB")
		b.ReportMetric(0, "ns/op")
	})
}

// cpuTime is what this process has used, which another one's load changes less
// than the time on the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func searchFor(id string) logicstamp.SearchArgs {
	args := logicstamp.SearchArgs{SnapshotID: id}
	args.Text = "part title"
	return args
}

// benchmarkFiles measures listing the sources and taking a commit's tree.
func benchmarkFiles(b *testing.B, project string) {
	b.Helper()
	b.Run("freshness-cold", func(b *testing.B) {
		for b.Loop() {
			if _, err := manifest.Take(b.Context(), project, manifest.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	known, err := manifest.Take(b.Context(), project, manifest.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("freshness-warm", func(b *testing.B) {
		for b.Loop() {
			if _, err := manifest.Take(b.Context(), project, manifest.Options{Known: known}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("git-tree", func(b *testing.B) {
		repo := gittree.Repo{Project: project, Environ: os.Environ()}
		for b.Loop() {
			commit, err := repo.Resolve(b.Context(), "HEAD")
			if err != nil {
				b.Fatal(err)
			}
			if _, _, err := repo.Extract(b.Context(), commit, filepath.Join(b.TempDir(), "tree"), false); err != nil {
				b.Fatal(err)
			}
		}
	})
}
