//go:build unix

package journal

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be a deck that gets killed.
func TestMain(m *testing.M) {
	path := os.Getenv("JOURNAL_TEST_PATH")
	if path == "" {
		os.Exit(m.Run())
	}
	j := New(Options{Path: path, MaxAge: 1e6 * time.Hour, Warn: func(s string) { fmt.Fprintln(os.Stderr, s) }})
	if err := j.Open(context.Background()); err != nil {
		panic(err)
	}
	for n := 1; ; n++ {
		j.Record(call(n))
		fmt.Println(n, time.Now().UnixMilli())
		time.Sleep(time.Millisecond) // it is killed among many
	}
}

func TestSurvivesKill(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	path := filepath.Join(t.TempDir(), "journal.db")
	exe, err := os.Executable()
	must(t, err)
	for round := range rounds {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "JOURNAL_TEST_PATH="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		time.AfterFunc(1500*time.Millisecond, func() { _ = cmd.Process.Kill() })
		recorded := map[int]int64{} // call → time of recording
		var last int64
		for in := bufio.NewScanner(out); in.Scan(); {
			a, b, _ := strings.Cut(in.Text(), " ")
			n, _ := strconv.Atoi(a)
			recorded[n], _ = strconv.ParseInt(b, 10, 64)
			last = max(last, recorded[n])
		}
		_ = cmd.Wait()
		r, err := OpenReader(t.Context(), path)
		must(t, err)
		entries, err := r.Search(t.Context(), Query{Limit: -1})
		must(t, err)
		must(t, r.Close())
		var run int64
		for _, e := range entries {
			run = max(run, e.Run)
		}
		kept := map[int]bool{}
		for _, e := range entries {
			if e.Run == run {
				kept[int(e.Call.ID)] = true
			}
		}
		for n, at := range recorded {
			if last-at > 1000 && !kept[n] {
				t.Fatalf("round %d: call %d was recorded %d ms before the end and is lost (%d of %d kept)", round, n, last-at, len(kept), len(recorded))
			}
		}
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	mount := exec.Command("mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", dir)
	if out, err := mount.CombinedOutput(); err != nil {
		t.Skipf("no small file system can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	j, w := testJournal(t, Options{Path: filepath.Join(dir, "journal.db"), MaxAge: 1e6 * time.Hour})
	must(t, j.Open(t.Context()))
	for n := 1; n <= 3000; n++ {
		j.Record(call(n))
		if n%500 == 0 {
			must(t, j.Sync(t.Context()))
		}
	}
	if !j.InMemory() || !strings.Contains(w.String(), "in memory only: the disk") {
		t.Fatalf("in memory %v, warned %q", j.InMemory(), w)
	}
	got, err := j.Search(t.Context(), Query{Limit: -1})
	if err != nil || len(got) == 0 || got[len(got)-1].Call.ID != 3000 {
		t.Errorf("%d calls, %v", len(got), err)
	}
	must(t, j.Close(t.Context()))
	r, err := OpenReader(t.Context(), filepath.Join(dir, "journal.db"))
	must(t, err)
	defer r.Close()
	if before, err := r.Search(t.Context(), Query{Limit: -1}); err != nil || len(before) == 0 {
		t.Errorf("what was written before: %d, %v", len(before), err)
	}
}
