// Package setupcmd implements setup and undo: it finds the agents' clients on this machine, and
// plans, shows and makes what connects them to the deck as one change of several files.
package setupcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// EntryOf is what clients are given to start.
func EntryOf(cfg *config.Config) setup.Entry {
	return setup.Entry{
		Command: ownPath(), Options: cfg.Options(), Root: cfg.ProjectRoot(), State: cfg.Paths.State,
		Folders: cfg.ClientFolders(),
	}
}

// PrompterOf is what agents' programs run to reach the deck with their own prompts.
func PrompterOf(cfg *config.Config) setup.Prompter {
	p := setup.Prompter{Hook: hookProgram(), Options: cfg.Options(), Root: cfg.ProjectRoot(), State: cfg.Paths.State, Folders: cfg.ClientFolders()}
	p.Version = func(c clients.Client) string {
		version, _ := setup.VersionOf(context.Background(), cfg.Environ, c)
		return version
	}
	if len(p.Options) > 0 {
		p.Socket = cfg.Paths.Prompts
	}
	return p
}

// Snippet is the configuration that connects any other client.
func Snippet(cfg *config.Config) (string, error) {
	e := EntryOf(cfg)
	return setup.Snippet(clients.Client{Section: "mcpServers"}, clients.Server{Command: e.Command, Args: append([]string{"mcp"}, e.Options...)})
}

// Surveyed is every client, those that the user may act on first.
func Surveyed(e setup.Entry) []setup.Status {
	all := setup.Survey(e, found)
	slices.SortStableFunc(all, func(a, b setup.Status) int { return rank(a) - rank(b) })
	return all
}

func found(program string) bool {
	_, err := process.Find(program)
	return err == nil
}

// rank puts what the user may act on before what is not here.
func rank(s setup.Status) int {
	if s.Installed || s.State != setup.NotSetUp {
		return 0
	}
	return 1
}

// ownPath is how a client finds this program: by name if PATH leads to it.
func ownPath() string {
	own, err := os.Executable()
	if err != nil {
		return "mcpdeck"
	}
	if found, err := process.Find("mcpdeck"); err == nil && sameFile(found, own) {
		return "mcpdeck"
	}
	return own
}

// hookProgram is the command of a hook, without the ID of the agent's program. It is
// absolute: hooks run with any PATH. The path in PATH is better than that of the program
// itself, which may have its version in it.
func hookProgram() []string {
	own, err := os.Executable()
	if err != nil {
		return []string{"mcpdeck", "hook"}
	}
	if found, err := process.Find("mcpdeck"); err == nil && sameFile(found, own) && filepath.IsAbs(found) {
		own = found
	}
	small := filepath.Join(filepath.Dir(own), "mcpdeck-hook"+filepath.Ext(own))
	if info, err := os.Stat(small); err == nil && info.Mode().IsRegular() {
		return []string{small}
	}
	return []string{own, "hook"}
}

// passing matches where go run puts a program.
var passing = regexp.MustCompile(`/go-build\d*/.*/mcpdeck(\.exe)?$`)

// Lasts is an error if this program will be gone once it has ended, so that no agent would find it.
func Lasts() error {
	if passing.MatchString(filepath.ToSlash(ownPath())) {
		return errors.New("install it first, by go install ./cmd/mcpdeck: go run removes this program when it ends, and no agent would find it")
	}
	return nil
}

func sameFile(a, b string) bool {
	ra, errA := filepath.EvalSymlinks(a)
	rb, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && ra == rb
}

// Short is a path as the user knows it: ~ stands for the home.
func Short(home, path string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}
