// Package clippy is four small tools that touch the person's machine: a note
// on the desktop, a system sound, a look into the project folder, a memory.
package clippy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/roots"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// The names of the tools.
const (
	HauntDesktop       = "haunt_desktop"
	PlaySystemSound    = "play_system_sound"
	ReadProjectContext = "read_project_context"
	ManageMemory       = "manage_memory"
)

// Policy is what the person lets agents do with a tool.
type Policy string

// The policies. The empty one is Allow.
const (
	Allow Policy = "allow"
	Ask   Policy = "ask"
	Off   Policy = "off" // the tool is hidden
)

// Options are fixed for the life of a Server.
type Options struct {
	Home       string       // of the person; "" when unknown
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
	// Approve asks the person about a call under the policy Ask and returns
	// once they have decided or ctx ends. nil: there is no person to ask.
	Approve func(ctx context.Context, what Approval) bool
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

// Approval is what the person is asked to allow.
type Approval struct {
	Tool    string
	Agent   string // name for people
	AgentID string // of the connection
	Detail  string // one line: "note.txt (12 bytes)"
}

// who is behind a call.
type who struct {
	name, id string
	root     string              // project folder
	refused  *roots.RefusedError // why there is none; nil with root "": the deck's
}

// answer is a tool's success: a text, perhaps a second one, and the same as data.
type answer struct {
	text, more string
	data       any
}

const approvalWait = 60 * time.Second

// Server offers the four tools. Its methods may be called from any goroutine.
type Server struct {
	opt      Options
	desktop  *desktop
	sounds   *sounds
	projects *projects
	memory   *memory
	disk     *guard
	rates    map[string]*rate

	mu       sync.Mutex
	settings Settings
	hooks    hooks
}

// hooks are what the outside wants to know of the server.
type hooks struct {
	changed func()            // other tools are offered now
	trouble func(text string) // with the memory; "" when all is well
}

// New makes a server. It touches nothing yet.
func New(opt Options) *Server {
	if opt.Env == nil {
		opt.Env = func(string) string { return "" }
	}
	if opt.MemoryFile == "" {
		opt.MemoryFile = filepath.Join(opt.Dir, "clippy_memory.json")
	}
	cache := ""
	if opt.CacheDir != "" {
		cache = filepath.Join(opt.CacheDir, "sounds")
	}
	return &Server{
		opt: opt, settings: opt.Settings,
		desktop: &desktop{system: runtime.GOOS, home: opt.Home, env: opt.Env, known: systemDesktop},
		sounds: &sounds{timing: usualTiming(), log: opt.logger, bell: opt.Bell, muted: opt.Settings.Muted, machine: &machine{
			system: runtime.GOOS, release: kernelRelease(), home: opt.Home, cache: cache, env: opt.Env, environ: opt.Environ,
			macSounds: "/System/Library/Sounds", wslSocket: "/mnt/wslg/PulseServer", wslSystem: "/mnt/c/Windows/System32",
		}},
		projects: &projects{rules: opt.Roots},
		memory:   newMemory(opt.MemoryFile, time.Now),
		disk:     &guard{},
		rates:    rates(),
	}
}

// rates limit those tools that have a limit.
func rates() map[string]*rate {
	out := map[string]*rate{}
	for _, d := range definitions() {
		if d.rate > 0 {
			out[d.name] = &rate{max: d.rate}
		}
	}
	return out
}

func kernelRelease() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	b, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return string(b)
}

// Apply takes new settings at once and tells the clients if other tools are
// offered now.
func (s *Server) Apply(next Settings) {
	s.mu.Lock()
	before := s.offered()
	s.settings = next
	differ := !slices.Equal(before, s.offered())
	changed := s.hooks.changed
	s.mu.Unlock()
	s.sounds.mute(next.Muted)
	if differ && changed != nil {
		changed()
	}
}

// Settings returns the settings in force.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Muted tells whether sounds are off.
func (s *Server) Muted() bool { return s.Settings().Muted }

// Mute turns sounds off or on.
func (s *Server) Mute(on bool) {
	s.mu.Lock()
	s.settings.Muted = on
	s.mu.Unlock()
	s.sounds.mute(on)
}

// offered lists the tools that are not hidden. The caller holds the lock.
func (s *Server) offered() []string {
	if s.settings.Disabled {
		return nil
	}
	var names []string
	for _, d := range definitions() {
		if !slices.Contains(s.settings.DisabledTools, d.name) && s.settings.Policy[d.name] != Off {
			names = append(names, d.name)
		}
	}
	return names
}

// MemoryPath is the absolute path of the memory file.
func (s *Server) MemoryPath() string { return s.memory.path }

// CheckMemory reads the memory file. The error is a sentence for the person.
func (s *Server) CheckMemory() (keys int, err error) {
	all, err := s.memory.load()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	s.note(err)
	return len(all), err
}

// RepairMemory sets a corrupted memory file aside and puts the last good copy,
// or an empty memory, in its place. It returns the path of the bad file. It is
// for the person alone.
func (s *Server) RepairMemory(ctx context.Context) (aside string, err error) {
	aside, err = s.memory.repair(ctx)
	if err == nil {
		s.note(nil)
	}
	return aside, err
}

// begin removes what killed processes left and looks at the memory.
func (s *Server) begin(h hooks) {
	s.mu.Lock()
	s.hooks = h
	s.mu.Unlock()
	s.sounds.open()
	safe.Go("clippy start", func() {
		s.memory.sweep()
		_, _ = s.CheckMemory() // trouble is told by note
	})
}

// end kills the players.
func (s *Server) end() { s.sounds.close() }

// note tells whether the memory is corrupted.
func (s *Server) note(err error) {
	s.mu.Lock()
	trouble := s.hooks.trouble
	s.mu.Unlock()
	if trouble == nil {
		return
	}
	if isCorrupted(err) {
		trouble(sentence(err))
	} else if err == nil {
		trouble("")
	}
}

// call runs a tool. The error's sentence is for the agent.
func (s *Server) call(ctx context.Context, tool string, args any, by who) (answer, error) {
	start := time.Now()
	s.opt.logger().Debug("tool called", "tool", tool, "client", by.name)
	a, detail, err := s.dispatch(ctx, tool, args, by)
	took := time.Since(start).Round(time.Millisecond)
	if err != nil {
		s.opt.logger().Error("tool failed", "tool", tool, "client", by.name, "what", detail, "said", sentence(err), "error", raw(err), "took", took)
		return answer{}, err
	}
	s.opt.logger().Info("tool done", "tool", tool, "client", by.name, "what", detail, "took", took)
	return a, nil
}

func (s *Server) dispatch(ctx context.Context, tool string, args any, by who) (a answer, detail string, err error) {
	in, err := arguments(args)
	if err != nil {
		return a, "", err
	}
	d, ok := byName(tool)
	if !ok {
		return a, "", say("there is no tool %s", given(tool))
	}
	run, detail, err := d.run(s, in, by)
	if err == nil {
		err = s.permit(ctx, tool, detail, by)
	}
	if err != nil {
		return a, detail, err
	}
	a, err = within(ctx, s.disk, d.writes != nil && d.writes(in), run)
	return a, detail, err
}

// permit holds the rate and the person's policy.
func (s *Server) permit(ctx context.Context, tool, detail string, by who) error {
	if r := s.rates[tool]; r != nil {
		if wait := r.take(time.Now()); wait > 0 {
			return say("too many %s calls, try again in %d s", tool, int((wait+time.Second-1)/time.Second))
		}
	}
	switch s.Settings().Policy[tool] {
	case "", Allow:
	case Off:
		return say("%s is switched off in the deck", tool)
	default: // a word that nobody knows was meant as a restriction
		ctx, cancel := context.WithTimeout(ctx, approvalWait)
		defer cancel()
		if s.opt.Approve == nil {
			return say("the person wants to be asked about %s and no deck is open; tell them to run mcpdeck", tool)
		}
		if !s.opt.Approve(ctx, Approval{Tool: tool, Agent: by.name, AgentID: by.id, Detail: detail}) {
			return say("the person did not allow this call")
		}
	}
	return nil
}

func (s *Server) haunt(in map[string]any, _ who) (func(context.Context) (answer, error), string, error) {
	name, err := stringArg(in, "filename", "filename is required")
	if err != nil {
		return nil, "", err
	}
	content, err := stringArg(in, "content", "content is required (it may be empty)")
	if err != nil {
		return nil, given(name), err
	}
	overwrite, ok := in["overwrite"].(bool)
	if !ok && in["overwrite"] != nil {
		return nil, given(name), say("overwrite must be true or false")
	}
	set := s.Settings()
	n := note{Dir: set.DesktopDir, AnyExtension: set.AllowAnyExtension, Name: name, Content: content, Overwrite: overwrite}
	return func(context.Context) (answer, error) {
		w, err := s.desktop.write(n)
		if err != nil {
			return answer{}, err
		}
		verb := "created"
		if w.Replaced {
			verb = "replaced"
		}
		return answer{text: fmt.Sprintf("File %s at %s (%d bytes)", verb, w.Path, w.Bytes), data: w}, nil
	}, fmt.Sprintf("%s (%d bytes)", given(name), len(content)), nil
}

func (s *Server) sound(in map[string]any, _ who) (func(context.Context) (answer, error), string, error) {
	const expected = "type must be one of error, warning, success"
	sound, err := stringArg(in, "type", expected)
	if err != nil {
		return nil, "", say(expected)
	}
	return func(context.Context) (answer, error) {
		p, err := s.sounds.play(sound)
		if err != nil {
			return answer{}, err
		}
		return answer{text: p.String(), data: p}, nil
	}, given(sound), nil
}

func (s *Server) look(in map[string]any, by who) (func(context.Context) (answer, error), string, error) {
	dir, err := stringArg(in, "directoryPath", "directoryPath is required")
	if err != nil {
		return nil, "", err
	}
	chosen := s.Settings().ProjectRoot
	if chosen == "" && by.refused != nil {
		return nil, given(dir), blame(by.refused, "%s, or have the user set clippy.project_root in config.toml", by.refused.NoProject())
	}
	root := cmp.Or(chosen, by.root, s.opt.Dir)
	return func(ctx context.Context) (answer, error) {
		l, err := s.projects.list(ctx, root, chosen != "", dir)
		if err != nil {
			return answer{}, err
		}
		text, err := encode(l.Entries, "  ")
		if err != nil {
			return answer{}, err
		}
		a := answer{text: strings.TrimSuffix(string(text), "\n"), data: l}
		if l.Truncated {
			least := ""
			if l.AtLeast {
				least = "at least "
			}
			a.more = fmt.Sprintf("Listing cut: %d of %s%d entries shown", len(l.Entries), least, l.Total)
		}
		return a, nil
	}, given(dir), nil
}

func (s *Server) remember(in map[string]any, _ who) (func(context.Context) (answer, error), string, error) {
	action, _ := in["action"].(string)
	if action != "read" && action != "write" {
		return nil, "", say("action must be read or write")
	}
	key, err := stringArg(in, "key", "key is required")
	if err != nil {
		return nil, action, err
	}
	detail := action + " " + given(key)
	if action == "read" {
		return func(context.Context) (answer, error) { return s.recall(key) }, detail, nil
	}
	value, err := stringArg(in, "value", "value is required for write")
	if err != nil {
		return nil, detail, err
	}
	return func(ctx context.Context) (answer, error) {
		err := s.memory.write(ctx, key, value)
		s.note(err)
		if err != nil {
			return answer{}, err
		}
		return answer{
			text: fmt.Sprintf("Memory updated: %s = %s", key, cutText(value)),
			data: map[string]any{"action": "write", "key": key, "value": value},
		}, nil
	}, detail, nil
}

func (s *Server) recall(key string) (answer, error) {
	r, made, err := s.memory.read(key)
	s.note(err)
	if err != nil {
		return answer{}, err
	}
	if made != nil {
		s.opt.logger().Warn("memory file not created", "path", s.memory.path, "error", made)
	}
	data := map[string]any{"action": "read", "key": key, "found": r.Found, "value": nil}
	if !r.Found {
		return answer{text: "No memory found for key: " + key, data: data}, nil
	}
	data["value"] = r.Value
	if r.NonString {
		data["nonString"] = true
	}
	return answer{text: r.Value, data: data}, nil
}
