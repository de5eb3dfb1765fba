// Package config turns the configuration file, the environment and flags into the
// option structs of the other packages. Only this package reads the environment.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
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
	All   bool     // leave out what cannot be read of the configuration file: it is among the warnings
	// Sections are those of mcpdeck's own servers.
	Sections []Section
	// Alone goes on without a configuration file that cannot be read at all.
	Alone bool

	Page       string // to show first
	Background string // dark or light

	// Variables are the environment variables that have set flags, by the flag's name.
	Variables map[string]string
}

// source is where the value of a flag comes from.
func (f Flags) source(flag string) string {
	if v := f.Variables[flag]; v != "" {
		return environment + v
	}
	return "flag --" + flag
}

const environment = "environment "

// Config is everything the user has set, with defaults filled in.
type Config struct {
	Paths    Paths
	Dir      string // working folder, absolute
	Home     string
	Roots    *roots.Rules // which folders may be projects
	Environ  []string
	File     File
	Warnings []string        // sentences about the configuration, with the file and the line
	Former   []string        // which settings have other names now
	KeyLines map[string]int  // of the entries of [keys] in it
	profiles []string        // names, in the order of the file
	Cards    []settings.Card // servers that the user has added, by name
	Broken   []BrokenCard    // those that cannot be used
	OwnState bool            // the state folder was chosen by a flag

	name, file string            // as flags have said
	servers    []Section         // of mcpdeck's own
	tables     []Section         // those that have a table
	sections   []any             // with their values, in the same order
	themes     []theme.Scheme    // of files
	lines      lines             // of the configuration file
	cardLines  map[string]lines  // of the files of cards, by path
	themeLines map[string]lines  // of the files of themes, by name
	from       map[string]string // where settings come from that neither default nor the file has
}

// Load reads the configuration. An error says which file and line to mend.
func Load(f Flags) (*Config, error) {
	c := byDefault(f.Sections)
	c.Environ, c.name, c.file, c.OwnState = os.Environ(), f.Name, f.File, f.State != ""
	c.cardLines, c.themeLines, c.from = map[string]lines{}, map[string]lines{}, map[string]string{}
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
	c.eachSection(func(s Section) func(*Config) { return s.Read })
	if err := c.read(c.Paths.Config, f); err != nil && !f.Alone {
		return nil, err
	}
	maps.DeleteFunc(c.from, func(key, _ string) bool { return c.lines.set(key) > 0 })
	c.eachSection(func(s Section) func(*Config) { return s.Override })
	c.readCards()
	c.readThemes()
	c.checkProfiles()
	c.checkPrompts()
	c.checkNumbers()
	c.checkWords(f.Pages)
	if len(f.Allow) > 0 {
		c.File.AllowDirs = append(c.File.AllowDirs, f.Allow...)
		c.overrides("allow_dirs", f.source("allow-dir"))
	}
	c.decideRoots()
	c.eachSection(func(s Section) func(*Config) { return s.Settle })
	if f.Port >= 0 {
		c.File.HTTP.Port = f.Port
		c.from["http.port"] = f.source("port")
	}
	if f.Page != "" {
		c.File.UI.Start = f.Page
		c.from["ui.start"] = f.source("page")
	}
	if f.Background != "" {
		c.File.UI.Background = f.Background
		c.from["ui.background"] = f.source("background")
	}
	return c, nil
}

func (c *Config) read(path string, f Flags) error {
	b, err := file.ReadPlain(path, true, cardLimit)
	if path == os.DevNull { // no settings
		b, err = nil, nil
	}
	switch fault := Unreadable(path); {
	case err != nil && fault != "":
		return fmt.Errorf("read the configuration %s: it is %s", path, fault)
	case errors.Is(err, fs.ErrNotExist) && f.File == "":
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("read the configuration: %w; make it readable for yourself", err)
	case err != nil:
		return fmt.Errorf("read the configuration: %w", err)
	}
	c.lines, c.profiles = linesOf(b)
	c.KeyLines = c.lines.below("keys")
	read := settings.Read
	if f.All {
		read = settings.ReadAround
	}
	whole := c.whole()
	former := c.readFormer(b, whole.Addr().Interface())
	warnings, err := read(b, whole.Addr().Interface())
	c.take(whole)
	for _, w := range c.withoutFormer(warnings, former) {
		c.Warnings = append(c.Warnings, filepath.Base(path)+" "+w)
	}
	if err != nil {
		return fmt.Errorf("read the configuration %s, %w", path, err)
	}
	return nil
}

// Unreadable says what is at the path of a file that can be no file, and what to do; "" for a
// file and for nothing.
func Unreadable(path string) string {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return "a folder; move it away"
	case err == nil && !info.Mode().IsRegular():
		return "not a plain file; move it away"
	case err != nil:
		link, missing := os.Lstat(path)
		if missing != nil || link.Mode()&fs.ModeSymlink == 0 {
			break
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "a link to a file that is not there; mend or delete it"
		}
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			err = at.Err
		}
		return fmt.Sprintf("a link that cannot be followed (%v); mend or delete it", err)
	}
	return ""
}

// Line is where an option is written in the configuration file; 0 where it is not.
func (c *Config) Line(key string) int { return c.lines.of(key) }

// TakenFrom notes that all that is not as by default comes from a file in the configuration's
// folder.
func (c *Config) TakenFrom(name string) {
	values := map[string]string{}
	walk(byDefault(c.servers).whole(), nil, false, func(path []string, v reflect.Value) { values[strings.Join(path, ".")] = Literal(v) })
	walk(c.whole(), nil, false, func(path []string, v reflect.Value) {
		if key := strings.Join(path, "."); values[key] != Literal(v) {
			c.from[key] = filepath.Join(filepath.Dir(c.Paths.Config), name)
		}
	})
}

// overrides notes what adds to a setting or has taken precedence over it.
func (c *Config) overrides(key, by string) {
	if line := c.lines.set(key); line > 0 {
		by = fmt.Sprintf("%s:%d, %s", c.Paths.Config, line, by)
	}
	c.from[key] = by
}

// warn adds a warning about a setting of the configuration file, with its line.
func (c *Config) warn(key, text string) {
	where := ""
	if line := c.lines.of(key); line > 0 {
		where = fmt.Sprintf("%s line %d: ", filepath.Base(c.Paths.Config), line)
	}
	c.Warnings = append(c.Warnings, where+text)
}

// Name of the deck; "" for the default one.
func (c *Config) Name() string { return c.name }

// Options are the flags by which another process finds the deck; none for the default one.
func (c *Config) Options() (options []string) {
	if c.name != "" {
		options = append(options, "--name", c.name)
	}
	if c.OwnState {
		options = append(options, "--state", c.Paths.State)
	}
	return options
}

// Again are the flags with which another process is the deck: those that find it, and its configuration.
func (c *Config) Again() []string {
	path := c.file
	if path == "" {
		return c.Options()
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	return append(c.Options(), "--config", path)
}

// Env is a variable of the environment.
func Env(name string) string { return os.Getenv(name) }

// ClientFolders are where agents' programs keep the user's own files.
func (c *Config) ClientFolders() clients.Folders {
	return clients.Folders{
		Home: c.Home, Config: Env("XDG_CONFIG_HOME"), AppData: Env("APPDATA"),
		Claude: Env("CLAUDE_CONFIG_DIR"), Codex: Env("CODEX_HOME"), Qwen: Env("QWEN_HOME"), Copilot: Env("COPILOT_HOME"), Kimi: Env("KIMI_CODE_HOME"),
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
	hints[clients.SearchHint] = clients.Searching(os.Getenv) // what it is made of may hold secrets
	return hints
}
