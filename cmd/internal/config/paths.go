package config

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Paths are the files of one deck. All lie in the state folder but the
// configuration.
type Paths struct {
	State      string // folder
	Config     string
	Cards      string // folder beside Config: servers that the user has added, a file each
	Run        string // folder: of what runs
	Socket     string // agents and commands
	AskSocket  string
	Prompts    string // socket of agents' own prompts
	Token      string // of the HTTP endpoint
	Passphrase string // hash of what a shell shows to answer
	Journal    string
	Spool      string // calls that wait for a deck's journal
	Log        string
	Screen     string // what the screen remembers between runs
	RanWith    string // options that the last deck was started with
	Drafts     string // of answers
	History    string // of questions
	Past       string // what rules are learned from
	Pushed     string // notifications that were sent
	Sessions   string // the session sockets of ask
	CardState  string // folder: of each card what was accepted, and whether it was on
	Machines   string // folder: other machines, and the decks that may answer here
	Undo       string // folder: what mcpdeck undo needs
	Cache      string // folder; "" for none
}

// Home is the user's home folder.
func Home() (string, error) { return home() }

// home is found without XDG variables: some clients start their servers with
// hardly any environment.
func home() (string, error) {
	if h, err := os.UserHomeDir(); err == nil && filepath.IsAbs(h) {
		return h, nil
	}
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return "", errors.New("find the home folder: HOME is not set and the user database has none; set HOME or use --state DIR")
	}
	return u.HomeDir, nil
}

func paths(home string, f Flags) (Paths, error) {
	suffix := ""
	if f.Name != "" {
		if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`).MatchString(f.Name) {
			return Paths{}, exit.Usagef("use the name %q: a deck's name has letters, digits, dots, dashes and underscores, at most 32", f.Name)
		}
		suffix = "-" + f.Name
	}
	state := f.State
	if state == "" {
		state = hook.State(home)
	}
	state, err := filepath.Abs(state)
	if err != nil {
		return Paths{}, fmt.Errorf("find the state folder: %w", err)
	}
	p := Paths{
		State:      state,
		Config:     configFile(home, f),
		Cards:      CardFolder(configFile(home, f)),
		Undo:       filepath.Join(state, "undo"),
		Run:        filepath.Join(state, "run"),
		Socket:     filepath.Join(state, "run", "deck"+suffix+".sock"),
		AskSocket:  filepath.Join(state, "run", "ask"+suffix+".sock"),
		Prompts:    hook.Path(state, f.Name),
		Token:      filepath.Join(state, "run", "token"+suffix),
		Passphrase: filepath.Join(state, "passphrase"+suffix),
		Journal:    filepath.Join(state, "journal"+suffix+".db"),
		Spool:      filepath.Join(state, "spool"+suffix+".jsonl"),
		Log:        filepath.Join(state, "log"+suffix+".txt"),
		Screen:     filepath.Join(state, "screen"+suffix+".json"),
		RanWith:    filepath.Join(state, "settings"+suffix+".json"),
		Drafts:     filepath.Join(state, "drafts"+suffix+".json"),
		History:    filepath.Join(state, "history"+suffix+".jsonl"),
		Past:       filepath.Join(state, "prompts"+suffix+".jsonl"),
		Pushed:     filepath.Join(state, "pushed"+suffix+".json"),
		Sessions:   filepath.Join(state, "sessions"+suffix+".json"),
		CardState:  filepath.Join(state, "cards"),
		Machines:   filepath.Join(state, "machines"+suffix),
	}
	if s := os.Getenv("MCPDECK_SOCKET"); s != "" {
		if !filepath.IsAbs(s) {
			return Paths{}, exit.Usagef("use MCPDECK_SOCKET=%q: it must be an absolute path", s)
		}
		p.Socket = s
	}
	if cache, err := os.UserCacheDir(); err == nil {
		p.Cache = filepath.Join(cache, "mcpdeck")
	}
	return p, nil
}

func configFile(home string, f Flags) string {
	switch dir := os.Getenv("XDG_CONFIG_HOME"); {
	case f.File != "":
		return f.File
	case filepath.IsAbs(dir):
		return filepath.Join(dir, "mcpdeck", "config.toml")
	}
	return filepath.Join(home, ".config", "mcpdeck", "config.toml")
}

// Where are the files of a deck. Nothing is read.
func Where(f Flags) (Paths, error) {
	h, err := home()
	if err != nil {
		return Paths{}, err
	}
	return paths(h, f)
}

// Source is a file or a folder that the configuration is read from.
type Source struct{ Path, What string }

// Files are those that the configuration is read from, whether they are there or not.
func (p Paths) Files(servers []Section) []Source {
	folder := filepath.Dir(p.Config)
	out := []Source{
		{p.Config, "the configuration"},
		{p.Cards, "servers that you have added, a file each"},
		{ThemeFolder(p.Config), "themes of yours, a file each"},
	}
	for _, s := range servers {
		if s.File != "" {
			out = append(out, Source{filepath.Join(folder, s.File), s.FileAbout})
		}
	}
	return out
}

// Server is the folder in which a server of mcpdeck's own keeps its files.
func (p Paths) Server(name string) string { return filepath.Join(p.State, name) }

// Make makes the state folder and checks that it can be written, and that nobody
// but the user gets at what is in it.
func (p Paths) Make() error {
	for _, dir := range []string{p.State, p.Run} {
		if err := file.Private(dir); err != nil {
			return fmt.Errorf("make the state folder: %w; or choose another with --state DIR", err)
		}
	}
	probe, err := os.CreateTemp(p.State, ".probe-*")
	if err != nil {
		return fmt.Errorf("write to the state folder: %w; choose another with --state DIR", err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// Temporary is the folder for temporary files.
func Temporary() string { return os.TempDir() }
