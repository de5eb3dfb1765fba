package logicstamp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stamptest"
)

// standIn is how the stand-in for the stamp command behaves. The test
// binary itself is the command.
type standIn = stamptest.StandIn

const standInFlag = "-stand-in"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == standInFlag {
		os.Exit(stamptest.Play(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// standInCommand starts the stand-in that behaves as dir says. A program built
// with the race detector sleeps for a second before it ends, unless told.
func standInCommand(t testing.TB, dir string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := []string{exe, standInFlag, dir}
	if env, err := exec.LookPath("env"); err == nil {
		command = append([]string{env, "GORACE=atexit_sleep_ms=0"}, command...)
	}
	return command
}

// stage is a service over the stand-in with a project.
type stage struct {
	*logicstamp.Service
	t       *testing.T
	dir     string
	project string
	clock   *clock
	opts    logicstamp.Options
	module  *logicstamp.Module
}

// clock is a time that a test moves on.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type stageOption func(*logicstamp.Options)

func newStage(t *testing.T, b standIn, options ...stageOption) *stage {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// A name that a shell would not leave alone.
	project = filepath.Join(project, "my $(touch oops); 'shop'")
	st := &stage{t: t, dir: t.TempDir(), project: project, clock: &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}
	st.write("src/App.tsx", "// props: title dense\n// uses: src/parts/Knob.tsx\n")
	st.write("src/parts/Knob.tsx", "// props: size locked\n")
	st.write("src/parts/helpers.ts", "export {}\n")
	st.behave(b)
	o := logicstamp.Options{
		Dir: t.TempDir(), ProjectPath: project, Now: st.clock.now,
		CLI:        stampcli.Options{Command: standInCommand(t, st.dir), Environment: append(os.Environ(), "NODE_OPTIONS=--evil"), VersionTimeout: 10 * time.Minute},
		GitTimeout: 10 * time.Minute,
	}
	for _, f := range options {
		f(&o)
	}
	st.opts = o
	st.Service = st.open()
	st.module = logicstamp.NewModule(st.Service)
	return st
}

// open makes another service over the same store, as another process would.
func (s *stage) open(options ...stageOption) *logicstamp.Service {
	s.t.Helper()
	o := s.opts
	for _, f := range options {
		f(&o)
	}
	out, err := logicstamp.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(out.Close)
	return out
}

func (s *stage) behave(b standIn) {
	s.t.Helper()
	stamptest.Behave(s.t, s.dir, b)
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	full := filepath.Join(s.project, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// patience ends shortly before the test would be killed: a busy machine may be
// slow, and a test that waits in vain says for what.
func patience(t testing.TB) <-chan time.Time {
	left := 5 * time.Minute
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, bound := d.Deadline(); bound {
			left = time.Until(end) - 10*time.Second
		}
	}
	return time.After(left)
}

// call is one run of the stand-in.
type call struct {
	Args []string
	Dir  string
	Env  []string
}

// calls are the analyses that were run.
func (s *stage) calls() []call {
	s.t.Helper()
	found, _ := filepath.Glob(filepath.Join(s.dir, "call-*"))
	var out []call
	for _, f := range found {
		var c call
		data, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(data, &c)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func (s *stage) refresh(args logicstamp.RefreshArgs) *logicstamp.Refreshed {
	s.t.Helper()
	r, err := s.Refresh(s.t.Context(), logicstamp.Call{}, args)
	if err != nil {
		s.t.Fatal(err)
	}
	s.clock.add(time.Second)
	return r
}
