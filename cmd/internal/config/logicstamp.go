package config

import (
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stampcli"
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
}

func defaultLogicstamp() Logicstamp {
	return Logicstamp{MaxSnapshots: 10, TTLMinutes: 60, StampSeconds: 900}
}

// LogicstampOptions are the snapshots'.
func (c *Config) LogicstampOptions() logicstamp.Options {
	f := c.File.Logicstamp
	return logicstamp.Options{
		Dir: c.Paths.Stamp,
		CLI: stampcli.Options{
			Command: strings.Fields(f.Command), FromEnvironment: Env("LOGICSTAMP_CLI"), AllowProject: f.AllowProjectCLI,
			Timeout: time.Duration(f.StampSeconds) * time.Second, Environment: c.Environ,
		},
		Publish: f.Publish, AllowedPaths: append(f.AllowedPaths, c.File.AllowDirs...),
		ProjectPath: Env("PROJECT_PATH"), WorkDir: c.Dir, Home: c.Home,
		MaxSnapshots: f.MaxSnapshots, TTL: time.Duration(f.TTLMinutes) * time.Minute, KeepExpired: f.KeepExpired,
	}
}
