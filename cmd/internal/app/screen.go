package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	"github.com/mcpdeck/mcpdeck/tui/plain"
)

// Screen is what the terminal shows of a deck.
func (h *App) Screen(watch bool) tui.Options {
	ui := h.Config.File.UI
	screens := h.screens()
	s := screenSettings(h.Config)
	kept, err := newStore(h.Config.Paths.Screen)
	if err != nil {
		h.Host.Warn("screen", err.Error())
	}
	o := tui.Options{
		Deck:       h.Host,
		Pages:      h.pages(watch, screens),
		Widgets:    shown(screens, func(s plugin.Screen) tui.Widget { return s.Status }),
		Feeds:      feeds(screens, inbox.GateFeed(h.gate), tui.SessionsFeed(h.others)),
		Theme:      s.Theme,
		Themes:     s.Themes,
		KeepTheme:  func(name string) (string, error) { return h.keepTheme(kept, name) },
		Background: s.Background,
		Keys:       s.Keys,
		KeysFile:   s.KeysFile,
		KeyLines:   s.KeyLines,
		NoMouse:    s.NoMouse,
		Still:      s.Still,
		KeyRest:    s.KeyRest,
		Watch:      watch,
		Start:      ui.Start,
		Pictures:   s.Pictures,
		Store:      kept,
		Environ:    h.Config.Environ,
		Output:     console.Bytes(console.Out()),
		Colors:     console.Colors(),
	}
	if own, err := os.Executable(); err == nil {
		o.Demo = func() tea.ExecCommand {
			return &process.Foreground{Command: process.Of([]string{own, "demo"}, process.Terminal, h.Config.Environ)}
		}
	}
	return o
}

// shown are the parts of one kind that servers have on the screen.
func shown[Part comparable](screens []plugin.Screen, of func(plugin.Screen) Part) (all []Part) {
	for _, s := range screens {
		if part := of(s); part != *new(Part) {
			all = append(all, part)
		}
	}
	return all
}

// feeds are those of servers, behind others.
func feeds(screens []plugin.Screen, all ...tui.Feed) []tui.Feed {
	for _, feed := range shown(screens, func(s plugin.Screen) *tui.Feed { return s.Feed }) {
		all = append(all, *feed)
	}
	return all
}

// keepTheme writes the name of the theme that the user has picked to where it is read: the
// configuration if that has one, else to what the screen keeps. It returns the file.
func (h *App) keepTheme(kept *store, name string) (string, error) {
	path := h.Config.Paths.Config
	if set, err := config.SetTheme(path, name); set || err != nil {
		if err != nil {
			err = fmt.Errorf("keep the theme: %w; set theme.name = %q in %s", err, name, path)
		}
		return path, err
	}
	return kept.path, kept.Put("theme", name)
}

// Terminal tells whether the deck can have a screen.
func Terminal() bool {
	return config.Env("TERM") != "dumb" && term.IsTerminal(os.Stdin.Fd()) && console.IsTerminal()
}

// store keeps a few words in a JSON file.
type store struct {
	path string
	mu   sync.Mutex
	kept map[string]string
}

// newStore reads the file. An error says that it cannot be read; the store is empty then,
// since nothing in it is precious.
func newStore(path string) (*store, error) {
	s := &store{path: path, kept: map[string]string{}}
	b, err := file.Read(path, 1<<20)
	if err == nil {
		err = json.Unmarshal(b, &s.kept)
	}
	if s.kept == nil || err != nil {
		s.kept = map[string]string{}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("read what the screen looked like: %s: %w; it starts anew", path, err)
	}
	return s, nil
}

// Get implements tui.Store.
func (s *store) Get(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[key]
}

// Put implements tui.Store.
func (s *store) Put(key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[key] = value
	b, err := json.Marshal(s.kept)
	if err != nil {
		return err
	}
	return file.Write(s.path, b, file.Options{})
}

// Plain runs the deck without a full screen.
func (h *App) Plain(ctx context.Context, watch bool, says <-chan plain.Word) error {
	o := plain.Options{Deck: h.Host, Questions: h.Queue, In: os.Stdin, Out: console.Out(), Watch: watch, Says: says}
	if console.IsTerminal() {
		o.Bell = func() { _, _ = io.WriteString(console.Bytes(console.Out()), "\a") }
	}
	return plain.Run(ctx, o)
}
