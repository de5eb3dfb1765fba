package pxl

import (
	"context"
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// Dialect chooses between everything the format guide teaches and exactly what the
// reference engine draws.
type Dialect uint8

// The two dialects.
const (
	Documented Dialect = iota
	Reference
)

// String is the dialect's name on the command line.
func (d Dialect) String() string {
	if d == Reference {
		return "reference"
	}
	return "documented"
}

// ParseDialect reads a dialect's name; "" is Documented.
func ParseDialect(name string) (Dialect, bool) {
	switch name {
	case "", "documented":
		return Documented, true
	case "reference":
		return Reference, true
	}
	return Documented, false
}

// Options says how to read a document.
type Options struct {
	Dialect Dialect
	// Include gives the text of a file named by @include, relative to the document.
	// It enforces the path policy and answers with an error that wraps
	// fs.ErrNotExist when there is no such file. Nil refuses every include.
	Include func(path string) ([]byte, error)
	// Context ends the work on the document: what draws or checks it returns soon
	// after, and what it returns is incomplete. Nil: nothing does.
	Context context.Context //nolint:containedctx // a document is read and drawn for one call
	// Imported is text of other files that belongs to the document: its objects
	// are found by name, but are not listed and nothing is told about them.
	Imported string
	// Notes are diagnostics about the text from before it was parsed.
	Notes []Diagnostic
}

// Document is a parsed text. It is safe for concurrent use.
type Document struct {
	dialect Dialect
	include func(path string) ([]byte, error)
	ctx     context.Context //nolint:containedctx // see Options
	text    string
	own     int // bytes of text that are not imported
	lines   *json5.Lines
	objects []Object
	diags   []Diagnostic
	notes   []Diagnostic // found on the way, told by Check only

	palettes     map[string]*Palette
	sprites      map[string]*Sprite
	variants     map[string]*Variant
	compositions map[string]*Composition
	animations   map[string]*Animation

	regionKeys []field[Region]
	opNames    map[string]opForm

	arenas sync.Pool // of *shape.Arena
	divide int       // budgets by this much; 0 is 1

	indexed sync.Once
	last    map[objectName]int // the last object of each name, see Find

	mu    sync.Mutex
	cache cache
}

// objectName is what objects are found by.
type objectName struct {
	kind Kind
	name string
}

// regionTable is the schema of a region.
func (d *Document) regionTable() []field[Region] {
	if d.regionKeys == nil {
		d.regionKeys = append(regionFields(), regionRest()...)
	}
	return d.regionKeys
}

// Parse reads a text. It never fails: what cannot be read is a diagnostic.
func Parse(text []byte, o Options) *Document {
	d := &Document{
		dialect: o.Dialect, include: o.Include, ctx: o.Context, diags: slices.Clone(o.Notes),
		palettes: map[string]*Palette{}, sprites: map[string]*Sprite{}, variants: map[string]*Variant{},
		compositions: map[string]*Composition{}, animations: map[string]*Animation{},
	}
	if len(text) > MaxSource {
		text = text[:MaxSource]
		defer func() {
			s := sink{doc: d, list: &d.diags}
			s.fail(0, CodeLimit, "split the file", "the text is longer than %d bytes; the rest is ignored", MaxSource)
		}()
	}
	d.own = len(text)
	d.text = string(text) + o.Imported
	d.lines = json5.NewLines(d.text)
	if o.Dialect == Reference {
		nodes, err := json5.ParseLines(d.text)
		for i := range nodes {
			if !d.object(&nodes[i]) {
				return d
			}
		}
		if err != nil {
			d.syntax(err)
		}
		return d
	}
	nodes, errs := json5.Parse(d.text)
	for _, err := range errs {
		d.syntax(err)
	}
	for i := range nodes {
		if d.stopped() != nil {
			break
		}
		d.object(&nodes[i])
	}
	d.diags = sortDiagnostics(d.diags)
	return d
}

func (d *Document) syntax(err *json5.Error) {
	s := sink{doc: d, list: &d.diags}
	s.fail(err.Pos, CodeSyntax, "", "invalid JSON5: %s", err.Message)
}

// Dialect is the dialect the document was read in.
func (d *Document) Dialect() Dialect { return d.dialect }

// Text is the source.
func (d *Document) Text() string { return d.text[:d.own] }

// AllObjects is Objects and what is imported. Places of the latter mean nothing.
func (d *Document) AllObjects() []Object { return d.objects }

// Objects lists the objects in the order of the text, also those of equal name.
func (d *Document) Objects() []Object { return d.objects[:d.owned()] }

// owned is how many of the objects are not imported; those come last.
func (d *Document) owned() int {
	n := len(d.objects)
	for n > 0 && int(d.objects[n-1].Node.Pos) >= d.own {
		n--
	}
	return n
}

// Diagnostics is what was found while reading; rendering and Check find more.
func (d *Document) Diagnostics() []Diagnostic { return slices.Clone(d.diags) }

// LineOf gives the line alone, which costs the same however long it is.
func (d *Document) LineOf(pos int32) int { return d.lines.Line(pos) }

// stopped tells why the work on the document is to end; nil while it may go on.
func (d *Document) stopped() error {
	if d.ctx == nil {
		return nil
	}
	return d.ctx.Err()
}

// Line gives line and column, from 1, of a byte offset such as a node's Pos.
func (d *Document) Line(pos int32) (line, column int) { return d.lines.At(pos) }

// Find gives the object that a name means: of several with one name, the last. Kind "" means any that can be drawn.
func (d *Document) Find(kind Kind, name string) (Object, bool) {
	kinds := []Kind{kind}
	if kind == "" {
		kinds = []Kind{KindSprite, KindVariant, KindComposition, KindAnimation}
	}
	d.indexed.Do(func() {
		d.last = make(map[objectName]int, len(d.objects))
		for i, o := range d.objects {
			d.last[objectName{o.Kind, o.Name}] = i
		}
	})
	for _, k := range kinds {
		if i, ok := d.last[objectName{k, name}]; ok {
			return d.objects[i], true
		}
	}
	return Object{}, false
}

// Limits on what one document may ask for.
const (
	MaxSource      = 1 << 20 // bytes of text
	MaxSide        = 4096    // pixels of a canvas
	maxArea        = 4 << 20 // pixels of a canvas
	MaxOutSide     = 8192    // pixels of a scaled picture
	MaxOutArea     = 16 << 20
	MaxFrames      = 256
	maxNesting     = 64 // of compound regions
	maxComposition = 16 // of compositions in compositions, and of variants of variants
	maxDiagnostics = 1000
	maxRampSteps   = 256
)
