// Package clippy does four small things on the user's machine for agents: it leaves
// a note on the desktop, plays a system sound, lists a folder of the project, and
// stores texts. It asks the user first if they want to be asked. Package offer makes
// tools of it.
package clippy

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// Policy is what the user lets agents do with a tool.
type Policy string

// The policies. The empty one is Allow.
const (
	Allow Policy = "allow"
	Ask   Policy = "ask"
	Off   Policy = "off" // the tool is hidden
)

// Options are fixed for the life of a Service.
type Options struct {
	Home       string       // of the user; "" when unknown
	Roots      *roots.Rules // which folders may be a project; nil: all but the system's
	Dir        string       // working folder at the start, absolute
	CacheDir   string       // for the tones the deck makes itself; "" for none
	MemoryFile string       // absolute; "": clippy_memory.json in Dir
	// Env looks up a variable of the environment: XDG_*, PATH, DISPLAY,
	// SystemRoot and a few more. nil: none is set.
	Env func(name string) string
	// Environ is the whole environment, each entry "NAME=value"; players get a few
	// variables of it.
	Environ []string
	// Bell rings the terminal's bell. nil: there is no terminal.
	Bell func() error
	// Log gets calls and raw system errors, never contents or values. nil: the
	// default logger of the moment.
	Log *slog.Logger

	Settings Settings // the ones to begin with
}

func (o Options) logger() *slog.Logger {
	if o.Log != nil {
		return o.Log
	}
	return slog.Default()
}

// Settings may be changed at any time with Apply. The zero value is the default.
type Settings struct {
	Disabled          bool     // hides all four
	DisabledTools     []string // hides single ones
	Policy            map[string]Policy
	DesktopDir        string // absolute or beginning with ~/; "": look it up
	AllowAnyExtension bool   // of notes
	ProjectRoot       string // absolute; "": the folder the agent works in
	Muted             bool
}

// Caller is who is behind a call.
type Caller struct {
	Name    string              // of the agent, for people
	Root    string              // project folder; "": the deck's working folder
	Refused *roots.RefusedError // why it has none; nil: it may have the deck's
}

// Service does what the tools are for. Its methods may be called from any goroutine.
type Service struct {
	opt      Options
	desktop  *desktop
	sounds   *sounds
	projects *projects
	memory   *memory
	disk     *guard

	mu       sync.Mutex
	settings Settings
	changed  func()           // other tools are turned off
	rates    map[string]*rate // by tool

	telling sync.Mutex        // guards what follows
	trouble func(text string) // with the memory; "" when all is well
	told    string            // of it last
}

// New makes a service. It touches nothing yet.
func New(opt Options) *Service {
	if opt.Env == nil {
		opt.Env = func(string) string { return "" }
	}
	opt.MemoryFile = cmp.Or(opt.MemoryFile, filepath.Join(opt.Dir, "clippy_memory.json"))
	cache := ""
	if opt.CacheDir != "" {
		cache = filepath.Join(opt.CacheDir, "sounds")
	}
	return &Service{
		opt: opt, settings: opt.Settings,
		desktop: &desktop{system: runtime.GOOS, home: opt.Home, env: opt.Env, known: systemDesktop},
		sounds: &sounds{timing: usualTiming(), log: opt.logger, bell: opt.Bell, muted: opt.Settings.Muted, machine: &machine{
			system: runtime.GOOS, release: kernelRelease(), home: opt.Home, cache: cache, env: opt.Env, environ: opt.Environ,
			macSounds: "/System/Library/Sounds", wslSocket: "/mnt/wslg/PulseServer", wslSystem: "/mnt/c/Windows/System32",
		}},
		projects: &projects{rules: opt.Roots},
		memory:   newMemory(opt.MemoryFile, time.Now),
		disk:     &guard{},
		rates:    map[string]*rate{},
	}
}

func kernelRelease() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	b, _ := file.ReadPlain("/proc/sys/kernel/osrelease", false, 1<<10)
	return string(b)
}

// Apply takes new settings at once and reports whether other tools are turned off.
func (s *Service) Apply(next Settings) {
	s.mu.Lock()
	differ := !slices.Equal(s.settings.off(), next.off())
	s.settings = next
	changed := s.changed
	s.mu.Unlock()
	s.sounds.mute(next.Muted)
	if differ && changed != nil {
		changed()
	}
}

// OnChange has fn called when other tools are turned off.
func (s *Service) OnChange(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = fn
}

// Settings returns the settings in force.
func (s *Service) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Muted reports whether sounds are off.
func (s *Service) Muted() bool { return s.Settings().Muted }

// Mute turns sounds off or on.
func (s *Service) Mute(on bool) {
	s.mu.Lock()
	s.settings.Muted = on
	s.mu.Unlock()
	s.sounds.mute(on)
}

// Off says, for an agent, that a tool is turned off; "" when it is not.
func (s *Service) Off(tool string) string {
	if off := s.Settings().off(); slices.Contains(off, tool) || slices.Contains(off, everything) {
		return tool + " is turned off in mcpdeck; the user can turn it on in config.toml"
	}
	return ""
}

const everything = "*"

// off names the tools that are turned off, in order.
func (s Settings) off() []string {
	if s.Disabled {
		return []string{everything}
	}
	names := slices.Clone(s.DisabledTools)
	for tool, p := range s.Policy {
		if p == Off {
			names = append(names, tool)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// MemoryPath is the absolute path of the memory file.
func (s *Service) MemoryPath() string { return s.memory.path }

// RepairMemory sets a corrupted memory file aside and puts the last good copy,
// or an empty memory, in its place. It returns the path of the bad file. It is
// for the user alone.
func (s *Service) RepairMemory(ctx context.Context) (aside string, err error) {
	aside, err = s.memory.repair(ctx)
	if err == nil {
		s.note(nil)
	}
	return aside, err
}

// Begin removes what killed processes left and looks at the memory.
func (s *Service) Begin(trouble func(text string)) {
	s.telling.Lock()
	s.trouble, s.told = trouble, "nothing yet"
	s.telling.Unlock()
	s.sounds.open()
	recovery.Go("clippy start", func() {
		s.memory.sweep()
		if _, err := s.memory.load(); !errors.Is(err, fs.ErrNotExist) {
			s.note(err)
		}
	})
}

// End kills the players.
func (s *Service) End() { s.sounds.close() }

// note tells whether the memory is corrupted, if that is news.
func (s *Service) note(err error) {
	text := ""
	if isCorrupted(err) {
		text = sentence(err)
	} else if err != nil {
		return
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.trouble != nil && text != s.told {
		s.told = text
		s.trouble(text)
	}
}

// CheckNote says what is wrong with a note that can never be left.
func (s *Service) CheckNote(n Note) error { return n.check(s.Settings()) }

// Leave writes a note onto the desktop.
func (s *Service) Leave(n Note) (Written, error) { return s.desktop.write(n, s.Settings()) }

// Play starts a sound: error, warning or success. It returns once something can be
// said of it.
func (s *Service) Play(sound string) (Played, error) { return s.sounds.play(sound) }

// Root is the project folder of a caller.
type Root struct {
	path   string
	chosen bool // by the user, not by a client
}

// Root returns the folder that a caller may look into. The error says why there is
// none.
func (s *Service) Root(by Caller) (Root, error) {
	if chosen := s.Settings().ProjectRoot; chosen != "" {
		return Root{chosen, true}, nil
	}
	if by.Refused != nil {
		return Root{}, blame(by.Refused, "%s, or have the user set clippy.project_root in config.toml", by.Refused.NoProject())
	}
	return Root{cmp.Or(by.Root, s.opt.Dir), false}, nil
}

// List returns what is in a directory of a project; dir is relative to the root, or
// absolute inside it.
func (s *Service) List(ctx context.Context, root Root, dir string) (Listing, error) {
	return s.projects.list(ctx, root.path, root.chosen, dir)
}

// Recall returns what is kept under a key.
func (s *Service) Recall(key string) (Remembered, error) {
	r, made, err := s.memory.read(key)
	s.note(err)
	if made != nil {
		s.opt.logger().Warn("memory file not created", "path", s.memory.path, "error", made)
	}
	return r, err
}

// Remember keeps a value under a key. It returns once the value is on the disk.
func (s *Service) Remember(ctx context.Context, key, value string) error {
	err := s.memory.write(ctx, key, value)
	s.note(err)
	return err
}
