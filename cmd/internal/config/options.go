package config

import (
	"os"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
)

// AskOptions are the queue's.
func (c *Config) AskOptions() ask.Options {
	f := c.File.Ask
	o := ask.Options{
		Timeout: time.Duration(f.Timeout), Hold: time.Duration(f.UndoSeconds) * time.Second, Snooze: time.Duration(f.Snooze),
		DeadlineFirst: f.Sort == "deadline", AutoDeliverParked: f.AutoDeliverParked,
		StateFile: c.Paths.Drafts, HistoryFile: c.Paths.History,
		AllowHold: time.Duration(c.File.Prompts.UndoSeconds) * time.Second,
	}
	if f.UndoSeconds <= 0 {
		o.Hold = -1
	}
	if f.Persist == "off" {
		o.StateFile = ""
	}
	if f.History == "off" {
		o.HistoryFile = ""
	}
	return o
}

// ClippyOptions are the four tools', without what only the running deck knows.
func (c *Config) ClippyOptions() clippy.Options {
	f := c.File.Clippy
	policy := map[string]clippy.Policy{}
	for tool, p := range f.Policy {
		policy[tool] = clippy.Policy(p)
	}
	return clippy.Options{
		Home: c.Home, Roots: c.Roots, Dir: c.Dir, CacheDir: c.Paths.Cache, MemoryFile: f.MemoryFile, Env: os.Getenv, Environ: c.Environ,
		Settings: clippy.Settings{
			Disabled: !f.Enabled, DisabledTools: f.DisabledTools, Policy: policy, DesktopDir: f.DesktopDir,
			AllowAnyExtension: f.AllowAnyExtension, ProjectRoot: f.ProjectRoot, Muted: f.Muted,
		},
	}
}

// PencilOptions are Pencil mode's.
func (c *Config) PencilOptions(version string) pencil.Options {
	f := c.File.Pencil
	o := pencil.Options{
		Command: f.Command, Args: f.Args, App: f.App, SpawnAgents: f.SpawnAgents, StartOn: f.StartOn,
		MaxInFlight: f.MaxInFlight, CallTimeout: time.Duration(f.CallTimeout), Gateway: f.Gateway, GatewayClients: f.GatewayClients,
		Environ: c.Environ, Home: c.Home, Clients: c.ClientFolders(), Root: c.Dir, StateDir: c.Paths.Pencil, Version: version,
	}
	if keys := c.File.Keys["pencil.toggle"]; len(keys) > 0 {
		o.Key = keys[0]
	}
	for name, value := range f.Env {
		o.Env = append(o.Env, name+"="+value)
	}
	slices.Sort(o.Env)
	return o
}

// ProjectRoot is the working folder, unless no project may live in it.
func (c *Config) ProjectRoot() string {
	if _, err := c.Roots.Folder(c.Dir); err != nil {
		return ""
	}
	return c.Dir
}
