package setup

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// raised is how long a call may take where the client lets that be set: users
// answer late.
const raised = time.Hour

// Names are the clients that can be set up.
func Names() []string { return clients.IDs(func(c clients.Client) bool { return c.User != nil }) }

// client is one that can be set up.
type client struct{ clients.Client }

func all() []client {
	var out []client
	for _, c := range clients.All() {
		if c.User != nil {
			out = append(out, client{c})
		}
	}
	return out
}

func find(name string) (client, bool) {
	for _, c := range all() {
		if c.ID == name {
			return c, true
		}
	}
	return client{}, false
}

// members are the entry's in the client's file.
func (c client) members(e Entry) []clients.Member {
	args := []string{"mcp"}
	if c.KeepsTools {
		args = append(args, "--gateway")
	}
	return c.Form.Members(clients.Server{Command: e.Command, Args: append(args, e.Options...), Limit: raised})
}

// place finds a client's file.
func (c client) place(e Entry) (change.Place, error) {
	if c.inProject(e) {
		for _, f := range c.Project {
			if _, err := os.Lstat(filepath.Join(e.Root, f)); err == nil {
				return change.InProject(e.Root, filepath.FromSlash(f))
			}
		}
		return change.InProject(e.Root, filepath.FromSlash(c.Project[0]))
	}
	files := c.User(e.Folders)
	for _, f := range files {
		if _, err := os.Lstat(f); err == nil {
			return change.OfUser(f)
		}
	}
	return change.OfUser(files[0])
}

func (c client) inProject(e Entry) bool { return !e.User && e.Root != "" && c.Project != nil }

// Snippet is a configuration with one server, mcpdeck, as the client reads it.
func Snippet(c clients.Client, s clients.Server) (string, error) {
	if c.Searches != nil && len(c.Form.Alone) > 0 { // such an entry has all tools loaded, whatever the session
		env := map[string]string{clients.SearchHint: clients.NoSearch}
		maps.Copy(env, s.Env)
		s.Env = env
	}
	b, err := set(c.Grammar, nil, place{path: []string{c.Section, serverName}}, append(c.Form.Members(s), c.Form.Alone...))
	if err != nil {
		return "", fmt.Errorf("write the configuration of %s: %w", c.ID, err)
	}
	return string(bytes.TrimSpace(b)), nil
}

// sharedNote warns that a project's file is read on other machines, too.
func sharedNote(command string) string {
	if !strings.ContainsAny(command, `/\`) {
		return ""
	}
	return "The command is a path on this machine. To share the file with others, put mcpdeck on PATH and run setup again."
}
