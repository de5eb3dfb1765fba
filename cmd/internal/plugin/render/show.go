package render

import (
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	shown "github.com/mcpdeck/mcpdeck/tui/picture"
)

func (r *runner) checkShow() error {
	if _, err := shown.ParseMode(r.o.show); err != nil {
		return exit.Usagef("--show: %w", err)
	}
	switch {
	case r.o.show == "" && (r.o.cols != 0 || r.o.rows != 0):
		return exit.Usagef("--cols and --rows need --show")
	case r.o.show != "" && (r.o.output != "" || r.o.atlas != "" || r.o.all || r.o.json):
		return exit.Usagef("--show prints the picture; it cannot be used with -o, --atlas or --json")
	case r.o.cols < 0 || r.o.rows < 0 || r.o.cols > 4096 || r.o.rows > 4096:
		return exit.Usagef("--cols and --rows must be between 1 and 4096")
	}
	return nil
}

// show prints what was drawn: an animation's frames side by side. Escapes are written to
// whatever standard output is, in the colours that the environment tells of.
func (r *runner) show(res *pxl.Result) error {
	img := res.Image()
	if len(res.Frames) > 1 {
		sheet, err := res.Sheet(r.o.sheet)
		if err != nil {
			return fmt.Errorf("put the frames side by side: %w", err)
		}
		img = sheet
	}
	mode, _ := shown.ParseMode(r.o.show) // checkShow has
	depth := environmentDepth()
	probe := shown.NewProbe(shown.Ask{Mode: mode, Depth: depth, Env: config.Env, NarrowBlocks: true})
	probe.Expire() // nobody reads a terminal's answers here
	caps := probe.Caps()
	if mode == shown.Auto {
		mode = caps.Cells
	}
	if _, cells := mode.Set(); cells && depth == shown.NoColor {
		mode = shown.ModeLetters // blocks without colours show nothing
	}
	_, err := io.WriteString(console.Bytes(r.out), shown.Encode(img, shown.Target{
		Mode: mode, Depth: depth, Cols: r.o.cols, Rows: r.o.rows, Tmux: caps.Tmux, ID: placeholderID(mode, caps),
	}))
	if err != nil {
		return fmt.Errorf("print the picture: %w", err)
	}
	return nil
}

// placeholderID is the id for kitty pictures inside tmux, which knows of placeholder
// cells only; 0 elsewhere.
func placeholderID(mode shown.Mode, caps shown.Caps) uint32 {
	if mode != shown.ModeKitty || !caps.Tmux {
		return 0
	}
	return shown.NewIDs(uint8(os.Getpid())).Next()
}

// environmentDepth goes by COLORTERM, TERM and NO_COLOR alone.
func environmentDepth() shown.Depth {
	term := config.Env("TERM")
	switch {
	case config.Env("NO_COLOR") != "" || term == "dumb":
		return shown.NoColor
	}
	switch colorprofile.Env([]string{"TERM=" + term, "COLORTERM=" + config.Env("COLORTERM")}) {
	case colorprofile.TrueColor:
		return shown.TrueColor
	case colorprofile.ANSI256:
		return shown.Colors256
	default:
		return shown.Colors16
	}
}
