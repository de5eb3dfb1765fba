package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
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
}

func defaultLogicstamp() Logicstamp {
	return Logicstamp{
		MaxSnapshots: 10, TTLMinutes: 60, StampSeconds: 900, ModesSeconds: 1800, GitSeconds: 60,
		MaxTokens: 100_000, MaxBundleSize: 1 << 20, MinIntervalMs: 2000, DeepContracts: "background", DeepSeconds: 600, Profile: "llm-chat", Depth: 2,
	}
}

// chooseStamp decides which stamp command is run: the configured one, else the program that
// the environment names.
func (c *Config) chooseStamp(named string) {
	set := &c.File.Logicstamp.Command
	if c.stamp = strings.Fields(*set); !searchedFor(c.stamp) {
		return
	}
	if c.stamp = nil; named != "" {
		c.stamp, *set = []string{named}, named // a path, maybe with spaces
		c.from["logicstamp.command"] = environment + stampVariable
	}
}

// searchedFor reports whether a configured stamp command leaves open where it is.
func searchedFor(command []string) bool {
	return len(command) == 0 || slices.Equal(command, []string{"stamp"})
}

// LogicstampOptions are the snapshots'.
func (c *Config) LogicstampOptions() logicstamp.Options {
	f := c.File.Logicstamp
	return logicstamp.Options{
		Dir: c.Paths.Stamp,
		CLI: stampcli.Options{
			Command: c.stamp, AllowProject: f.AllowProjectCLI,
			Timeout: time.Duration(f.StampSeconds) * time.Second, ModesTimeout: time.Duration(f.ModesSeconds) * time.Second,
			Environment: c.Environ,
		},
		Defaults:   contract.Analysis{Profile: f.Profile, Mode: f.Mode, Depth: f.Depth, IncludeStyle: f.Style},
		GitTimeout: time.Duration(f.GitSeconds) * time.Second, MaxTokens: f.MaxTokens, MaxBundleBytes: f.MaxBundleSize,
		MinInterval: time.Duration(f.MinIntervalMs) * time.Millisecond, DeepContracts: f.DeepContracts,
		DeepTimeout: time.Duration(f.DeepSeconds) * time.Second,
		Publish:     f.Publish, AllowedPaths: append(f.AllowedPaths, c.File.AllowDirs...),
		ProjectPath: Env("PROJECT_PATH"), WorkDir: c.Dir, Roots: c.Roots,
		MaxSnapshots: f.MaxSnapshots, TTL: time.Duration(f.TTLMinutes) * time.Minute, KeepExpired: f.KeepExpired,
	}
}

// Editor is the user's editor; its program is "" for none.
func (c *Config) Editor() process.Command {
	return process.Of(strings.Fields(cmp.Or(Env("VISUAL"), Env("EDITOR"))), process.Terminal, c.Environ)
}
