package config

import (
	"cmp"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/process"
)

// Logicstamp is the snapshots of contracts.
type Logicstamp struct {
	Command         string   `toml:"command"` // the stamp CLI with its first arguments; empty: searched
	AllowProjectCLI bool     `toml:"allow_project_cli"`
	AllowedPaths    []string `toml:"allowed_paths"`
	Publish         bool     `toml:"publish"`
	MaxSnapshots    int      `toml:"max_snapshots"`
	TTLMinutes      int      `toml:"ttl_minutes"`
	KeepExpired     bool     `toml:"keep_expired"`
	StampSeconds    int      `toml:"stamp_seconds"`
	ModesSeconds    int      `toml:"compare_modes_seconds"`
	GitSeconds      int      `toml:"git_seconds"`
	MaxTokens       int      `toml:"max_tokens"` // of one answer
	MaxBundleSize   int      `toml:"max_bundle_size"`
	MinIntervalMs   int      `toml:"min_interval_ms"` // of the drift monitor
	DeepContracts   string   `toml:"deep_contracts"`  // background or off
	DeepSeconds     int      `toml:"deep_seconds"`    // when that is given up

	// How projects are analysed when a call does not say.
	Profile string `toml:"profile"`
	Mode    string `toml:"mode"`
	Depth   int    `toml:"depth"`
	Style   bool   `toml:"include_style"`
}

func defaultLogicstamp() Logicstamp {
	return Logicstamp{
		MaxSnapshots: 10, TTLMinutes: 60, StampSeconds: 900, ModesSeconds: 1800, GitSeconds: 60,
		MaxTokens: 100_000, MaxBundleSize: 1 << 20, MinIntervalMs: 2000, DeepContracts: "background", DeepSeconds: 600, Profile: "llm-chat", Depth: 2,
	}
}

// LogicstampOptions are the snapshots'.
func (c *Config) LogicstampOptions() logicstamp.Options {
	f := c.File.Logicstamp
	return logicstamp.Options{
		Dir: c.Paths.Stamp,
		CLI: stampcli.Options{
			Command: strings.Fields(f.Command), FromEnvironment: Env("LOGICSTAMP_CLI"), AllowProject: f.AllowProjectCLI,
			Timeout: time.Duration(f.StampSeconds) * time.Second, ModesTimeout: time.Duration(f.ModesSeconds) * time.Second,
			Environment: c.Environ,
		},
		Defaults:   store.Analysis{Profile: f.Profile, Mode: f.Mode, Depth: f.Depth, IncludeStyle: f.Style},
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
