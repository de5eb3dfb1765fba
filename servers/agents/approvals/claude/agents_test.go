package claude

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// command stands in for "claude agents --json".
type command struct {
	mu     sync.Mutex
	status string // of the session; "fails" fails
	runs   int
}

func (c *command) says(status string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

func (c *command) ran() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs
}

func (c *command) run(context.Context) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	if c.status == "fails" {
		return nil, errors.New("unknown command")
	}
	return json.Marshal([]map[string]any{
		{"pid": 1, "sessionId": "other", "status": "idle"},
		{"pid": os.Getpid(), "sessionId": sessionID, "status": c.status},
	})
}

// silent makes the session's file say nothing.
func (d *desk) silent(missing bool) {
	d.status("", "")
	if missing {
		if err := os.Remove(filepath.Join(d.folder, "sessions", strconv.Itoa(os.Getpid())+".json")); err != nil {
			d.t.Fatal(err)
		}
	}
}

func TestASessionWhoseFileDoesNotTellIsListedByItsOwnCommand(t *testing.T) {
	for name, missing := range map[string]bool{"a file without a status": false, "no file": true} {
		t.Run(name, func(t *testing.T) {
			c := &command{status: "waiting"}
			bubble(t, func(o *Options) { o.Agents = c.run }, func(d *desk) {
				testwait.Pass(time.Minute)
				h := d.bash("make")
				d.silent(missing)
				testwait.Pass(time.Minute)
				if it := d.only(); it.Request.Prompt.Unwatched {
					t.Error("it is said to be settled, maybe, while its terminal waits")
				}
				if n := c.ran(); n < 5 || n > 7 {
					t.Errorf("the command ran %d times in a minute", n)
				}
				c.says("busy")
				testwait.Pass(agentsEvery + lookEvery)
				d.gone("answered in its terminal")
				d.prints(h, "")
				ran := c.ran()
				testwait.Pass(time.Minute)
				if c.ran() != ran {
					t.Error("the command runs without a prompt")
				}
			})
		})
	}
}

func TestTheCommandIsNotRunWhileTheFileTells(t *testing.T) {
	c := &command{status: "busy"}
	bubble(t, func(o *Options) { o.Agents = c.run }, func(d *desk) {
		d.bash("make")
		testwait.Pass(time.Minute)
		d.only()
		if n := c.ran(); n != 0 {
			t.Errorf("it ran %d times", n)
		}
	})
}

func TestWhatNothingTellsOfMayBeSettled(t *testing.T) {
	for name, c := range map[string]*command{"no command": nil, "it fails": {status: "fails"}, "it does not tell": {}} {
		t.Run(name, func(t *testing.T) {
			set := func(o *Options) {
				if c != nil {
					o.Agents = c.run
				}
			}
			bubble(t, set, func(d *desk) {
				d.record(used("t1", "Bash", bashInput("make")))
				d.silent(false)
				d.bash("make")
				testwait.Pass(agentsEvery)
				if !d.only().Request.Prompt.Unwatched {
					t.Error("it does not say so")
				}
				d.status("waiting", "permission prompt")
				testwait.Pass(lookEvery)
				if d.only().Request.Prompt.Unwatched {
					t.Error("it says so when its file tells again")
				}
				d.record(result(""))
				testwait.Pass(lookEvery)
				d.gone("answered in its terminal")
			})
		})
	}
}

func TestClaudeCodesOwnListIsAskedOfItsProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir, home := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\n[ \"$*\" = \"agents --json\" ] && printf '[{\"pid\":7,\"status\":\"%s\"}]' \"${CLAUDE_CONFIG_DIR-as by default}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for folder, want := range map[string]string{filepath.Join(home, ".claude"): "as by default", "/srv/claude": "/srv/claude"} {
		got, err := ownList(approvals.Deps{Home: home, Folder: folder, Environ: os.Environ()})(t.Context())
		if want := `[{"pid":7,"status":"` + want + `"}]`; err != nil || string(got) != want {
			t.Errorf("with the folder %q, got %s, %v, want %s", folder, got, err, want)
		}
	}
}
