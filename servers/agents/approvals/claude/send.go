package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// restartWithin is how long it may take to end a session and start it again.
const restartWithin = 30 * time.Second

// door is how a prompt reaches a session in the background: it is stopped, and resumed with it.
// One that its terminal may show is left to that.
func (s *session) door() snapshot.Door {
	if s.Job == "" || s.silent() {
		return snapshot.Door{}
	}
	return snapshot.Door{Open: true, AtRest: true, Commands: true, Warning: "restarts this background session"}
}

// Send implements [approvals.Sender]. A session that still runs would be copied when it is
// resumed, so it has to have ended before. Once it is being stopped, the end of ctx does not keep
// it from being resumed.
func (a *Adapter) Send(ctx context.Context, to snapshot.Session, text string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restartWithin)
	defer cancel()
	s, ok := readSession(a.opt.Folder, to.PID)
	if !ok || s.ID != to.ID || !s.door().Open || s.Status != "idle" || !s.alive() || len(a.open(s.ID)) > 0 {
		return fmt.Errorf("%w: it is not an idle session in the background", approvals.ErrUnsent)
	}
	if why := a.keeps(&s); why != "" {
		return fmt.Errorf("%w: %s", approvals.ErrUnsent, why)
	}
	if err := a.run(ctx, s.Folder, "stop", s.Job); err != nil {
		return fmt.Errorf("%w: %w", approvals.ErrUnsent, err)
	}
	for s.alive() {
		if process.Pause(ctx, writtenIn) != nil {
			return fmt.Errorf("%w: it has not stopped", approvals.ErrUnsent)
		}
	}
	if err := a.run(ctx, s.Folder, "--bg", "--resume", s.ID, "--", text); err != nil {
		return fmt.Errorf("it is stopped: %w", err)
	}
	return nil
}

// keeps says why a session cannot be restarted, as its job's file has it; "" if it can.
func (a *Adapter) keeps(s *session) (why string) {
	var job struct {
		InFlight struct{ Tasks, Queued int }
		Provider struct {
			Credential string `json:"CLAUDE_BG_SESSION_CREDENTIAL"`
		} `json:"providerEnv"`
	}
	const most = 1 << 20
	b, err := file.Read(filepath.Join(s.config, "jobs", s.Job, "state.json"), most)
	if err != nil || !filepath.IsLocal(s.Job) || json.Unmarshal(b, &job) != nil {
		return "" // only some versions have one
	}
	keyed := slices.ContainsFunc(a.opt.Environ, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_API_KEY=") })
	switch {
	case job.InFlight.Tasks+job.InFlight.Queued > 0:
		return "something that it started still runs"
	case job.Provider.Credential == "env-key" && !keyed:
		return "it has its key from ANTHROPIC_API_KEY, which mcpdeck was started without"
	}
	return ""
}

// run runs Claude Code's own command in a folder.
func (a *Adapter) run(ctx context.Context, folder string, args ...string) error {
	c := ownCommand(a.opt.Deps, folder, args...)
	c.Extra = slices.Concat(a.opt.Environ, c.Extra) // all of it, as in the user's own shell: its key may be there
	var said bytes.Buffer
	if err := process.Run(ctx, c, process.Streams{Out: &said, Err: &said}); err != nil {
		return fmt.Errorf("claude %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}
