package plugin

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	command "github.com/mcpdeck/mcpdeck/cmd/internal/plugin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/gittree"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
)

const (
	logicstampName = "logicstamp"
	stampVariable  = "LOGICSTAMP_CLI"
)

// Logicstamp is the snapshots of contracts.
type Logicstamp struct {
	// The stamp program with its first arguments; empty searches for it.
	Command string `toml:"command"`
	// Let a project bring its own stamp program.
	AllowProjectCLI bool `toml:"allow_project_cli"`
	// Folders that may be analysed, beside the agent's project.
	AllowedPaths []string `toml:"allowed_paths"`
	// Write contexts into the project after a refresh.
	Publish bool `toml:"publish"`
	// Snapshots to keep of a project.
	MaxSnapshots int `toml:"max_snapshots"`
	// Minutes to keep a snapshot that nobody uses.
	TTLMinutes int `toml:"ttl_minutes"`
	// Keep snapshots beyond that.
	KeepExpired bool `toml:"keep_expired"`
	// Seconds that an analysis may take.
	StampSeconds int `toml:"stamp_seconds"`
	// Seconds that a comparison of modes may take.
	ModesSeconds int `toml:"compare_modes_seconds"`
	// Seconds that git may take.
	GitSeconds int `toml:"git_seconds"`
	// Tokens of one answer; the rest comes in pages.
	MaxTokens int `toml:"max_tokens"`
	// Bytes of a bundle.
	MaxBundleSize int `toml:"max_bundle_size"`
	// Shortest interval of the drift monitor, in milliseconds.
	MinIntervalMs int `toml:"min_interval_ms"`
	// Analyse what is beyond the depth after an answer.
	DeepContracts string `toml:"deep_contracts"`
	// Seconds after which that is given up.
	DeepSeconds int `toml:"deep_seconds"`

	// Preset of an analysis when a call does not say.
	Profile string `toml:"profile"`
	// How much source a context holds when a call does not say; empty is what the profile says.
	Mode string `toml:"mode"`
	// How deep an analysis goes when a call does not say, up to 64.
	Depth int `toml:"depth"`
	// Add style to contexts when a call does not say.
	Style bool `toml:"include_style"`

	stamp []string `toml:"-"` // the stamp command; nil: it is searched for
}

func defaultLogicstamp() *Logicstamp {
	return &Logicstamp{
		MaxSnapshots: 10, TTLMinutes: 60, StampSeconds: 900, ModesSeconds: 1800, GitSeconds: 60,
		MaxTokens: 100_000, MaxBundleSize: 1 << 20, MinIntervalMs: 2000, DeepContracts: "background", DeepSeconds: 600, Profile: "llm-chat", Depth: 2,
	}
}

// chooseStamp decides which stamp command is run: the configured one, else the program that
// the environment names.
func chooseStamp(c *config.Config, named string) {
	l := config.Of[Logicstamp](c)
	if l.stamp = strings.Fields(l.Command); !searchedFor(l.stamp) {
		return
	}
	if l.stamp = nil; named != "" {
		l.stamp, l.Command = []string{named}, named // a path, maybe with spaces
		c.FromVariable("logicstamp.command", stampVariable)
	}
}

// searchedFor reports whether a configured stamp command leaves open where it is.
func searchedFor(command []string) bool {
	return len(command) == 0 || slices.Equal(command, []string{"stamp"})
}

func logicstampPlugin() Plugin {
	return Plugin{
		Config: config.Section{
			Name: logicstampName, About: "Snapshots of contracts, and drift.",
			Defaults: func() any { return defaultLogicstamp() },
			Words: map[string][]string{
				"deep_contracts": {"background", "off"}, "profile": logicstamp.Profiles(), "mode": append([]string{""}, logicstamp.Modes()...),
			},
			Checks: true, File: stampSettings, FileAbout: "settings of another LogicStamp server",
			Read: readStampSettings, Override: func(c *config.Config) { chooseStamp(c, config.Env(stampVariable)) },
			Settle: func(c *config.Config) {
				l := config.Of[Logicstamp](c)
				l.AllowedPaths = c.Allowed("logicstamp.allowed_paths", l.AllowedPaths)
			},
			Problems: func(c *config.Config) []string { return stampOptions(c).Problems() },
		},
		New: newLogicstamp, Alone: true, Page: drift.ID, Group: GroupPictures,
		// The command compares without a deck: the store of snapshots is shared with one that runs.
		Commands: func(p *Program) []*cobra.Command {
			return []*cobra.Command{command.Command(func(context.Context) (*logicstamp.Service, error) {
				cfg, err := p.Load()
				if err == nil {
					err = cfg.Paths.Make()
				}
				if err != nil {
					return nil, err
				}
				return logicstamp.New(stampOptions(cfg))
			})}
		},
	}
}

func newLogicstamp(e *Env) (*Instance, error) {
	service, err := logicstamp.New(stampOptions(e.Config))
	if err != nil {
		return nil, err
	}
	return &Instance{
		Server: mcpserver.InDeck(service, e.Version),
		Screen: func() Screen {
			page := drift.New(drift.Options{Source: service, Project: e.Config.ProjectRoot(), Editor: e.Config.Editor()})
			return Screen{Page: page}
		},
		Doctor: func(ctx context.Context, install io.Writer) (text, fix string) {
			path, number, err := service.CLI(ctx)
			if err != nil && install != nil {
				path, number, err = service.InstallCLI(ctx, func(line string) { fmt.Fprintln(install, line) })
			}
			switch p := problem.Of(err); {
			case p == nil:
				return path + " " + number, ""
			case p.Code == problem.CLINotFound && install == nil:
				return p.Text + "; without it, contracts are read but not made", "mcpdeck doctor --fix"
			default:
				return p.Text, p.Next
			}
		},
		// None are found without git or a repository, or where that is not to be read.
		Files: func(ctx context.Context, project string) []string {
			repo := gittree.Repo{Project: project, Scratch: filepath.Join(e.Config.Paths.Server(logicstampName), "git"), Environ: e.Config.Environ}
			files, _ := repo.Files(ctx)
			return files
		},
	}, nil
}

// stampOptions are the snapshots'.
func stampOptions(c *config.Config) logicstamp.Options {
	f := config.Of[Logicstamp](c)
	return logicstamp.Options{
		Dir: c.Paths.Server(logicstampName),
		CLI: stampcli.Options{
			Command: f.stamp, AllowProject: f.AllowProjectCLI,
			Timeout: time.Duration(f.StampSeconds) * time.Second, ModesTimeout: time.Duration(f.ModesSeconds) * time.Second,
			Environment: c.Environ,
		},
		Defaults:   contract.Analysis{Profile: f.Profile, Mode: f.Mode, Depth: f.Depth, IncludeStyle: f.Style},
		GitTimeout: time.Duration(f.GitSeconds) * time.Second, MaxTokens: f.MaxTokens, MaxBundleBytes: f.MaxBundleSize,
		MinInterval: time.Duration(f.MinIntervalMs) * time.Millisecond, DeepContracts: f.DeepContracts,
		DeepTimeout: time.Duration(f.DeepSeconds) * time.Second,
		Publish:     f.Publish, AllowedPaths: append(f.AllowedPaths, c.File.AllowDirs...),
		ProjectPath: config.Env("PROJECT_PATH"), WorkDir: c.Dir, Roots: c.Roots,
		MaxSnapshots: f.MaxSnapshots, TTL: time.Duration(f.TTLMinutes) * time.Minute, KeepExpired: f.KeepExpired,
	}
}
