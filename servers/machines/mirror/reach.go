package mirror

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Reach reaches machines by the system's ssh, with the user's configuration, known hosts and agent,
// or containers by the program of their engine.
type Reach struct {
	Environ []string
	Engine  string // of containers: docker or podman, or [Devcontainer]; "" is ssh
}

// Devcontainer is the command that reaches the development container of a folder.
const Devcontainer = "devcontainer"

// Program is what reaches a machine.
func (r Reach) Program() string { return cmp.Or(r.Engine, "ssh") }

// remotePath finds mcpdeck where the user has put it, since a command over ssh has a short PATH.
const remotePath = `PATH="$PATH:$HOME/.local/bin:/usr/local/bin:$HOME/go/bin"; `

// targets are the words that ssh takes for a machine and for nothing else.
var targets = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@:%+\[\]/-]*$`)

// containers are the names that engines give.
var containers = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// Check refuses what is no machine, or no container's name.
func (r Reach) Check(target string) error {
	switch engine := r.Engine; {
	case engine == "" && !targets.MatchString(target):
		return fmt.Errorf("use %q as a machine: name a host of your ssh configuration, or user@host", target)
	case engine == Devcontainer && !filepath.IsAbs(target):
		return fmt.Errorf("use %q as a folder: name it from the root", target)
	case engine != "" && engine != Devcontainer && !containers.MatchString(target):
		return fmt.Errorf("use %q as a container: name one that %s ps shows", target, engine)
	}
	return nil
}

// Script is the program that runs a shell script on a machine. With prompts, ssh may ask the user
// for what it needs.
func (r Reach) Script(target, script string, prompts bool) process.Command {
	args := append(r.inside(target, "-i"), "sh", "-c", remotePath+script)
	if r.Engine == "" {
		args = []string{"-T", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2", "-o", "ForwardAgent=no", "-o", "ClearAllForwardings=yes"}
		if !prompts {
			args = append(args, "-o", "BatchMode=yes")
		}
		// The script is one word for whatever shell the user has there.
		args = append(args, "--", target, "exec sh -c "+Quote(remotePath+script))
	}
	return process.Command{Program: r.Program(), Args: args, Kind: process.Remote, Own: r.Environ, Patience: time.Second}
}

// inside are the arguments of an engine before a command in a container.
func (r Reach) inside(target, flags string) []string {
	if r.Engine == Devcontainer {
		return []string{"exec", "--workspace-folder", target}
	}
	return []string{"exec", flags, target}
}

// Quote makes one word of a text for a shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Dial starts a link to the deck on a machine.
func (r Reach) Dial(target string) func(context.Context) (io.ReadWriteCloser, error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		if err := r.Check(target); err != nil {
			return nil, err
		}
		child, err := process.Start(r.Script(target, "exec mcpdeck remote-end", false))
		if err != nil {
			return nil, fmt.Errorf("start %s: %s", r.Program(), process.StartReason(r.Program(), err))
		}
		c := &carrier{Child: child, said: make(chan struct{})}
		recovery.Go("errors of "+r.Program(), func() {
			defer close(c.said)
			_, _ = io.Copy(&c.errors, child.Err) // how it ends is told by the exit
		})
		return c, nil
	}
}

// carrier is a stream to what runs on another machine.
type carrier struct {
	*process.Child
	errors Tail
	said   chan struct{} // closed when all of errors is there
	once   sync.Once
}

// Read implements io.Reader. At the end it says why that came.
func (c *carrier) Read(b []byte) (int, error) {
	n, err := c.Out.Read(b)
	return n, c.why(err)
}

// Write implements io.Writer. To a program that has ended it says why it has.
func (c *carrier) Write(b []byte) (int, error) {
	n, err := c.In.Write(b)
	return n, c.why(err)
}

// why is what the program has said at its end, if a stream of it has failed.
func (c *carrier) why(err error) error {
	if err == nil {
		return nil
	}
	c.GoneWithin(time.Second)
	select {
	case <-c.said:
	case <-time.After(time.Second):
	}
	if why := c.errors.Last(); why != "" {
		return errors.New(why)
	}
	return err
}

// Close ends the program that reaches the machine.
func (c *carrier) Close() error {
	c.once.Do(func() {
		c.End(false)
		c.Out.Close()
	})
	return nil
}

// Tail keeps the end of what is written to it.
type Tail struct {
	mu sync.Mutex
	b  []byte
}

// Write implements io.Writer.
func (t *Tail) Write(b []byte) (int, error) {
	const most = 2 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b = append(t.b, b...); len(t.b) > most {
		t.b = append([]byte(nil), t.b[len(t.b)-most:]...)
	}
	return len(b), nil
}

// Last is the last line, which says best what was wrong, without the mark at its end: it is part of a sentence.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.b), []byte("\n"))
	return strings.TrimRight(sanitize.Line(string(lines[len(lines)-1])), ". ")
}

// sessionName is what tmux may be asked to show.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)

// Jump opens a terminal on a machine in a new window of the tmux that the deck runs in, at the place
// of a session if that is known. Elsewhere the error says what to type.
func (r Reach) Jump(target string, at snapshot.Session, tmux bool) (string, error) {
	if err := r.Check(target); err != nil {
		return "", err
	}
	line, shell := []string{"ssh", "-t", "--", target}, []string(nil)
	if r.Engine != "" {
		line, shell = append([]string{r.Engine}, r.inside(target, "-it")...), []string{"sh"}
	}
	if sessionName.MatchString(at.Place.Tmux) {
		shell = []string{"tmux", "attach", "-t", at.Place.Tmux}
	}
	line = append(line, shell...)
	if !tmux {
		return "", errors.New("this session runs on " + at.Machine + "; in another terminal run: " + strings.Join(line, " "))
	}
	const within = 3 * time.Second
	ctx, done := context.WithTimeout(context.Background(), within)
	defer done()
	c := process.Of(append([]string{"tmux", "new-window", "-n", at.Machine, "--"}, line...), process.Remote, r.Environ)
	if err := process.Run(ctx, c, process.Streams{}); err != nil {
		return "", fmt.Errorf("open a window in tmux: %w", err)
	}
	return "a terminal on " + at.Machine + " is in a new window of tmux", nil
}
