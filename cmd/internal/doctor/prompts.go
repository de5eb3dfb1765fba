package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// probeWithin is how long a program may take to say its version, or a hook to end.
const probeWithin = 10 * time.Second

// checkPrompts tries the way of each agent's own prompts to the deck.
func checkPrompts(h *app.App, ctx context.Context, cfg *config.Config) []finding {
	p := setupcmd.PrompterOf(cfg)
	all := setup.SurveyPrompts(p)
	out := make([]finding, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Add(1)
		recovery.Go("probe", func() {
			defer wg.Done()
			out[i] = checkDoor(h, ctx, p, s)
		})
	}
	wg.Wait()
	out = slices.DeleteFunc(out, func(f finding) bool { return f.what == "" })
	if len(out) == 0 {
		return nil
	}
	out = append([]finding{checkPromptSocket(ctx, cfg)}, out...)
	return append(out, checkMisread(ctx, cfg)...)
}

// checkMisread asks the deck of which sessions it has a prompt that it cannot read.
func checkMisread(ctx context.Context, cfg *config.Config) []finding {
	var now struct {
		List sessions.List `json:"list"`
	}
	if transport.Ask(ctx, cfg.Paths.Socket, "sessions", struct{}{}, &now) != nil {
		return nil // without a deck there is none, which another check says
	}
	return misread(now.List.Sessions)
}

// misread says of each such session what its prompt lacks.
func misread(all []sessions.Session) (out []finding) {
	for _, s := range all {
		if strings.Contains(s.Note, snapshot.NotUnderstood) {
			out = append(out, finding{"bad", s.Agent, sanitize.Line(s.Note), "answer it in its terminal, and update mcpdeck"})
		}
	}
	return out
}

func checkPromptSocket(ctx context.Context, cfg *config.Config) finding {
	c, err := socket.Dial(ctx, cfg.Paths.Prompts)
	if err != nil {
		return finding{"note", "prompts", "no deck takes prompts: agents ask in their terminals alone", "mcpdeck"}
	}
	c.Close()
	return finding{"ok", "prompts", "the deck takes prompts on " + cfg.Paths.Prompts, ""}
}

// checkDoor says how one client's prompts reach the deck. Of a client that is not here it
// says nothing.
func checkDoor(h *app.App, ctx context.Context, p setup.Prompter, s setup.PromptStatus) finding {
	version, installed := setup.VersionOf(ctx, h.Config.Environ, s.Client)
	if !installed && (s.State == setup.NotSetUp || s.Path == "") {
		return finding{}
	}
	f := finding{"ok", "prompts", s.Client.ID + ": " + promptState(s), ""}
	switch {
	case s.State == setup.Broken:
		f.mark, f.fix = "bad", "edit "+s.Path
	case len(s.Missing) > 0:
		f.mark = "bad"
	case len(s.Off) > 0:
		f.mark, f.fix = "note", "edit "+s.Path
	case s.State != setup.SetUp:
		f.mark = "note"
	}
	switch {
	case s.State == setup.NotSetUp && !s.Apart && len(s.Missing) == 0:
		f.fix = "mcpdeck setup"
	case s.State == setup.NotSetUp || s.State == setup.Differs || len(s.Missing) > 0:
		p.Apart = s.Apart
		if f.fix = "mcpdeck " + p.Words(s.Client.ID); s.Project {
			f.fix += " --project"
		}
	}
	if s.State == setup.SetUp && (s.Apart || s.Client.Prompts.Hooks != nil) {
		took, err := probe(ctx, h.Config, p, s.Client)
		if err != nil {
			f.mark, f.text = "bad", f.text+fmt.Sprintf("; %s: %v", strings.Join(p.Hook, " "), err)
			f.fix = cmp.Or(f.fix, "install mcpdeck again")
		} else {
			f.text += fmt.Sprintf("; %s took %d ms", strings.Join(p.Hook, " "), took.Milliseconds())
		}
	}
	if try := agents.Of(s.Client.ID).Probe; try != nil {
		mark, text := checkProgram(h, ctx, s.Client.ID, try)
		if s.Apart {
			text += strings.TrimPrefix(f.text, s.Client.ID+": "+needsNone)
		}
		if f.text = text; f.mark == "ok" || mark == "bad" {
			f.mark = mark
		}
		if mark == "bad" {
			f.fix = "restart " + s.Client.ID
		}
	}
	switch tested := s.Client.Prompts.Newest(); {
	case version == "":
	case tested == "":
		f.text += "; untested with version " + version
	case version == tested:
		f.text += "; version " + version
	default:
		f.text += fmt.Sprintf("; version %s, tested with %s", version, tested)
	}
	return f
}

// checkProgram tries to reach an agent's program as its adapter does.
func checkProgram(h *app.App, ctx context.Context, agent string, try func(context.Context, approvals.Deps) (string, error)) (mark, text string) {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	start := time.Now()
	has, err := try(ctx, h.Agents.Deps(agent))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "ok", agent + ": " + needsNone + "; it is not running"
	case err != nil:
		return "bad", fmt.Sprintf("%s: %v", agent, err)
	}
	return "ok", fmt.Sprintf("%s: %s and took %d ms", agent, has, time.Since(start).Milliseconds())
}

// probe starts a client's hook as the client does, with an event that asks nothing.
func probe(ctx context.Context, cfg *config.Config, p setup.Prompter, c clients.Client) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	var out bytes.Buffer
	start := time.Now()
	hook := process.Of(slices.Concat(p.Hook, []string{c.ID}, p.Options), process.Tool, cfg.Environ)
	err := process.Run(ctx, hook, process.Streams{In: strings.NewReader(`{"hook_event_name":"Probe","session_id":"","probe":true}`), Out: &out, Err: &out})
	if err == nil && out.Len() > 0 {
		err = errors.New("it prints something although nothing was asked")
	}
	return time.Since(start), err
}

// needsNone says of a client that its prompts reach the deck by themselves.
const needsNone = "needs no setup"

func promptState(s setup.PromptStatus) string {
	if s.Apart {
		s.Apart = false
		return needsNone + "; hooks: " + promptState(s)
	}
	switch {
	case len(s.Off) > 0:
		return fmt.Sprintf("turned off by %s in %s", strings.Join(s.Off, ", "), s.Path)
	case len(s.Missing) > 0:
		return fmt.Sprintf("%s names %s, which is not there", s.Path, strings.Join(s.Missing, ", "))
	case s.State == setup.NotSetUp:
		return "not set up"
	case s.State == setup.SetUp && s.Path == "":
		return needsNone
	case s.State == setup.SetUp:
		return "set up in " + s.Path
	case s.State == setup.Differs:
		return "set up differently in " + s.Path
	}
	return fmt.Sprintf("unreadable: %s: %v", s.Path, s.Err)
}
