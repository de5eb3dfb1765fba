package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin/render"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Pixelsrc is the pixel art engine.
type Pixelsrc struct {
	// What the format's documentation says, or what its reference program does.
	Dialect string `toml:"dialect"`
}

const pixelsrcName = "pixelsrc"

func pixelsrcPlugin() Plugin {
	return Plugin{
		Config: config.Section{
			Name: pixelsrcName, About: "The pixel art engine.",
			Defaults: func() any { return &Pixelsrc{Dialect: "documented"} },
			Words:    map[string][]string{"dialect": {"documented", "reference"}},
			Checks:   true, Problems: pixelsrcProblems,
		},
		New: newPixelsrc, Alone: true, Page: pixels.ID, Group: GroupPictures,
		Commands: func(p *Program) []*cobra.Command {
			return []*cobra.Command{render.Command(), render.PaletteCommand(), showCommand(p)}
		},
	}
}

// pixelsrcProblems warn of an unknown dialect, for which the default is taken.
func pixelsrcProblems(c *config.Config) []string {
	if _, ok := pxl.ParseDialect(config.Of[Pixelsrc](c).Dialect); ok {
		return nil
	}
	return []string{fmt.Sprintf("pixelsrc.dialect %q is neither documented nor reference; documented is used", config.Of[Pixelsrc](c).Dialect)}
}

func dialect(c *config.Config) pxl.Dialect {
	d, _ := pxl.ParseDialect(config.Of[Pixelsrc](c).Dialect) // pixelsrcProblems has warned
	return d
}

func newPixelsrc(e *Env) (*Instance, error) {
	art := pixelsrc.New(pixelsrc.Options{Dialect: dialect(e.Config), AllowDirs: e.Config.File.AllowDirs, Roots: e.Config.Roots})
	page := sync.OnceValue(func() *pixels.Page {
		h := e.Host()
		return pixels.New(pixels.Options{
			Load: loadPixels(e.Config), Editor: e.Config.Editor(),
			Sources: []pixels.Source{
				&pixels.Recent{Server: art, Hints: h.Subscribe},
				&pixels.Shots{Host: h, Hints: h.Subscribe, Quiet: pixelsrcName},
			},
		})
	})
	return &Instance{
		Server:   mcpserver.InDeck(art, e.Version),
		Screen:   func() Screen { return Screen{Page: page()} },
		Controls: map[string]transport.Control{"show": showControl(e, page)},
	}, nil
}

// showRequest asks a deck to show pictures.
type showRequest struct {
	Files []string `json:"files"` // absolute
}

// showCommand opens pictures in the running deck, else on a screen of their own.
func showCommand(p *Program) *cobra.Command {
	here := false
	c := &cobra.Command{
		Use:   "show FILE...",
		Short: "Show .pxl, PNG, GIF and JPEG files, and redraw them when they are saved",
		Long: `Show pictures in the running deck, or else on their own screen. A file is redrawn whenever it is
saved. To print a picture in the output of a script, use mcpdeck render --show.`,
		RunE: func(c *cobra.Command, args []string) error {
			files, err := pictureFiles(args)
			if err != nil {
				return err
			}
			cfg, err := p.Load()
			if err != nil {
				return err
			}
			if !here {
				err = transport.Ask(c.Context(), cfg.Paths.Socket, "show", showRequest{files}, nil)
				if !errors.Is(err, transport.ErrNoDeck) {
					return err
				}
			}
			if !p.Terminal() {
				return errors.New("show pictures: no deck is running and this is not a terminal; to print one: mcpdeck render FILE --show half")
			}
			return showHere(c.Context(), cfg, files)
		},
	}
	c.Flags().BoolVar(&here, "here", false, "on their own screen, even if a deck is running")
	return c
}

func pictureFiles(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, exit.Usagef("name a picture to show, such as hero.pxl")
	}
	files := make([]string, len(args))
	for i, arg := range args {
		abs, err := filepath.Abs(arg)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", arg, err)
		}
		if _, err := os.Stat(abs); err != nil {
			return nil, fmt.Errorf("read %s: no such file", arg)
		}
		files[i] = abs
	}
	return files, nil
}

func showHere(ctx context.Context, cfg *config.Config, files []string) error {
	ui := cfg.File.UI
	mode, err := picture.ParseMode(ui.Pictures)
	if err != nil {
		return fmt.Errorf("ui.pictures: %w", err)
	}
	page := pixels.New(pixels.Options{Open: files, Load: loadPixels(cfg), Editor: cfg.Editor()})
	return tui.Run(ctx, tui.Options{
		Pages: []tui.Page{page}, Theme: cfg.ThemeOptions(), Themes: cfg.Themes(), Background: ui.Background, Keys: cfg.File.Keys,
		NoMouse: !ui.Mouse, Still: !ui.Motion, KeyRest: time.Duration(ui.KeyRest), Pictures: mode, Environ: cfg.Environ, Output: console.Bytes(console.Out()),
	})
}

// loadPixels reads .pxl files in the configured dialect.
func loadPixels(cfg *config.Config) func(string) (*pxl.Document, error) {
	dialect := dialect(cfg)
	return func(path string) (*pxl.Document, error) { return pixelsrc.Load(path, dialect) }
}

// showControl opens pictures on the deck's page, which comes on screen unless an agent
// asked for it.
func showControl(e *Env, page func() *pixels.Page) transport.Control {
	return func(_ context.Context, from transport.Requester, args json.RawMessage) (any, error) {
		var r showRequest
		if err := json.Unmarshal(args, &r); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		if e.Queue == nil {
			return nil, errors.New("show pictures: the running deck has no screen; use mcpdeck show --here")
		}
		for _, file := range r.Files {
			if !filepath.IsAbs(file) {
				return nil, fmt.Errorf("show %s: the path is not absolute", file)
			}
			page().Open(file, from.Agent == "")
		}
		return nil, nil
	}
}
