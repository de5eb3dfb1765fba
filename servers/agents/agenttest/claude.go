//go:build unix

package agenttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// Claude plays a process of Claude Code: a shell that starts its hooks, and its files.
type Claude struct {
	ID, Folder string // of the session
	PID        int

	config string
	dir    string // of what hooks read
	cmd    *exec.Cmd
	in     io.WriteCloser

	mu    sync.Mutex // guards what follows
	hooks int
	waits map[string]chan string
}

// ClaudeOptions says what a process of Claude Code is.
type ClaudeOptions struct {
	ID, Folder string   // of the session
	Home       string   // of the user; Claude Code's own files are in .claude below it
	Dir        string   // for what hooks read
	Hook       []string // program and arguments
}

// NewClaude starts a process.
func NewClaude(o ClaudeOptions) (*Claude, error) {
	c := &Claude{ID: o.ID, Folder: o.Folder, config: filepath.Join(o.Home, ".claude"), dir: filepath.Join(o.Dir, o.ID), waits: map[string]chan string{}}
	for _, dir := range []string{filepath.Join(c.config, "sessions"), filepath.Dir(c.Transcript()), c.dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	const loop = `while read -r n; do (echo "$n $("$@" <"$n")") & done; kill 0`
	c.cmd = exec.Command("/bin/sh", append([]string{"-c", loop, "claude"}, o.Hook...)...)
	c.cmd.Dir, c.cmd.Env = c.dir, []string{"HOME=" + o.Home, "PATH=/usr/bin:/bin"}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // "kill 0" is for this group
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.PID = c.cmd.Process.Pid
	go c.hear(out)
	return c, nil
}

// hear takes what hooks have printed.
func (c *Claude) hear(out io.Reader) {
	for s := bufio.NewScanner(out); s.Scan(); {
		n, text, _ := strings.Cut(s.Text(), " ")
		c.mu.Lock()
		if done := c.waits[n]; done != nil {
			done <- text
		}
		c.mu.Unlock()
	}
}

// Hook starts the hook with an event, and returns a channel of what it prints when it
// ends.
func (c *Claude) Hook(event string) (<-chan string, error) {
	done := make(chan string, 1)
	c.mu.Lock()
	c.hooks++
	n := strconv.Itoa(c.hooks)
	c.waits[n] = done
	c.mu.Unlock()
	err := os.WriteFile(filepath.Join(c.dir, n), []byte(event), 0o600)
	if err == nil {
		_, err = fmt.Fprintln(c.in, n)
	}
	return done, err
}

// Permission asks by a hook whether a command may be run, as [Claude.Hook] does.
func (c *Claude) Permission(command string) (<-chan string, error) {
	event, err := json.Marshal(map[string]any{
		"hook_event_name": "PermissionRequest", "session_id": c.ID, "cwd": c.Folder, "transcript_path": c.Transcript(),
		"permission_mode": "default", "prompt_id": command, "tool_name": "Bash", "tool_input": map[string]any{"command": command},
	})
	if err != nil {
		return nil, err
	}
	return c.Hook(string(event))
}

// Status writes what the process does into its file: busy, idle, shell or waiting.
func (c *Claude) Status(status, waitsFor string) error {
	b, err := json.Marshal(map[string]any{
		"pid": c.PID, "sessionId": c.ID, "cwd": c.Folder, "procStart": pid.Born(c.PID), "version": "2.1.330", "kind": "interactive",
		"entrypoint": "cli", "status": status, "waitingFor": waitsFor, "statusUpdatedAt": time.Now().UnixMilli(),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.config, "sessions", strconv.Itoa(c.PID)+".json"), b, 0o600)
}

// Calls writes into the transcript that the model called Bash.
func (c *Claude) Calls(id, command string) error {
	return c.Log(map[string]any{"type": "assistant", "message": map[string]any{
		"id": "call-" + id, "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}}},
	}})
}

// Answered writes into the transcript that a call has its result.
func (c *Claude) Answered(id string) error {
	return c.Log(map[string]any{"type": "user", "message": map[string]any{"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "done"}}}})
}

// Log writes a line into the transcript.
func (c *Claude) Log(line any) error {
	return Append(c.Transcript(), line)
}

// Append adds a line of JSON to a file.
func Append(path string, line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	return f.Close()
}

// Transcript returns the path of the session's transcript.
func (c *Claude) Transcript() string {
	return filepath.Join(c.config, "projects", strings.ReplaceAll(c.Folder, "/", "-"), c.ID+".jsonl")
}

// Close ends the process and its hooks.
func (c *Claude) Close() {
	_ = c.in.Close()
	_ = c.cmd.Wait() // it ends by a signal
}
