package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// InboxScreen is how requests are shown and announced.
func (c *Config) InboxScreen() inbox.Options {
	f := c.File.Notify
	home, _ := os.UserHomeDir() // paths are written whole then
	return inbox.Options{
		Follow: c.File.UI.FollowInbox,
		Notify: inbox.Notify{
			Mode: inbox.NotifyMode(f.Waiting), Escape: inbox.EscapeFor(os.Getenv), Tmux: Env("TMUX") != "",
			Private: f.Private, Done: f.Done, After: time.Duration(f.After), Here: f.Here,
			Command: process.Of(f.Command, process.Desktop, c.Environ),
		},
		Editor: c.Editor(), Home: home,
	}
}

// AskSocket is where questions go: the socket that the environment names, else
// the deck's.
func (c *Config) AskSocket() (string, error) {
	for _, name := range []string{"MCPDECK_ASK_SOCKET", "PI_ASK_SOCKET"} {
		s := Env(name)
		if s == "" {
			continue
		}
		if !filepath.IsAbs(s) {
			return "", fmt.Errorf("use %s=%q: it must be an absolute path", name, s)
		}
		return s, nil
	}
	return c.Paths.AskSocket, nil
}

// Editor is the user's editor; its program is "" for none.
func (c *Config) Editor() process.Command {
	return process.Of(strings.Fields(cmp.Or(Env("VISUAL"), Env("EDITOR"))), process.Terminal, c.Environ)
}
