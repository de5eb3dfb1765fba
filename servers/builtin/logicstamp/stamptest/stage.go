package stamptest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
)

// StandInFlag makes a test binary that has [Main] play the stamp command.
const StandInFlag = "-stand-in"

// Main runs a package's tests, or the stand-in where the test binary itself was
// started as the stamp command.
func Main(m *testing.M) int {
	if len(os.Args) > 2 && os.Args[1] == StandInFlag {
		return Play(os.Args[2], os.Args[3:])
	}
	return m.Run()
}

// Command starts the stand-in that behaves as dir says, in a test binary that has
// [Main]. A program built with the race detector sleeps for a second before it
// ends, unless told.
func Command(t testing.TB, dir string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := []string{exe, StandInFlag, dir}
	if env, err := exec.LookPath("env"); err == nil {
		command = append([]string{env, "GORACE=atexit_sleep_ms=0"}, command...)
	}
	return command
}

// Clock is a time that a test moves on.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Add moves the time on.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Stage is a service over the stand-in with a project.
type Stage struct {
	*logicstamp.Service
	T testing.TB
	// Project is the project's folder, Dir the one that says how the stand-in
	// behaves and gets its runs.
	Project, Dir string
	Clock        *Clock
	Options      logicstamp.Options
}

// NewStage makes a project of three sources and a service for it.
func NewStage(t testing.TB, b StandIn, options ...func(*logicstamp.Options)) *Stage {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// A name that a shell would not leave alone.
	project = filepath.Join(project, "my $(touch oops); 'shop'")
	s := &Stage{T: t, Dir: t.TempDir(), Project: project, Clock: &Clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}
	s.Write("src/App.tsx", "// props: title dense\n// uses: src/parts/Knob.tsx\n")
	s.Write("src/parts/Knob.tsx", "// props: size locked\n")
	s.Write("src/parts/helpers.ts", "export {}\n")
	s.Behave(b)
	s.Options = logicstamp.Options{
		Dir: t.TempDir(), ProjectPath: project, Now: s.Clock.Now, GitTimeout: 10 * time.Minute,
		Pause: func(ctx context.Context, d time.Duration) error {
			s.Clock.Add(d)
			return ctx.Err()
		},
		CLI: stampcli.Options{Command: Command(t, s.Dir), Environment: append(os.Environ(), "NODE_OPTIONS=--evil"), VersionTimeout: 10 * time.Minute},
	}
	for _, f := range options {
		f(&s.Options)
	}
	s.Service = s.Open()
	return s
}

// Open makes another service over the same store, as another process would.
func (s *Stage) Open(options ...func(*logicstamp.Options)) *logicstamp.Service {
	s.T.Helper()
	o := s.Options
	for _, f := range options {
		f(&o)
	}
	out, err := logicstamp.New(o)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(out.Close)
	return out
}

// Behave sets how the stand-in behaves from here on.
func (s *Stage) Behave(b StandIn) {
	s.T.Helper()
	Behave(s.T, s.Dir, b)
}

// Write writes a file of the project.
func (s *Stage) Write(name, text string) {
	s.T.Helper()
	Write(s.T, s.Project, map[string]string{name: text})
}

// Run is one run of the stand-in.
type Run struct {
	Args []string
	Dir  string
	Env  []string
}

// Runs are the analyses that were run.
func (s *Stage) Runs() []Run {
	s.T.Helper()
	found, _ := filepath.Glob(filepath.Join(s.Dir, "call-*"))
	var out []Run
	for _, f := range found {
		var r Run
		data, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			s.T.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// MustRefresh makes a snapshot for the user.
func (s *Stage) MustRefresh(args logicstamp.RefreshArgs) *logicstamp.Refreshed {
	s.T.Helper()
	r, err := s.Refresh(s.T.Context(), logicstamp.Call{}, args)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Clock.Add(time.Second)
	return r
}

// MustCompare compares for the user.
func (s *Stage) MustCompare(args logicstamp.CompareArgs) *compare.Result {
	s.T.Helper()
	r, err := s.Compare(s.T.Context(), logicstamp.Call{}, args)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Clock.Add(time.Second)
	return r
}

// Patience ends shortly before the test would be killed: a busy machine may be
// slow, and a test that waits in vain says for what.
func Patience(t testing.TB) <-chan time.Time {
	t.Helper()
	left := 5 * time.Minute
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, bound := d.Deadline(); bound {
			left = time.Until(end) - 10*time.Second
		}
	}
	return time.After(left)
}
