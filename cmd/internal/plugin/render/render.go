// Package render implements the subcommand that draws pixel art documents to files.
package render

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	shown "github.com/mcpdeck/mcpdeck/tui/picture"
)

// options are the flags.
type options struct {
	name, kind, dialect, antialias, output, states, slice, tag string
	scale, sheet, cols, rows, frames                           int
	canvas, origin                                             string
	show                                                       string
	strength                                                   float64
	list, json, all, allStates, strict                         bool
	atlas                                                      string // one of frames.Formats, "" for none
	padding, maxSize                                           int
	powerOfTwo                                                 bool
}

// Command returns the render command.
func Command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "render FILE...",
		Short: "Draw pixel art from .pxl files to PNG and GIF",
		Long: `Draw an object of each FILE: a sprite, variant or composition as PNG, an animation as GIF.

Without -o the picture is written to the current folder, named after the file and, with --name,
the object; -o - writes it to standard output. Without --name the first sprite is drawn, or else
the first composition or animation. Problems in a document are reported on standard error as
FILE:LINE:COLUMN.

This needs no deck and reads no configuration. --name and --state refer to the picture, not the
deck, even before the word render.`,
		Example: `  mcpdeck render hero.pxl --scale 8
  mcpdeck render hero.pxl --name walk -o walk.gif
  mcpdeck render hero.pxl --show auto
  mcpdeck render hero.pxl --list
  mcpdeck render hero.pxl --all -o out/
  mcpdeck render hero.pxl --atlas=godot --padding 1 -o atlas.png`,
		RunE: func(c *cobra.Command, files []string) error {
			r := runner{o: o, out: c.OutOrStdout(), err: c.ErrOrStderr(), sheet: c.Flags().Changed("sheet"), strength: c.Flags().Changed("strength")}
			return r.run(files)
		},
	}
	f := c.Flags()
	f.StringVar(&o.name, "name", "", "name of the object to draw")
	f.StringVar(&o.kind, "kind", "", "sprite, variant, composition or animation")
	f.StringVar(&o.dialect, "dialect", "documented", "documented, or reference for pixel parity with pxl")
	f.IntVar(&o.scale, "scale", 1, "scale factor, a whole number from 1 to 128")
	f.StringVar(&o.antialias, "antialias", "", "none, "+strings.Join(pxl.Algorithms(), ", ")+" (default: as the file says)")
	f.Float64Var(&o.strength, "strength", 0, "strength of the antialias, 0 to 1")
	f.StringVarP(&o.output, "output", "o", "", "file to write: .png, .gif, or - for standard output")
	f.StringVar(&o.states, "state", "", `active states of state rules, such as "damaged poisoned"`)
	f.BoolVar(&o.allStates, "all-states", false, "make every state active")
	f.StringVar(&o.slice, "slice", "", "stretch a nine-slice sprite to WxH pixels")
	f.IntVar(&o.sheet, "sheet", 0, "draw the frames side by side; --sheet=4 puts four in a row")
	f.Lookup("sheet").NoOptDefVal = "0"
	f.BoolVar(&o.all, "all", false, "draw every sprite, variant, composition and animation; -o names a folder")
	f.StringVar(&o.atlas, "atlas", "", "pack every sprite into one PNG with a data file: "+strings.Join(frames.Formats(), ", "))
	f.Lookup("atlas").NoOptDefVal = frames.Formats()[0]
	f.IntVar(&o.padding, "padding", 0, "pixels between the sprites of an atlas")
	f.IntVar(&o.maxSize, "max-size", 4096, "maximum side of an atlas; sprites that do not fit go to further pages")
	f.BoolVar(&o.powerOfTwo, "power-of-two", false, "make the sides of the atlas powers of two")
	f.IntVar(&o.frames, "frames", 0, "frames of a particle, 1 to 256 (default: twice its longest life)")
	f.StringVar(&o.canvas, "canvas", "32x32", "size of a particle's frames")
	f.StringVar(&o.origin, "origin", "", "X,Y of a particle's origin (default: the middle of the lower edge)")
	f.StringVar(&o.tag, "tag", "", "draw only the frames of a tag")
	f.StringVar(&o.show, "show", "", "print the picture instead of writing it: "+strings.Join(shown.ModeNames(), ", "))
	f.IntVar(&o.cols, "cols", 0, "width of --show in characters, 0 for the picture's own width")
	f.IntVar(&o.rows, "rows", 0, "height of --show in lines, 0 for the picture's own height")
	f.BoolVar(&o.list, "list", false, "list the objects and draw nothing")
	f.BoolVar(&o.json, "json", false, "print sizes and diagnostics as JSON")
	f.BoolVar(&o.strict, "strict", false, "treat every diagnostic as an error and write nothing")
	for flag, words := range map[string][]string{
		"dialect": {"documented", "reference"}, "kind": {"sprite", "variant", "composition", "animation"}, "show": shown.ModeNames(),
	} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	}
	return c
}

// draw makes render options of the flags.
func (o *options) draw(strength bool) (pxl.RenderOptions, error) {
	r := pxl.RenderOptions{
		Kind: pxl.Kind(o.kind), Name: o.name, Scale: o.scale, Antialias: o.antialias,
		States: strings.FieldsFunc(o.states, func(c rune) bool { return c == ' ' || c == ',' }), AllStates: o.allStates, Tag: o.tag,
	}
	if o.kind != "" && !slices.Contains(pxl.Drawable(), r.Kind) {
		return r, exit.Usagef("--kind %q is not one of sprite, variant, composition, animation", o.kind)
	}
	if o.scale < 1 || o.scale > 128 {
		return r, exit.Usagef("--scale %d is not between 1 and 128", o.scale)
	}
	if !slices.Contains(append(pxl.Algorithms(), "", "none"), o.antialias) {
		return r, exit.Usagef("--antialias %q is not one of none, %s", o.antialias, strings.Join(pxl.Algorithms(), ", "))
	}
	if strength {
		if !(o.strength >= 0 && o.strength <= 1) {
			return r, exit.Usagef("--strength %v is not between 0 and 1", o.strength)
		}
		r.Strength = &o.strength
	}
	if o.slice != "" {
		size, ok := two(o.slice, "x")
		if !ok || size[0] < 1 || size[1] < 1 {
			return r, exit.Usagef("--slice %q is not WIDTHxHEIGHT, such as 64x32", o.slice)
		}
		r.Slice = size
	}
	return r, o.bake(&r.Bake)
}

// bake reads how a particle is drawn.
func (o *options) bake(b *pxl.Bake) error {
	if o.frames < 0 || o.frames > pxl.MaxFrames {
		return exit.Usagef("--frames %d is not between 1 and %d", o.frames, pxl.MaxFrames)
	}
	b.Frames = o.frames
	size, ok := two(o.canvas, "x")
	if !ok || size[0] < 1 || size[1] < 1 {
		return exit.Usagef("--canvas %q is not WIDTHxHEIGHT, such as 16x32", o.canvas)
	}
	b.Canvas = size
	if o.origin != "" {
		at, ok := two(o.origin, ",")
		if !ok {
			return exit.Usagef("--origin %q is not X,Y, such as 8,31", o.origin)
		}
		b.Origin = &at
	}
	return nil
}

// two reads two integers around a separator.
func two(text, between string) (out [2]int, ok bool) {
	a, b, ok := strings.Cut(strings.ToLower(text), between)
	one, err1 := strconv.Atoi(a)
	other, err2 := strconv.Atoi(b)
	return [2]int{one, other}, ok && err1 == nil && err2 == nil
}

// reason is what went wrong without the path, which the message has already.
func reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
