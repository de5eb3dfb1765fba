//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestMain makes the test binary the child, too: what it does is its first
// argument.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		syscall.Exit(act(os.Args[1], os.Args[2:])) // os.Exit would say that no coverage is written
	}
	os.Exit(m.Run())
}

// act plays a child. "family" starts a descendant that leaves the group, and
// that one another; each writes its id into the folder that it is given.
func act(what string, args []string) int {
	exe, _ := os.Executable()
	switch what {
	case "family":
		dir := args[0]
		next := map[string]string{"a": "b", "b": "c"}[args[1]]
		if next != "" {
			attr := &os.ProcAttr{Env: os.Environ(), Files: []*os.File{nil, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Setsid: true}}
			if _, err := os.StartProcess(exe, []string{exe, "family", dir, next}, attr); err != nil {
				return 1
			}
		}
		note := filepath.Join(dir, args[1])
		if os.WriteFile(note+".new", fmt.Append(nil, os.Getpid()), 0o600) != nil || os.Rename(note+".new", note) != nil {
			return 1
		}
		if args[1] == "a" && len(args) > 2 {
			_, _ = io.Copy(io.Discard, os.Stdin) // until its input is closed
			return 0
		}
		select {}
	case "environment":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "fail":
		fmt.Fprintln(os.Stderr, "as told")
		return 7
	}
	return 0
}

func self(t *testing.T, args ...string) Command {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Program: exe, Args: args, Own: os.Environ()}
}

// family waits for the ids of a child and its two generations.
func family(t *testing.T, dir string) []int {
	t.Helper()
	var ids []int
	for _, name := range []string{"a", "b", "c"} {
		id := 0
		testwait.Until(t, name+" starts", func() bool {
			b, err := os.ReadFile(filepath.Join(dir, name))
			_, _ = fmt.Sscan(string(b), &id)
			return err == nil && id != 0
		})
		ids = append(ids, id)
	}
	return ids
}

// alive tells whether a process runs; one that only waits to be reaped by
// somebody else does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func allGone(t *testing.T, ids []int) {
	t.Helper()
	for _, id := range ids {
		if !testwait.Holds(func() bool { return !alive(id) }) {
			_ = syscall.Kill(id, syscall.SIGKILL)
			t.Errorf("process %d of %v lives on", id, ids)
		}
	}
}

// TestEndingAChildEndsItsDescendants holds that what a child started ends with
// it, also what left its group and what that started.
func TestEndingAChildEndsItsDescendants(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system does not tell who descends from whom")
	}
	for _, row := range []struct {
		name  string
		flags []string
		end   func(*Child)
	}{
		{"it heeds nothing", nil, func(c *Child) { c.End(false) }},
		{"it ends when its input does", []string{"polite"}, func(c *Child) { c.End(false) }},
		{"it is busy", nil, func(c *Child) { c.End(true) }},
		{"it is killed", nil, func(c *Child) { c.Kill(); <-c.Exited }},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			c, err := Start(self(t, append([]string{"family", dir, "a"}, row.flags...)...))
			if err != nil {
				t.Fatal(err)
			}
			ids := family(t, dir)
			row.end(c)
			allGone(t, ids)
			row.end(c) // again does nothing
		})
	}
	for name, polite := range map[string]time.Duration{"a run is cancelled": 0, "a run is asked to end, then cancelled": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			c := self(t, "family", dir, "a")
			go func() { done <- Run(ctx, c, Streams{Out: io.Discard, Polite: polite}) }()
			ids := family(t, dir)
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v", err)
			}
			allGone(t, ids)
		})
	}
}

// What has left its group and lost its parent is still found, by what it was started
// with.
func TestWhatDescendsFromAChildIsFoundByItsMark(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system may not tell with what environment a process was started")
	}
	dir := t.TempDir()
	c := self(t, "family", dir, "a")
	c.Own = append(c.Own, "MCPDECK_RUN=of a deck that started this one")
	c.Mark = "mark of " + t.Name()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	ids := family(t, dir)
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil { // not the others
		t.Fatal(err)
	}
	<-p.Exited
	found := FindMarked(func(mark string) bool { return mark == c.Mark })
	var pids []int
	for _, m := range found {
		pids = append(pids, m.PID)
		if m.Group != m.PID || m.Program == "" {
			t.Errorf("%s in group %d", m.Program, m.Group)
		}
	}
	slices.Sort(pids)
	if want := slices.Sorted(slices.Values(ids[1:])); !slices.Equal(pids, want) {
		t.Errorf("found %d, want %d", pids, want)
	}
	other := found[0]
	other.born = "earlier"
	other.End()
	if !alive(other.PID) {
		t.Error("another process with the same id was ended")
	}
	for _, m := range found {
		m.End()
	}
	allGone(t, ids)
}

func TestAChildIsEndedInTheTimeThatIsLeft(t *testing.T) {
	for name, asked := range map[string]time.Duration{"asked": time.Minute, "not asked": 0} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := self(t, "family", dir, "c")
			c.Patience = time.Hour
			p, err := Start(c)
			if err != nil {
				t.Fatal(err)
			}
			testwait.Until(t, "it runs", func() bool {
				_, err := os.Stat(filepath.Join(dir, "c"))
				return err == nil
			})
			p.EndIn(time.Millisecond, asked)
			if want := map[bool]string{true: "signal: terminated", false: "signal: killed"}[asked > 0]; p.Code() != want {
				t.Errorf("it ended with %s, want %s", p.Code(), want)
			}
		})
	}
}

func TestRunTellsHowItEnded(t *testing.T) {
	var errs bytes.Buffer
	err := Run(t.Context(), self(t, "fail"), Streams{Err: &errs})
	if code, exited := ExitCode(err); code != 7 || !exited || errs.String() != "as told\n" {
		t.Errorf("error %v, output %q", err, errs.String())
	}
	if _, exited := ExitCode(Run(t.Context(), Command{Program: "/nonexistent"}, Streams{})); exited {
		t.Error("what never started has ended")
	}
}

// TestChildrenSeeNothingElseOfTheEnvironment looks from inside a child.
func TestChildrenSeeNothingElseOfTheEnvironment(t *testing.T) {
	t.Setenv("MY_TOKEN", "secret")
	t.Setenv("HOME", "/h")
	for name, c := range map[string]Command{"none given": {}, "given": {Own: []string{"HOME=/h", "MY_TOKEN=secret"}}} {
		t.Run(name, func(t *testing.T) {
			me := self(t, "environment")
			me.Own = c.Own
			var out bytes.Buffer
			if err := Run(t.Context(), me, Streams{Out: &out}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "secret") || !strings.Contains(out.String(), "HOME=") {
				t.Errorf("the child sees %q", out.String())
			}
			out.Reset()
			f := &Foreground{Command: me}
			f.SetStdout(&out)
			if err := f.Run(); err != nil || strings.Contains(out.String(), "secret") {
				t.Errorf("a program in the terminal sees %q, %v", out.String(), err)
			}
		})
	}
}
