package pixelsrc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// maxScale is the largest scale of an [Order].
const maxScale = 16

// Order says what to draw and how to show it.
type Order struct {
	pxl.RenderOptions
	Scale  int    // 1 to [maxScale]
	Format string // one of [Formats]
}

// Formats lists the formats of pictures. auto is PNG, or GIF and a sheet for an
// animation; png is the first frame; ansi is text.
func Formats() []string { return []string{"auto", "png", "gif", "sheet", "ansi"} }

// Drawing is what was drawn.
type Drawing struct {
	Pictures []Picture
	Text     string // the picture as ansi, else what it shows and what is wrong with it
}

// Picture is an encoded picture.
type Picture struct {
	MIME string
	Data []byte
}

// Render draws an object of a source for a caller, and keeps it for the screen.
func (s *Server) Render(ctx context.Context, who Caller, src *Source, o Order) (Drawing, error) {
	o.Scale = min(max(o.Scale, 1), maxScale)
	if err := src.undrawable(); err != nil {
		return Drawing{}, err
	}
	src.target(&o.RenderOptions)
	o.Tokens = true // for the names of the colours
	res, err := src.Render(o.RenderOptions)
	if err != nil {
		return Drawing{}, src.renderError(err)
	}
	if err := cmp.Or(tooLarge(res, o.Scale), tooWide(res, o.Format), src.sizeless(res), impossible(res)); err != nil {
		return Drawing{}, err
	}
	warnings := src.warnings(res)
	s.keep(who, src, res, warnings)
	if o.Format == "ansi" {
		img := res.Image()
		if res.Kind == pxl.KindAnimation {
			if img, err = res.Sheet(sheetColumns); err != nil {
				return Drawing{}, Failf("Cannot render: %v.", err)
			}
		}
		return Drawing{Text: halfBlocks(img)}, nil
	}
	pictures, err := s.encoder.pictures(ctx, res, o)
	if err != nil {
		return Drawing{}, Failf("Cannot render: %v.", err)
	}
	return Drawing{pictures, summary(res, o.Scale, warnings)}, nil
}

// Need is about how many bytes drawing an object takes: for each pixel its colour, and the
// number of what painted it.
func (src *Source) Need(o Order) int64 {
	const bytes = 4 + 2
	src.target(&o.RenderOptions)
	return bytes * int64(src.Pixels(o.RenderOptions))
}

// undrawable answers when a source has nothing to draw, with the reason.
func (src *Source) undrawable() error {
	for _, ob := range src.AllObjects() {
		if slices.Contains(pxl.Drawable(), ob.Kind) {
			return nil
		}
	}
	for _, d := range src.Diagnostics() {
		if d.Severity == pxl.Error {
			return Failf("Could not read any sprite: line %d: %s. Fix it and render again; pixelsrc_validate lists every problem.", d.Line, d.Message)
		}
	}
	return Failf("No sprites found in the source: add a sprite with a size, a palette and regions.")
}

// target settles what is drawn: a name of a sprite may be a variant's.
func (src *Source) target(o *pxl.RenderOptions) {
	if o.Kind == pxl.KindSprite {
		if _, ok := src.Find(pxl.KindSprite, o.Name); !ok {
			if _, ok := src.Find(pxl.KindVariant, o.Name); ok {
				o.Kind = pxl.KindVariant
			}
		}
	}
}

// renderError puts an error of the engine as a sentence.
func (src *Source) renderError(err error) error {
	var missing *pxl.NotFoundError
	if errors.As(err, &missing) {
		kind := cmp.Or(string(missing.Kind), "object")
		a := NotFound(strings.ToUpper(kind[:1])+kind[1:], missing.Name, missing.Names)
		if d := src.Diagnostics(); len(d) > 0 {
			a += fmt.Sprintf(" The source has problems: line %d: %s.", d[0].Line, d[0].Message)
		}
		return Failf("%s", a)
	}
	return Failf("Cannot render: %s.", strings.TrimPrefix(err.Error(), "render: "))
}

// tooLarge checks the size that a picture would have when enlarged.
func tooLarge(res *pxl.Result, scale int) error {
	b := res.Image().Rect
	fits := func(k int) bool {
		return b.Dx()*k <= pxl.MaxOutSide && b.Dy()*k <= pxl.MaxOutSide && b.Dx()*b.Dy()*k*k <= pxl.MaxOutArea
	}
	if fits(scale) {
		return nil
	}
	largest := 1
	for fits(largest+1) && largest < maxScale {
		largest++
	}
	return Failf("The picture would be %dx%d px at scale %d; the limit is %d px a side and %d in total. The largest allowed scale is %d.",
		b.Dx()*scale, b.Dy()*scale, scale, pxl.MaxOutSide, pxl.MaxOutArea, largest)
}

// tooWide checks the size of a picture that is to be text: a pixel takes about forty
// bytes.
func tooWide(res *pxl.Result, format string) error {
	const most = 256 * 256
	area := 0
	for _, f := range res.Frames {
		area += f.Pixels()
	}
	if format != "ansi" || area <= most {
		return nil
	}
	return Failf("The ansi output would be %s; the limit is %d. Use png, or draw a part of it.", humanize.Count(area, "pixel"), most)
}

// sizeless answers for a sprite without a usable size or without regions, of
// which the engine would show one transparent pixel.
func (src *Source) sizeless(res *pxl.Result) error {
	ob, ok := src.Find(res.Kind, res.Name)
	if !ok || ob.Sprite == nil {
		return nil
	}
	sp := ob.Sprite
	switch {
	case sp.Size == nil && sp.Source == "":
		return Failf("Sprite '%s' (line %d) has no size. Add \"size\": [width, height]%s.", sp.Name, ob.Line, extent(sp))
	case sp.Size != nil && (sp.Size[0] < 1 || sp.Size[1] < 1):
		return Failf("Sprite '%s' (line %d) has size %dx%d; both sides must be 1 to %d%s.", sp.Name, ob.Line, sp.Size[0], sp.Size[1], pxl.MaxSide, extent(sp))
	case !sp.HasRegions && sp.Source == "" && sp.Background == "":
		return Failf("Sprite '%s' (line %d) has no regions. Add \"regions\": {\"token\": {\"rect\": [x, y, w, h]}}.", sp.Name, ob.Line)
	}
	return nil
}

// impossible answers for a picture of which a part has no possible size.
func impossible(res *pxl.Result) error {
	d, ok := res.Impossible()
	if !ok {
		return nil
	}
	return Failf("Cannot draw %s (line %d): %s; %s.", d.Object, d.Line, d.Message, d.Help)
}

// extent is a hint with the size that a sprite's simple shapes need, "" when
// nothing tells.
func extent(sp *pxl.Sprite) string {
	w, h := reaches(sp)
	if w == 0 || h == 0 {
		return ""
	}
	return fmt.Sprintf("; its regions extend to [%d, %d]", w, h)
}

// reaches is the size that a sprite's simple shapes need, 0 when nothing tells.
func reaches(sp *pxl.Sprite) (w, h int) {
	var visit func(r *pxl.Region)
	visit = func(r *pxl.Region) {
		for _, p := range r.Points {
			w, h = max(w, p.X+1), max(h, p.Y+1)
		}
		switch r.Shape {
		case pxl.ShapeRect, pxl.ShapeStroke:
			w, h = max(w, r.Box[0]+r.Box[2]), max(h, r.Box[1]+r.Box[3])
		case pxl.ShapeCircle, pxl.ShapeEllipse:
			w, h = max(w, r.Box[0]+r.Box[2]+1), max(h, r.Box[1]+r.Box[3]+1)
		default:
		}
		for i := range r.Subs {
			visit(&r.Subs[i])
		}
		if r.Base != nil {
			visit(r.Base)
		}
	}
	for i := range sp.Regions {
		visit(&sp.Regions[i])
	}
	return w, h
}

// warnings gathers what is wrong with a source and with what was drawn of it.
func (src *Source) warnings(res *pxl.Result) []string {
	var list []string
	seen := map[string]bool{}
	all := src.Diagnostics()
	if res != nil {
		all = append(all, res.Diagnostics...)
	}
	slices.SortStableFunc(all, func(a, b pxl.Diagnostic) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	for _, n := range src.notes {
		if !n.unused {
			list = append(list, fmt.Sprintf("line %d: %s", n.line, n.text))
		}
	}
	for _, d := range all {
		line := fmt.Sprintf("line %d: %s", d.Line, d.Message)
		if d.Object != "" {
			line = fmt.Sprintf("line %d: %s: %s", d.Line, d.Object, d.Message)
		}
		if d.Help != "" {
			line += " (" + d.Help + ")"
		}
		if !seen[line] {
			seen[line] = true
			list = append(list, line)
		}
	}
	return list
}

// pictures encodes what was drawn: one still picture, or of an animation what its
// format says.
func (e *encoder) pictures(ctx context.Context, res *pxl.Result, o Order) ([]Picture, error) {
	if res.Kind != pxl.KindAnimation || o.Format == "png" {
		data := e.png(ctx, rowsOf(res.Image()), o.Scale)
		if len(data) > maxPictures {
			return nil, errPictures
		}
		return []Picture{{"image/png", data}}, nil
	}
	sheet := sheetOf(res.Frames, sheetColumns)
	k := o.Scale
	for k > 1 && (sheet.w*k > pxl.MaxOutSide || sheet.w*sheet.h*k*k > pxl.MaxOutArea) {
		k--
	}
	second := Picture{"image/png", e.png(ctx, sheet, k)}
	if len(second.Data) > maxPictures {
		return nil, errPictures
	}
	if o.Format == "sheet" {
		return []Picture{second}, nil
	}
	out := bounded{most: maxPictures - len(second.Data)}
	err := frames.GIF(ctx, &out, res.Frames, o.Scale, res.Loop)
	return []Picture{{"image/gif", out.Bytes()}, second}, err
}

const (
	sheetColumns = 16
	// maxPictures is how many bytes the pictures of an answer have at most: as base64 they
	// must fit into a line.
	maxPictures = 16 << 20
)

var errPictures = errors.New("the pictures would have more than " + humanize.Bytes(maxPictures) + "; use a smaller scale, a tag or another format")

// bounded is a buffer that takes so many bytes and no more.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errPictures
	}
	return b.Buffer.Write(p)
}

// tally is how many visible pixels a colour has.
type tally struct {
	token  string
	colour color.NRGBA
	pixels int
}

// tallies counts the visible pixels of each token; where tokens are not known,
// of each colour.
func tallies(res *pxl.Result) []tally {
	// A key is the region, from 1, above the four bytes of the colour.
	counts := map[uint64]int{}
	var last uint64
	run := 0
	for _, f := range res.Frames {
		w := f.Image.Rect.Dx()
		for y := range f.Image.Rect.Dy() {
			row := f.Image.Pix[y*f.Image.Stride:][:4*w]
			for x := range w {
				p := binary.BigEndian.Uint32(row[4*x:])
				if p&0xff == 0 {
					continue
				}
				k := uint64(p)
				if res.Tokens != nil {
					k |= uint64(res.Tokens.At(x, y)+1) << 32
				}
				if k == last {
					run++
					continue
				}
				counts[last] += run
				last, run = k, 1
			}
		}
	}
	counts[last] += run
	var list []tally
	for k, n := range counts {
		if n == 0 {
			continue
		}
		t := tally{colour: color.NRGBA{R: uint8(k >> 24), G: uint8(k >> 16), B: uint8(k >> 8), A: uint8(k)}, pixels: n}
		if region := int(k>>32) - 1; region >= 0 {
			t.token = pxl.Bare(res.Tokens.Names[region])
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b tally) int {
		return cmp.Or(b.pixels-a.pixels, cmp.Compare(a.token, b.token), cmp.Compare(colour.Hex(a.colour), colour.Hex(b.colour)))
	})
	return list
}

// summary says what was drawn.
func summary(res *pxl.Result, scale int, warnings []string) string {
	var b strings.Builder
	w, h := frames.Bounds(res.Frames)
	fmt.Fprintf(&b, "Rendered %s '%s' (%dx%d px)\n", res.Kind, res.Name, w*scale, h*scale)
	if res.Kind == pxl.KindAnimation {
		fmt.Fprintf(&b, "Frames: %d, %d ms in total, %s\n", len(res.Frames), res.Duration().Milliseconds(), map[bool]string{true: "looping", false: "played once"}[res.Loop])
	}
	list := tallies(res)
	fmt.Fprintf(&b, "Colors: %d", len(list))
	const named = 16
	sep := " — "
	for _, t := range list[:min(len(list), named)] {
		name := ""
		if t.token != "" {
			name = t.token + " "
		}
		fmt.Fprintf(&b, "%s%s%s (%d)", sep, name, colour.Hex(t.colour), t.pixels)
		sep = ", "
	}
	if len(list) > named {
		fmt.Fprintf(&b, ", … %d more", len(list)-named)
	}
	if len(warnings) > 0 {
		b.WriteString("\n\nWarnings:")
		for i, w := range warnings {
			if i == 40 {
				fmt.Fprintf(&b, "\n… and %d more; pixelsrc_validate lists them", len(warnings)-40)
				break
			}
			b.WriteString("\n" + w)
		}
	}
	return b.String()
}

// keep hands a render to the store that the screen reads.
func (s *Server) keep(who Caller, src *Source, res *pxl.Result, warnings []string) {
	r := &Render{
		Agent: who.Agent, Who: who.Name, Kind: string(res.Kind), Name: res.Name, Path: src.path,
		Time: time.Now(), Loop: res.Loop, Warnings: warnings,
	}
	var note string
	if r.Frames, note = CutFrames(res.Frames); note != "" {
		r.Warnings = append(slices.Clip(warnings), note)
	}
	r.Names, r.Tokens = src.Names(res), res.Tokens
	s.recent.add(r)
}

// halfBlocks draws a picture with half blocks and ANSI colours, two rows of
// pixels a line.
func halfBlocks(img *image.NRGBA) string {
	var b strings.Builder
	at := func(x, y int) color.NRGBA {
		if y >= img.Rect.Dy() {
			return color.NRGBA{}
		}
		return pixel(img, x, y)
	}
	for y := 0; y < img.Rect.Dy(); y += 2 {
		for x := range img.Rect.Dx() {
			up, down := at(x, y), at(x, y+1)
			code := func(base int, c color.NRGBA) {
				if c.A == 0 {
					fmt.Fprintf(&b, "\x1b[%d;5;236m", base)
					return
				}
				fmt.Fprintf(&b, "\x1b[%d;2;%d;%d;%dm", base, c.R, c.G, c.B)
			}
			code(48, down)
			code(38, up)
			b.WriteString("▀")
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}
