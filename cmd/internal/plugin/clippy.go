package plugin

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy/mcpserver"
	screen "github.com/mcpdeck/mcpdeck/tui/page/clippy"
)

// Clippy is the four small tools.
type Clippy struct {
	// Offer them to agents.
	Enabled bool `toml:"enabled"`
	// Tools to hide.
	DisabledTools []string `toml:"disabled_tools"`
	// By tool: allow it, ask you about each call, or turn it off.
	Policy map[string]string `toml:"policy"`
	// Folder for notes; empty is the system's desktop folder.
	DesktopDir string `toml:"desktop_dir"`
	// Let notes have any extension, not only those of texts.
	AllowAnyExtension bool `toml:"allow_any_extension"`
	// Folder that agents may look into; empty is the one that the agent works in.
	ProjectRoot string `toml:"project_root"`
	// File of the memory; empty is clippy_memory.json where the deck was started.
	MemoryFile string `toml:"memory_file"`
	// Play no sounds.
	Muted bool `toml:"muted"`
}

func clippyPlugin() Plugin {
	return Plugin{
		Config: config.Section{
			Name: "clippy", About: "The four small tools: notes, sounds, a look into the project, memory.",
			Defaults: func() any { return &Clippy{Enabled: true} },
			Words:    map[string][]string{"policy.*": {"allow", "ask", "off"}},
			Live:     []string{"enabled", "disabled_tools", "policy", "desktop_dir", "allow_any_extension", "project_root", "muted"},
		},
		New: newClippy, Alone: true,
	}
}

func newClippy(e *Env) (*Instance, error) {
	var bell atomic.Pointer[screen.Bell] // the screen's; nil when there is none
	service := clippy.New(clippyOptions(e, &bell))
	return &Instance{
		Server: mcpserver.InDeck(service, e.Version),
		Apply:  clippyFollows(service, e.Config),
		Screen: func() Screen {
			rings := screen.NewBell()
			bell.Store(rings)
			feed := rings.Feed()
			return Screen{Widget: screen.NewWidget(service), Feed: &feed}
		},
	}, nil
}

// clippyOptions joins the configuration and what a user at a deck can do.
// Until a screen takes the bell over, it is the terminal's.
func clippyOptions(e *Env, bell *atomic.Pointer[screen.Bell]) clippy.Options {
	c := e.Config
	o := clippy.Options{
		Home: c.Home, Roots: c.Roots, Dir: c.Dir, CacheDir: c.Paths.Cache, MemoryFile: config.Of[Clippy](c).MemoryFile, Env: config.Env, Environ: c.Environ,
		Settings: clippySettings(c),
		Bell: func() error {
			if b := bell.Load(); b != nil {
				return b.Ring()
			}
			return clippy.TerminalBell()
		},
	}
	if e.Queue != nil {
		o.Approve = e.approve
	}
	return o
}

func clippySettings(c *config.Config) clippy.Settings {
	f := config.Of[Clippy](c)
	policy := map[string]clippy.Policy{}
	for tool, p := range f.Policy {
		policy[tool] = clippy.Policy(p)
	}
	return clippy.Settings{
		Disabled: !f.Enabled, DisabledTools: f.DisabledTools, Policy: policy, DesktopDir: f.DesktopDir,
		AllowAnyExtension: f.AllowAnyExtension, ProjectRoot: f.ProjectRoot, Muted: f.Muted,
	}
}

// approve asks the user whether an agent may call a tool. No answer is a no.
func (e *Env) approve(ctx context.Context, a clippy.Approval) bool {
	const yes, wait = "Allow it", time.Minute
	defer backend.CallFrom(ctx).WaitForUser()()
	peer := ask.Peer{Key: a.AgentID}
	for _, known := range e.Host().Snapshot().Agents {
		if known.Agent == a.AgentID {
			peer.PID, peer.Program, peer.Cwd = known.PID, known.Program, known.Folder()
		}
	}
	r, err := e.Queue.Ask(ctx, ask.Request{
		Local: true, Title: "Clippy", From: ask.From{Client: a.Agent}, Peer: peer, Timeout: wait,
		Questions: []ask.Question{{
			// The name differs each time, so that no earlier answer is taken for this one.
			ID: "allow-" + rand.Text(), Header: "Allow", Kind: ask.Confirm, Required: true,
			Question:    fmt.Sprintf("May %s use %s?", a.Agent, a.Tool),
			Description: fenced(a.Detail),
			Options:     []ask.Option{{Label: yes}, {Label: "Refuse"}},
		}},
	})
	return err == nil && r.Status == ask.Answered && len(r.Results) == 1 && slices.Equal(r.Results[0].SelectedOptions, []string{yes})
}

// fenced is a line as Markdown that is drawn as it is written; "" stays.
func fenced(line string) string {
	fence := "```"
	switch {
	case line == "":
		return ""
	case strings.HasPrefix(line, fence): // which would end it
		fence = "~~~"
	}
	return fence + "\n" + line + "\n" + fence
}

// clippyFollows returns what applies Clippy's settings when the configuration has changed.
// What the user did with the key for muting holds until the file says something else than
// it did.
func clippyFollows(service *clippy.Service, cfg *config.Config) func(*config.Config) {
	muted := config.Of[Clippy](cfg).Muted
	return func(now *config.Config) {
		next := clippySettings(now)
		if next.Muted == muted {
			next.Muted = service.Muted()
		} else {
			muted = next.Muted
		}
		service.Apply(next)
	}
}
