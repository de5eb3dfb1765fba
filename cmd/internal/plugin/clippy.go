package plugin

import (
	"sync/atomic"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
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
