// Package config turns the configuration file, the environment and flags into the
// option structs of the other packages. Only this package reads the environment.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/settings"
	"github.com/mcpdeck/mcpdeck/servers/clients"
	"github.com/mcpdeck/mcpdeck/servers/proof"
	"github.com/mcpdeck/mcpdeck/servers/roots"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/theme"
)

// Flags are what the command line says; zero values say nothing.
type Flags struct {
	Name  string   // of the deck
	State string   // folder
	File  string   // configuration file
	Allow []string // more folders that agents' paths may lie in
	Port  int      // of HTTP; -1: as configured
	Pages []string // that the screen has; nil: ui.start is not checked
}

// Config is everything the user has set, with defaults filled in.
type Config struct {
	Paths    Paths
	Dir      string // working folder, absolute
	Home     string
	Roots    *roots.Rules // which folders may be projects
	Environ  []string
	File     File
	Warnings []string        // sentences about the configuration file
	KeyLines map[string]int  // of the entries of [keys] in it
	profiles []string        // names, in the order of the file
	Cards    []settings.Card // servers that the user has added, by name
	Broken   []BrokenCard    // those that cannot be used
	OwnState bool            // the state folder was chosen by a flag

	name string
}

// File is the configuration file. Its zero value is not the default; see
// defaults.
type File struct {
	Debug      bool       `toml:"debug"`
	AllowDirs  []string   `toml:"allow_dirs"`
	HTTP       HTTP       `toml:"http"`
	UI         UI         `toml:"ui"`
	Journal    Journal    `toml:"journal"`
	Ask        Ask        `toml:"ask"`
	Prompts    Prompts    `toml:"prompts"`
	Sessions   Sessions   `toml:"sessions"`
	Prices     Prices     `toml:"prices"`
	Clippy     Clippy     `toml:"clippy"`
	Pencil     Pencil     `toml:"pencil"`
	Pixelsrc   Pixelsrc   `toml:"pixelsrc"`
	Logicstamp Logicstamp `toml:"logicstamp"`

	Server  map[string]settings.Card `toml:"server"` // cards, beside those with a file of their own
	Profile map[string]Profile       `toml:"profile"`

	Keys  map[string][]string `toml:"keys"` // by action
	Theme struct {
		Dark  theme.Palette `toml:"dark"`
		Light theme.Palette `toml:"light"`
	} `toml:"theme"`
}

// HTTP is the streamable HTTP endpoint.
type HTTP struct {
	Enabled bool `toml:"enabled"`
	Port    int  `toml:"port"` // 0 picks a free one
}

// UI is the screen.
type UI struct {
	Mouse      bool   `toml:"mouse"`
	Background string `toml:"background"` // dark, light; empty asks the terminal
	ASCII      bool   `toml:"ascii"`
	Pictures   string `toml:"pictures"` // auto or a way to show them
	Start      string `toml:"start"`    // page; empty is the last one
}

// Journal is the log of calls.
type Journal struct {
	Enabled   bool `toml:"enabled"`
	ShapeOnly bool `toml:"shape_only"`
	MaxCalls  int  `toml:"max_calls"`
	MaxDays   int  `toml:"max_days"`
}

// Ask is how questions are put.
type Ask struct {
	Timeout           span.Duration `toml:"timeout"`
	UndoSeconds       int           `toml:"undo_seconds"`
	Snooze            span.Duration `toml:"snooze"`
	Sort              string        `toml:"sort"` // "" or "deadline"
	AutoDeliverParked bool          `toml:"auto_deliver_parked"`
	CLIAnswers        Proof         `toml:"cli_answers"` // what a shell must show to answer
	Persist           string        `toml:"persist"`     // "on" or "off"
	History           string        `toml:"history"`     // "on" or "off"
	Autofocus         string        `toml:"autofocus"`   // "idle", "never" or "always"
	Notify            string        `toml:"notify"`      // "all", "bell", "title" or "off"
	NotifyPrivate     bool          `toml:"notify_private"`
	NotifyCommand     []string      `toml:"notify_command"`
}

// Clippy is the four small tools.
type Clippy struct {
	Enabled           bool              `toml:"enabled"`
	DisabledTools     []string          `toml:"disabled_tools"`
	Policy            map[string]string `toml:"policy"` // by tool: allow, ask, off
	DesktopDir        string            `toml:"desktop_dir"`
	AllowAnyExtension bool              `toml:"allow_any_extension"`
	ProjectRoot       string            `toml:"project_root"`
	MemoryFile        string            `toml:"memory_file"`
	Muted             bool              `toml:"muted"`
}

// Pencil is the design tool's server.
type Pencil struct {
	Command     string            `toml:"command"`
	Args        []string          `toml:"args"`
	App         string            `toml:"app"`
	Env         map[string]string `toml:"env"`
	SpawnAgents bool              `toml:"spawn_agents"`
	StartOn     bool              `toml:"start_on"`
	MaxInFlight int               `toml:"max_in_flight"`
	CallTimeout span.Duration     `toml:"call_timeout"`
	Gateway     string            `toml:"gateway"`
	// GatewayClients replaces the list of clients that do not refresh theirs.
	GatewayClients []string `toml:"gateway_clients"`
}

// Pixelsrc is the pixel art engine.
type Pixelsrc struct {
	Dialect string `toml:"dialect"` // documented or reference
}

// Proof is what a shell must show before it may answer.
type Proof string

// UnmarshalText implements encoding.TextUnmarshaler, also for true and false.
func (p *Proof) UnmarshalText(b []byte) error {
	*p = Proof(b)
	return nil
}

// Method is the way to prove that p names; what is not one proves nothing.
func (p Proof) Method() proof.Method {
	switch m := proof.Method(p); {
	case p == "true":
		return proof.Pair
	case slices.Contains(proof.Methods(), string(m)):
		return m
	}
	return proof.Off
}

func defaults() File {
	return File{
		HTTP:    HTTP{Enabled: true, Port: 7337},
		UI:      UI{Mouse: true, Pictures: "auto"},
		Journal: Journal{Enabled: true, MaxCalls: 100_000, MaxDays: 30},
		Ask:     Ask{UndoSeconds: 2, CLIAnswers: Proof(proof.Off), Autofocus: "idle", Notify: "all", Persist: "on", History: "on"},
		Prompts: defaultPrompts(), Sessions: Sessions{Keep: span.Duration(time.Hour)},
		Clippy: Clippy{Enabled: true},
		Pencil: Pencil{MaxInFlight: 1, Gateway: "auto"},

		Pixelsrc:   Pixelsrc{Dialect: "documented"},
		Logicstamp: defaultLogicstamp(),
	}
}

// Load reads the configuration. An error says which file and line to mend.
func Load(f Flags) (*Config, error) {
	c := &Config{Environ: os.Environ(), File: defaults(), name: f.Name, OwnState: f.State != ""}
	var err error
	if c.Dir, err = os.Getwd(); err != nil {
		return nil, fmt.Errorf("find the working folder: %w", err)
	}
	if c.Home, err = home(); err != nil {
		return nil, err
	}
	if c.Paths, err = paths(c.Home, f); err != nil {
		return nil, err
	}
	c.readStampSettings(filepath.Dir(c.Paths.Config))
	if err := c.read(c.Paths.Config, f.File != "" || Env("MCPDECK_CONFIG") != ""); err != nil {
		return nil, err
	}
	c.readCards()
	c.checkProfiles()
	c.checkPrompts()
	c.checkWords(f.Pages)
	c.File.AllowDirs = append(c.File.AllowDirs, f.Allow...)
	c.decideRoots()
	if f.Port >= 0 {
		c.File.HTTP.Port = f.Port
	}
	return c, nil
}

func (c *Config) read(path string, wanted bool) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !wanted {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	c.KeyLines, c.profiles = keyLines(b), profileNames(b)
	unknown, err := settings.Read(b, &c.File)
	for _, w := range unknown {
		c.Warnings = append(c.Warnings, filepath.Base(path)+" "+w)
	}
	if err != nil {
		return fmt.Errorf("read the configuration %s, %w", path, err)
	}
	return nil
}

// Name of the deck; "" for the default one.
func (c *Config) Name() string { return c.name }

// Env is a variable of the environment.
func Env(name string) string { return os.Getenv(name) }

// ClientFolders are where agents' programs keep the user's own files.
func (c *Config) ClientFolders() clients.Folders {
	return clients.Folders{
		Home: c.Home, Config: Env("XDG_CONFIG_HOME"), AppData: Env("APPDATA"),
		Claude: Env("CLAUDE_CONFIG_DIR"), Codex: Env("CODEX_HOME"),
	}
}

// Hints are the few variables of the client's environment that the relay may
// pass on, by name.
func Hints() map[string]string {
	hints := map[string]string{}
	for _, name := range append(clients.Variables(), "PROJECT_PATH", clients.LimitHint, "MCPDECK_SESSION") {
		if v := os.Getenv(name); v != "" {
			hints[name] = v
		}
	}
	return hints
}
