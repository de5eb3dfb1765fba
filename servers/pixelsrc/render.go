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

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl/smooth"
)

// maxToolScale is the largest scale of a render call.
const maxToolScale = 16

// order is what a render call asks for.
type order struct {
	render pxl.RenderOptions
	scale  int
	format string
}

func runRender(c *call) Answer {
	o, wrong := readOrder(c.args)
	if wrong != nil {
		return *wrong
	}
	src, wrong := c.source("source", "path")
	if wrong != nil {
		return *wrong
	}
	if a := src.undrawable(); a != nil {
		return *a
	}
	src.target(&o.render)
	res, err := src.Render(o.render)
	if err != nil {
		return renderError(err, src)
	}
	if a := tooLarge(res, o.scale); a != nil {
		return *a
	}
	if a := cmp.Or(tooWide(res, o.format), src.sizeless(res), impossible(res)); a != nil {
		return *a
	}
	warnings := src.warnings(res)
	c.server.keep(c, src, res, o, warnings)
	a := c.server.encoder.picture(c.ctx, res, o)
	if a.Failed || o.format == "ansi" {
		return a
	}
	a.Blocks = append(a.Blocks, Block{Text: summary(res, o.scale, warnings)})
	return a
}

// readOrder reads and checks the arguments of a render call.
func readOrder(a *Args) (o order, wrong *Answer) {
	no := func(format string, args ...any) (order, *Answer) {
		f := fail(format, args...)
		return o, &f
	}
	o.scale = min(max(a.Int("scale", 1), 1), maxToolScale)
	o.format = a.Word("format", "auto")
	if formats := []string{"auto", "png", "gif", "sheet", "ansi"}; !slices.Contains(formats, o.format) {
		return no("Unknown format '%s': use one of %s.", o.format, strings.Join(formats, ", "))
	}
	var named []string
	for _, k := range [...]pxl.Kind{pxl.KindSprite, pxl.KindComposition, pxl.KindAnimation} {
		if name, ok := a.Text(string(k)); ok && name != "" {
			named = append(named, string(k))
			o.render.Kind, o.render.Name = k, name
		}
	}
	if len(named) > 1 {
		return no("Give only one of %s.", strings.Join(named, " and "))
	}
	if o.render.Antialias = a.Word("antialias", ""); o.render.Antialias != "" {
		list := []string{"none"}
		for _, k := range smooth.Algorithms() {
			list = append(list, string(k))
		}
		if !slices.Contains(list, o.render.Antialias) {
			return no("Unknown antialias '%s': use one of %s.", o.render.Antialias, strings.Join(list, ", "))
		}
	}
	if a.Has("strength") {
		v := min(max(a.Number("strength", 1), 0), 1)
		o.render.Strength = &v
	}
	o.render.States = a.Words("states")
	o.render.AllStates = a.Flag("all_states", false)
	o.render.Tag, _ = a.Text("tag")
	if size, ok := a.Pair("slice"); ok {
		if size[0] < 1 || size[1] < 1 || size[0] > pxl.MaxSide || size[1] > pxl.MaxSide {
			return no("slice is the size of a nine-slice sprite in pixels: two integers from 1 to %d.", pxl.MaxSide)
		}
		o.render.Slice = size
	}
	o.render.Tokens = true
	if a.problem != "" {
		return no("%s", a.problem)
	}
	return o, nil
}

// undrawable answers when a source has nothing to draw, with the reason.
func (src *source) undrawable() *Answer {
	var errors []pxl.Diagnostic
	for _, d := range src.Diagnostics() {
		if d.Severity == pxl.Error {
			errors = append(errors, d)
		}
	}
	for _, ob := range src.AllObjects() {
		if slices.Contains(pxl.Drawable(), ob.Kind) {
			return nil
		}
	}
	a := fail("No sprites found in the source: add a sprite with a size, a palette and regions.")
	if len(errors) > 0 {
		a = fail("No sprites could be read: line %d: %s. Fix it and render again; pixelsrc_validate lists every problem.", errors[0].Line, errors[0].Message)
	}
	return &a
}

// target settles what is drawn: a name of a sprite may be a variant's, and
// without one it is the first sprite, else composition, else animation.
func (src *source) target(o *pxl.RenderOptions) {
	if o.Kind == pxl.KindSprite {
		if _, ok := src.Find(pxl.KindSprite, o.Name); !ok {
			if _, ok := src.Find(pxl.KindVariant, o.Name); ok {
				o.Kind = pxl.KindVariant
			}
		}
		return
	}
	for _, k := range [...]pxl.Kind{pxl.KindSprite, pxl.KindComposition, pxl.KindAnimation, pxl.KindVariant} {
		for _, ob := range src.Objects() {
			if o.Kind == "" && ob.Kind == k {
				o.Kind, o.Name = k, ob.Name
			}
		}
	}
}

// renderError puts an error of the engine as a sentence.
func renderError(err error, src *source) Answer {
	var missing *pxl.NotFoundError
	if errors.As(err, &missing) {
		kind := string(missing.Kind)
		if kind == "" {
			kind = "object"
		}
		a := notFound(strings.ToUpper(kind[:1])+kind[1:], missing.Name, missing.Names)
		if d := src.Diagnostics(); len(d) > 0 {
			a += fmt.Sprintf(" The source has problems: line %d: %s.", d[0].Line, d[0].Message)
		}
		return fail("%s", a)
	}
	return fail("Cannot render: %s.", strings.TrimPrefix(err.Error(), "render: "))
}

// tooLarge checks the size that a picture would have when enlarged.
func tooLarge(res *pxl.Result, scale int) *Answer {
	b := res.Image().Rect
	fits := func(k int) bool {
		return b.Dx()*k <= pxl.MaxOutSide && b.Dy()*k <= pxl.MaxOutSide && b.Dx()*b.Dy()*k*k <= pxl.MaxOutArea
	}
	if fits(scale) {
		return nil
	}
	largest := 1
	for fits(largest+1) && largest < maxToolScale {
		largest++
	}
	a := fail("The picture would be %dx%d px at scale %d; the limit is %d px a side and %d in all. The largest allowed scale is %d.",
		b.Dx()*scale, b.Dy()*scale, scale, pxl.MaxOutSide, pxl.MaxOutArea, largest)
	return &a
}

// tooWide checks the size of a picture that is to be text: a pixel takes about forty
// bytes.
func tooWide(res *pxl.Result, format string) *Answer {
	const most = 256 * 256
	area := 0
	for _, f := range res.Frames {
		area += f.Image.Rect.Dx() * f.Image.Rect.Dy()
	}
	if format != "ansi" || area <= most {
		return nil
	}
	a := fail("As ansi the picture would be %d pixels of text; the limit is %d. Use png, or draw a part of it.", area, most)
	return &a
}

// sizeless answers for a sprite without a usable size or without regions, of
// which the engine would show one transparent pixel.
func (src *source) sizeless(res *pxl.Result) *Answer {
	ob, ok := src.Find(res.Kind, res.Name)
	if !ok || ob.Sprite == nil {
		return nil
	}
	sp := ob.Sprite
	switch {
	case sp.Size == nil && sp.Source == "":
		a := fail("Sprite '%s' (line %d) has no size. Add \"size\": [width, height]%s.", sp.Name, ob.Line, extent(sp))
		return &a
	case sp.Size != nil && (sp.Size[0] < 1 || sp.Size[1] < 1):
		a := fail("Sprite '%s' (line %d) has the size %dx%d; both sides must be 1 to %d%s.", sp.Name, ob.Line, sp.Size[0], sp.Size[1], pxl.MaxSide, extent(sp))
		return &a
	case !sp.HasRegions && sp.Source == "" && sp.Background == "":
		a := fail("Sprite '%s' (line %d) has no regions. Add \"regions\": {\"token\": {\"rect\": [x, y, w, h]}}.", sp.Name, ob.Line)
		return &a
	}
	return nil
}

// impossible answers for a picture of which a part has no possible size.
func impossible(res *pxl.Result) *Answer {
	d, ok := res.Impossible()
	if !ok {
		return nil
	}
	a := fail("Cannot draw %s (line %d): %s; %s.", d.Object, d.Line, d.Message, d.Help)
	return &a
}

// extent is a hint with the size that a sprite's simple shapes need, "" when
// nothing tells.
func extent(sp *pxl.Sprite) string {
	w, h := reaches(sp)
	if w == 0 || h == 0 {
		return ""
	}
	return fmt.Sprintf("; its regions reach to [%d, %d]", w, h)
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
func (src *source) warnings(res *pxl.Result) []string {
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

// picture encodes what was drawn.
func (e *encoder) picture(ctx context.Context, res *pxl.Result, o order) Answer {
	still := res.Kind != pxl.KindAnimation
	switch {
	case o.format == "ansi":
		img := res.Image()
		if !still {
			img = contactSheet(res.Frames)
		}
		return say(halfBlocks(img))
	case still || o.format == "png":
		return Answer{Blocks: []Block{{MIME: "image/png", Data: e.png(ctx, res.Image(), o.scale)}}}
	}
	sheet := contactSheet(res.Frames)
	k := o.scale
	for k > 1 && (sheet.Rect.Dx()*k > pxl.MaxOutSide || sheet.Rect.Dx()*sheet.Rect.Dy()*k*k > pxl.MaxOutArea) {
		k--
	}
	second := Block{MIME: "image/png", Data: e.png(ctx, sheet, k)}
	if o.format == "sheet" {
		return Answer{Blocks: []Block{second}}
	}
	list := make([]frames.Frame, len(res.Frames))
	for i, f := range res.Frames {
		list[i] = frames.Frame{Image: smooth.Scale(f.Image, o.scale), Duration: f.Duration}
	}
	var buf bytes.Buffer
	if err := frames.GIF(ctx, &buf, list, res.Loop); err != nil {
		return fail("Cannot render: %v.", err)
	}
	return Answer{Blocks: []Block{{MIME: "image/gif", Data: buf.Bytes()}, second}}
}

// contactSheet lays the frames out left to right, in rows of at most 16.
func contactSheet(list []pxl.Frame) *image.NRGBA {
	imgs := make([]*image.NRGBA, len(list))
	for i, f := range list {
		imgs[i] = f.Image
	}
	return frames.Sheet(imgs, min(len(imgs), 16))
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
			t.token = bare(res.Tokens.Names[region])
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
	w, h := sizeOf(res)
	fmt.Fprintf(&b, "Rendered %s '%s' (%dx%d px)\n", res.Kind, res.Name, w*scale, h*scale)
	if res.Kind == pxl.KindAnimation {
		fmt.Fprintf(&b, "Frames: %d, %d ms in all, %s\n", len(res.Frames), res.Duration().Milliseconds(), map[bool]string{true: "looping", false: "played once"}[res.Loop])
	}
	list := tallies(res)
	fmt.Fprintf(&b, "Colors: %d", len(list))
	for i, t := range list {
		switch {
		case i == 16:
			fmt.Fprintf(&b, ", … %d more", len(list)-16)
		case i > 16:
			continue
		}
		if i >= 16 {
			continue
		}
		sep := ", "
		if i == 0 {
			sep = " — "
		}
		name := ""
		if t.token != "" {
			name = t.token + " "
		}
		fmt.Fprintf(&b, "%s%s%s (%d)", sep, name, colour.Hex(t.colour), t.pixels)
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

func sizeOf(res *pxl.Result) (w, h int) {
	for _, f := range res.Frames {
		w, h = max(w, f.Image.Rect.Dx()), max(h, f.Image.Rect.Dy())
	}
	return w, h
}

// keep hands a render to the store that the screen reads.
func (s *Server) keep(c *call, src *source, res *pxl.Result, o order, warnings []string) {
	r := &Render{
		Agent: c.who.Agent, Who: c.who.Name, Kind: string(res.Kind), Name: res.Name, Path: src.path,
		Source: src.text, Time: time.Now(), Loop: res.Loop, Scale: o.scale, Antialias: res.Antialias, Warnings: warnings,
	}
	if len(r.Source) > maxKeptSource {
		r.Source = strings.ToValidUTF8(r.Source[:maxKeptSource], "")
	}
	for _, f := range res.Frames {
		r.Frames = append(r.Frames, Frame{f.Image, f.Duration})
	}
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
