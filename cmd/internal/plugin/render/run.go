package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// runner carries out one call of the command.
type runner struct {
	o               options
	out, err        io.Writer
	sheet, strength bool
	reports         []report
	failed          bool
}

// report is what --json prints about one file.
type report struct {
	File        string       `json:"file"`
	Objects     []object     `json:"objects,omitempty"`
	Picture     *picture     `json:"picture,omitempty"`
	Pictures    []picture    `json:"pictures,omitempty"` // with --all
	Diagnostics []diagnostic `json:"diagnostics"`
}

type object struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Line   int    `json:"line"`
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
}

type picture struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Output     string `json:"output"`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Native     [2]int `json:"native"`
	Scale      int    `json:"scale"`
	Antialias  string `json:"antialias,omitempty"`
	Frames     int    `json:"frames"`
	DurationMS int64  `json:"duration_ms,omitempty"`
	Loop       bool   `json:"loop,omitempty"`
}

type diagnostic struct {
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Object   string `json:"object,omitempty"`
	Message  string `json:"message"`
	Help     string `json:"help,omitempty"`
}

// errTold ends the call when everything was said already.
var errTold = errors.New("not every file could be drawn")

func (r *runner) run(files []string) error {
	if len(files) == 0 {
		return exit.Usagef("name a file to draw, such as hero.pxl")
	}
	if len(files) > 1 && r.o.output != "" {
		return exit.Usagef("-o needs exactly one FILE, got %d", len(files))
	}
	switch ext := strings.ToLower(filepath.Ext(r.o.output)); {
	case r.o.atlas != "" || r.o.all || r.o.output == "-" || ext == "" || ext == ".png" || ext == ".gif":
	default:
		return exit.Usagef("-o %s: only .png and .gif can be written", r.o.output)
	}
	if err := r.checkShow(); err != nil {
		return err
	}
	if r.o.atlas != "" && (!slices.Contains(frames.Formats(), r.o.atlas) || r.o.padding < 0 || r.o.padding > 256 || r.o.maxSize < 1 || r.o.maxSize > pxl.MaxOutSide) {
		return exit.Usagef("--atlas must be one of %s, --padding 0 to 256, --max-size 1 to %d", strings.Join(frames.Formats(), ", "), pxl.MaxOutSide)
	}
	if r.o.json && r.o.output == "-" {
		return exit.Usagef("--json and -o - both write to standard output; give -o a file name")
	}
	dialect, ok := pxl.ParseDialect(r.o.dialect)
	if !ok {
		return exit.Usagef("--dialect %q is neither documented nor reference", r.o.dialect)
	}
	draw, err := r.o.draw(r.strength)
	if err != nil {
		return err
	}
	for _, f := range files {
		doc, err := pixelsrc.Load(f, dialect)
		if err != nil {
			return err
		}
		if err := r.file(f, doc, draw); err != nil {
			return err
		}
	}
	if r.o.json {
		e := json.NewEncoder(console.JSON(r.out))
		e.SetIndent("", "  ")
		var all any = r.reports
		if len(r.reports) == 1 {
			all = r.reports[0]
		}
		if err := e.Encode(all); err != nil {
			return fmt.Errorf("print the report: %w", err)
		}
	}
	if r.failed {
		return errTold
	}
	return nil
}

// file draws or lists one document.
func (r *runner) file(name string, doc *pxl.Document, o pxl.RenderOptions) error {
	rep := report{File: name, Diagnostics: []diagnostic{}}
	var err error
	switch {
	case r.o.list:
		rep.Objects = objects(doc)
		r.tell(&rep, name, doc.Check())
		if !r.o.json {
			r.print(rep.Objects)
		}
	case r.o.atlas != "":
		err = r.atlas(&rep, name, doc, o)
	case r.o.all:
		err = r.all(&rep, name, doc, o)
	default:
		err = r.picture(&rep, name, doc, o)
	}
	r.reports = append(r.reports, rep)
	return err
}

// tell reports diagnostics; in strict mode any of them fails the call.
func (r *runner) tell(rep *report, file string, list []pxl.Diagnostic) (ok bool) {
	for _, d := range list {
		rep.Diagnostics = append(rep.Diagnostics, diagnostic{d.Line, d.Column, d.Severity.String(), d.Code, d.Object, d.Message, d.Help})
		if !r.o.json {
			fmt.Fprintf(r.err, "%s:%s\n", file, d)
		}
	}
	if r.o.strict && len(list) > 0 {
		r.failed = true
		return false
	}
	return true
}

// objects lists what a document holds, with the sizes it is drawn at.
func objects(doc *pxl.Document) []object {
	list := []object{}
	sizes := doc.Sizes()
	for i, o := range doc.Objects() {
		list = append(list, object{Kind: string(o.Kind), Name: o.Name, Line: o.Line, Width: sizes[i].X, Height: sizes[i].Y})
	}
	return list
}

func (r *runner) print(list []object) {
	if len(list) == 0 {
		fmt.Fprintln(r.err, "no objects")
	}
	kind, name := 0, 0
	for _, o := range list {
		kind, name = max(kind, len(o.Kind)), max(name, len(sanitize.Line(o.Name)))
	}
	for _, o := range list {
		size := ""
		if o.Width > 0 {
			size = fmt.Sprintf("%d×%d", o.Width, o.Height)
		}
		fmt.Fprintln(r.out, strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s", kind, o.Kind, name, sanitize.Line(o.Name), size), " "))
	}
}

// picture draws one object and writes it.
func (r *runner) picture(rep *report, file string, doc *pxl.Document, o pxl.RenderOptions) error {
	res, ok, err := r.drawn(rep, file, doc, o, doc.Diagnostics())
	if err != nil || !ok {
		return err
	}
	if r.o.show != "" {
		return r.show(res)
	}
	out := r.o.output
	if out == "" {
		out = defaultName(file, res, r.o.name != "" || r.o.kind != "", r.sheet)
	}
	p, err := r.save(file, out, res)
	rep.Picture = &p
	return err
}

// drawn draws one object and tells what is wrong with it. ok is false when
// nothing is to be written.
func (r *runner) drawn(rep *report, file string, doc *pxl.Document, o pxl.RenderOptions, about []pxl.Diagnostic) (res *pxl.Result, ok bool, err error) {
	res, err = doc.Render(o)
	if res != nil {
		about = append(about, res.Diagnostics...)
	}
	ok = r.tell(rep, file, about)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", file, err)
	}
	if d, bad := res.Impossible(); bad {
		return nil, false, fmt.Errorf("%s:%d: cannot draw %s: %s; %s", file, d.Line, d.Object, d.Message, d.Help)
	}
	return res, ok, nil
}

// all draws every object into a folder.
func (r *runner) all(rep *report, file string, doc *pxl.Document, o pxl.RenderOptions) error {
	if r.o.name != "" || r.o.show != "" || r.o.output == "-" {
		return exit.Usagef("--all writes a file for every object; it cannot be used with --name, --show or -o -")
	}
	if r.o.output != "" {
		if err := os.MkdirAll(r.o.output, 0o755); err != nil {
			return fmt.Errorf("write to %s: %w", r.o.output, reason(err))
		}
	}
	taken := map[string]bool{}
	about := doc.Diagnostics()
	for _, ob := range doc.Objects() {
		particle := ob.Kind == pxl.KindParticle && doc.Dialect() == pxl.Documented
		if !particle && !slices.Contains(pxl.Drawable(), ob.Kind) || r.o.kind != "" && string(ob.Kind) != r.o.kind {
			continue
		}
		o.Kind, o.Name = ob.Kind, ob.Name
		if particle {
			o.Kind = pxl.KindAnimation
		}
		res, ok, err := r.drawn(rep, file, doc, o, about)
		if err != nil {
			return err
		}
		about = nil
		if !ok {
			continue
		}
		name := defaultName(file, res, true, r.sheet)
		for n, ext := 2, filepath.Ext(name); taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(defaultName(file, res, true, r.sheet), ext), n, ext)
		}
		taken[strings.ToLower(name)] = true
		p, err := r.save(file, filepath.Join(r.o.output, name), res)
		if err != nil {
			return err
		}
		rep.Pictures = append(rep.Pictures, p)
	}
	if len(taken) == 0 && !r.failed {
		return fmt.Errorf("%s: nothing to draw", file)
	}
	return nil
}

// save writes a picture to a file.
func (r *runner) save(file, out string, res *pxl.Result) (picture, error) {
	var err error
	var data bytes.Buffer
	b := res.Image().Bounds()
	p := picture{
		Kind: string(res.Kind), Name: res.Name, Output: out, Native: [2]int{res.Native.X, res.Native.Y}, Scale: res.Scale,
		Antialias: res.Antialias, Frames: len(res.Frames), DurationMS: res.Duration().Milliseconds(), Loop: res.Loop,
	}
	switch {
	case strings.EqualFold(filepath.Ext(out), ".gif") || (out == "-" && res.Kind == pxl.KindAnimation && !r.sheet):
		for _, f := range res.Frames {
			b = b.Union(f.Image.Bounds())
		}
		err = res.GIF(&data)
	case r.sheet || res.Kind == pxl.KindAnimation:
		var m *image.NRGBA
		if m, err = res.Sheet(r.o.sheet); err == nil {
			b = m.Bounds()
			data.Write(pixelsrc.PNG(m))
		}
	default:
		data.Write(pixelsrc.PNG(res.Image()))
	}
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	p.Width, p.Height = b.Dx(), b.Dy()
	return p, r.write(out, data.Bytes(), fmt.Sprintf("%s %q, %d×%d%s", p.Kind, p.Name, p.Width, p.Height, moving(res)))
}

// moving describes how an animation runs.
func moving(res *pxl.Result) string {
	if res.Kind != pxl.KindAnimation {
		return ""
	}
	return fmt.Sprintf(", %s, %s", humanize.Count(len(res.Frames), "frame"), humanize.Took(res.Duration()))
}

// defaultName is the file to write when none was named: that of the document, or of the object when one was asked for.
func defaultName(file string, res *pxl.Result, asked, sheet bool) string {
	stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if asked {
		stem += "-" + strings.Map(func(c rune) rune {
			if strings.ContainsRune(`/\:*?"<>|`, c) || c < ' ' {
				return '_'
			}
			return c
		}, res.Name)
	}
	if res.Kind == pxl.KindAnimation && !sheet {
		return stem + ".gif"
	}
	return stem + ".png"
}

// write stores an output and says so, unless it goes to standard output.
func (r *runner) write(name string, data []byte, what string) error {
	if name == "-" {
		if _, err := console.Bytes(r.out).Write(data); err != nil {
			return fmt.Errorf("write the picture: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, reason(err))
	}
	if !r.o.json {
		fmt.Fprintf(r.out, "%s: %s\n", name, what)
	}
	return nil
}

// atlas packs the sprites; the pages after the first get a number in their names.
func (r *runner) atlas(rep *report, file string, doc *pxl.Document, o pxl.RenderOptions) error {
	if r.o.output == "-" {
		return exit.Usagef("an atlas consists of several files; give -o a file name")
	}
	pages, anims, tooLarge, diags, err := doc.Atlas(o, frames.Packing{Max: r.o.maxSize, Padding: r.o.padding, PowerOfTwo: r.o.powerOfTwo})
	ok := r.tell(rep, file, append(doc.Diagnostics(), diags...))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if !ok {
		return nil
	}
	if len(pages) == 0 {
		return fmt.Errorf("%s: no sprite to pack", file)
	}
	for _, name := range tooLarge {
		fmt.Fprintf(r.err, "%s: skipped sprite %q, which is larger than a page\n", file, name)
	}
	stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + "-atlas"
	if r.o.output != "" {
		stem = strings.TrimSuffix(r.o.output, filepath.Ext(r.o.output))
	}
	for i, p := range pages {
		name := stem
		if i > 0 {
			name = fmt.Sprintf("%s-%d", stem, i+1)
		}
		text, ext, err := p.Describe(r.o.atlas, filepath.Base(name)+".png", anims)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		b := p.Image.Bounds()
		sprites := "sprites"
		if len(p.Sprites) == 1 {
			sprites = "sprite"
		}
		what := fmt.Sprintf("atlas of %d %s, %d×%d", len(p.Sprites), sprites, b.Dx(), b.Dy())
		if err := r.write(name+".png", pixelsrc.PNG(p.Image), what); err != nil {
			return err
		}
		if err := r.write(name+ext, append(bytes.TrimRight(text, "\n"), '\n'), "description of "+filepath.Base(name)+".png"); err != nil {
			return err
		}
	}
	return nil
}
