//go:build unix

package clippy

import (
	"bufio"
	"context"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary play the other processes.
func TestMain(m *testing.M) {
	path := os.Getenv("CLIPPY_TEST_PATH")
	switch os.Getenv("CLIPPY_TEST_ROLE") {
	case "writer":
		playWriter(path, os.Getenv("CLIPPY_TEST_KEY"))
	case "limited":
		playLimited(path)
	default:
		os.Exit(m.Run())
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playWriter writes 50 keys, or for ever when it has no name.
func playWriter(path, key string) {
	m := newMemory(path, time.Now)
	for i := 0; i < 50 || key == ""; i++ {
		if i == 1 {
			fmt.Println("writing")
		}
		for { // others may hold the lock for long on a loaded machine
			err := m.write(context.Background(), fmt.Sprintf("%s-%d", key, i%50), strings.Repeat(strconv.Itoa(i), 200))
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "in use") {
				fail(err)
			}
		}
	}
	os.Exit(0)
}

// playLimited writes where files may not grow beyond 1000 bytes.
func playLimited(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	fail(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}))
	m := newMemory(path, time.Now)
	if err := m.write(context.Background(), "big", strings.Repeat("x", 2000)); err != nil {
		fmt.Println(sentence(err))
		os.Exit(0)
	}
	fail(fmt.Errorf("a write beyond the limit succeeded"))
}

func role(t *testing.T, name, path, key string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "CLIPPY_TEST_ROLE="+name, "CLIPPY_TEST_PATH="+path, "CLIPPY_TEST_KEY="+key)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ring a bell at
	return cmd
}

func TestEightProcessesWriteTheMemory(t *testing.T) {
	t.Parallel()
	m := testMemory(t)
	var writers sync.WaitGroup
	for i := range 8 {
		cmd := role(t, "writer", m.path, fmt.Sprint(i))
		writers.Add(1)
		go func() {
			defer writers.Done()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer: %v: %s", err, out)
			}
		}()
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	reads := 0
	for running := true; running; reads++ {
		select {
		case <-done:
			running = false
		case <-time.After(time.Millisecond): // the writers need the processor
		}
		if _, _, err := m.read("0-0"); err != nil {
			t.Fatalf("read %d: %v (%v)", reads, err, raw(err))
		}
	}
	all, err := m.load()
	if err != nil || len(all) != 8*50 {
		t.Errorf("%d keys, want 400: %v", len(all), err)
	}
}

func TestKilledWriterLeavesAWholeMemory(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	const memories = 4
	for i := range memories {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			killWriters(t, rounds/memories)
		})
	}
}

func killWriters(t *testing.T, rounds int) {
	t.Helper()
	m := testMemory(t)
	must(t, m.write(t.Context(), "mine", "kept"))
	for i := range rounds {
		cmd := role(t, "writer", m.path, "")
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		_, err = bufio.NewReader(out).ReadString('\n') // it writes now
		must(t, err)
		time.Sleep(time.Duration(mrand.IntN(30_000)) * time.Microsecond) // it is to be killed anywhere in its work
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if r, _, err := m.read("mine"); err != nil || r.Value != "kept" {
			t.Fatalf("round %d: %+v, %v", i, r, err)
		}
		if _, err := os.Stat(m.path + ".bak"); err == nil && m.goodCopy() == nil {
			t.Fatalf("round %d: the copy is no good", i)
		}
	}
	must(t, m.write(t.Context(), "after", "all"))
	all, err := m.load()
	if err != nil || len(all) < 3 {
		t.Errorf("the writers wrote nothing: %d keys, %v", len(all), err)
	}
}

func TestMemoryBeyondTheFileSizeLimit(t *testing.T) {
	m := testMemory(t, `{"a":"b"}`)
	out, err := role(t, "limited", m.path, "").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "the operation failed (EFBIG)") {
		t.Fatalf("%s, %v", out, err)
	}
	if got := get(t, m.path); got != `{"a":"b"}` {
		t.Errorf("the file is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(m.path), ".*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
