package config

import (
	"cmp"
	"os"
	"strings"

	"github.com/mcpdeck/mcpdeck/tui/page/ask"
)

// AskScreen is how questions are shown and announced.
func (c *Config) AskScreen() ask.Options {
	f := c.File.Ask
	return ask.Options{
		Focus: ask.Focus(f.Autofocus),
		Notify: ask.Notify{
			Mode: ask.NotifyMode(f.Notify), Escape: ask.EscapeFor(os.Getenv), Tmux: Env("TMUX") != "",
			Private: f.NotifyPrivate, Command: f.NotifyCommand,
		},
		Editor: strings.Fields(cmp.Or(Env("VISUAL"), Env("EDITOR"))),
	}
}
