package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/charmbracelet/x/term"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/file"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/ask"
	"github.com/mcpdeck/mcpdeck/tui/page/clippy"
	"github.com/mcpdeck/mcpdeck/tui/page/pencil"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/plain"
)

// screen is what the terminal shows of an instance.
func (h *instance) screen(f deckFlags) tui.Options {
	ui := h.cfg.File.UI
	mode, _ := picture.ParseMode(ui.Pictures) // what it does not know, the configuration has warned of
	bell := clippy.NewBell()
	h.bell.Store(bell)
	s := screenSettings(h.cfg, f)
	o := tui.Options{
		Deck:       h.host,
		Pages:      h.pages(f.watch),
		Feeds:      []tui.Feed{bell.Feed(), ask.GateFeed(h.gate), pencil.Feed(h.pencil), tui.SessionsFeed(h.roster)},
		Theme:      s.Theme,
		Background: s.Background,
		Keys:       s.Keys,
		KeysFile:   s.KeysFile,
		KeyLines:   s.KeyLines,
		NoMouse:    s.NoMouse,
		Watch:      f.watch,
		Start:      ui.Start,
		Pictures:   mode,
		Store:      newStore(h.cfg.Paths.Screen),
		Environ:    h.cfg.Environ,
		Output:     console.Bytes(console.Out()),
		Colors:     console.Colors(),
	}
	if f.page != "" {
		o.Start = f.page
	}
	return o
}

// terminal tells whether the deck can have a screen.
func terminal() bool {
	return config.Env("TERM") != "dumb" && term.IsTerminal(os.Stdin.Fd()) && console.IsTerminal()
}

// store keeps a few words in a JSON file.
type store struct {
	path string
	mu   sync.Mutex
	kept map[string]string
}

func newStore(path string) *store {
	s := &store{path: path, kept: map[string]string{}}
	b, err := file.Read(path, 1<<20)
	if err == nil {
		err = json.Unmarshal(b, &s.kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // start anew: nothing here is precious
		s.kept = map[string]string{}
	}
	return s
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

// plain runs the deck without a full screen.
func (h *instance) plain(ctx context.Context, f deckFlags) error {
	o := plain.Options{Deck: h.host, Questions: h.queue, In: os.Stdin, Out: console.Out(), Watch: f.watch}
	if console.IsTerminal() {
		o.Bell = func() { _, _ = io.WriteString(console.Bytes(console.Out()), "\a") }
	}
	return plain.Run(ctx, o)
}
