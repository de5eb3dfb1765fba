package pxl

import (
	"strconv"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// Kind is what an object of a document is; its text is the value of its `type` key.
type Kind string

// The kinds of object.
const (
	KindPalette     Kind = "palette"
	KindSprite      Kind = "sprite"
	KindVariant     Kind = "variant"
	KindComposition Kind = "composition"
	KindAnimation   Kind = "animation"
	KindParticle    Kind = "particle"
	KindTransform   Kind = "transform"
	KindImport      Kind = "import"
	KindStateRules  Kind = "state-rules"
)

// Kinds lists every kind of object.
func Kinds() []Kind {
	return []Kind{
		KindPalette, KindSprite, KindVariant, KindComposition, KindAnimation,
		KindParticle, KindTransform, KindImport, KindStateRules,
	}
}

// Object is one object of a document. Exactly the pointer that belongs to its kind
// is set; transforms and imports only have their node. Everything an
// Object points to belongs to the document and must not be changed.
type Object struct {
	Kind         Kind
	Name         string
	Line, Column int
	Node         *json5.Node

	Palette     *Palette
	Sprite      *Sprite
	Variant     *Variant
	Composition *Composition
	Animation   *Animation
	StateRules  *StateRules
	Particle    *Particle
}

// title names the object in a diagnostic, such as `sprite "hero"`.
func (o *Object) title() string {
	if o.Kind == KindImport {
		return "import from " + strconv.Quote(o.Name)
	}
	return string(o.Kind) + " " + strconv.Quote(o.Name)
}

// Entry is one colour of a palette as written; keys that start with -- are variables.
type Entry struct {
	Token, Value string
	Pos          int32 // byte offset of the key
}

// Palette maps tokens to colour strings.
type Palette struct {
	Name      string
	Colors    []Entry
	Ramps     []Ramp
	Roles     []TokenRole
	Relations []Relation
	Antialias *Antialias
	pos       int32
}

// Ramp makes shadow and highlight tokens from a base colour.
type Ramp struct {
	Name, Base        string
	Steps             int
	Shadow, Highlight *Shift
	Pos               int32
}

// Shift is what one step of a ramp adds: percent of lightness, degrees of hue, percent of saturation.
type Shift struct{ Lightness, Hue, Saturation float64 }

// TokenRole gives a token a role: boundary, anchor, fill, shadow or highlight.
type TokenRole struct {
	Token, Role string
	Pos         int32
}

// Relation says how a token relates to another: derives-from, contained-within, adjacent-to or paired-with.
type Relation struct {
	Token, Type, Target string
	Pos                 int32
}

// PaletteRef is a palette as a sprite names it: inline entries, or a name.
type PaletteRef struct {
	Name   string
	Inline []Entry
	IsMap  bool
	Pos    int32
}

// Sprite is a picture made of regions.
type Sprite struct {
	Name       string
	Size       *[2]int
	Palette    *PaletteRef
	Source     string
	Regions    []Region
	HasRegions bool
	Transform  []Op
	NineSlice  *NineSlice
	Antialias  *Antialias
	StateRules string
	Background string
	Metadata   Metadata
	pos        int32
	sizePos    int32
}

// NineSlice is the widths of the borders that do not stretch.
type NineSlice struct{ Left, Right, Top, Bottom int }

// BoxMeta is a named box of a sprite's metadata.
type BoxMeta struct {
	Name       string
	X, Y, W, H int
	None       bool // written as null
}

// Metadata is what a sprite carries for export only.
type Metadata struct {
	Origin, AttachIn, AttachOut *[2]int
	Boxes                       []BoxMeta
}

// Antialias is an antialias configuration; a nil member was not given.
type Antialias struct {
	Enabled    *bool
	Algorithm  string
	Strength   *float64
	AnchorMode string
	Gradients  *bool
	Contain    *bool
}

// ShapeKind is the primitive or compound a region is drawn from.
type ShapeKind uint8

// The shapes, in the order in which they win when a region has several.
const (
	ShapeNone ShapeKind = iota
	ShapePoints
	ShapeLine
	ShapeRect
	ShapeStroke
	ShapeEllipse
	ShapeCircle
	ShapePolygon
	ShapePath
	ShapeFill
	ShapeShadow
	ShapeUnion
	ShapeBase
	ShapeIntersect
	ShapeOutline
	ShapeBackground
)

// String is the key that makes the shape.
func (k ShapeKind) String() string {
	return [...]string{
		"none", "points", "line", "rect", "stroke", "ellipse", "circle", "polygon", "path", "fill",
		"auto-shadow", "union", "base", "intersect", "auto-outline", "background",
	}[k]
}

// ShapeKeys lists the keys that make the shape of a region.
func ShapeKeys() (keys []string) {
	for k := ShapePoints; k < ShapeBackground; k++ {
		keys = append(keys, k.String())
	}
	return keys
}

// Region is one shape of a sprite; its name is the token it is painted with.
type Region struct {
	Token    string
	Pos      int32
	Shape    ShapeKind
	Points   []shape.Point // of points, line, polygon
	Box      [4]int        // of rect, stroke (x y w h), ellipse and circle (cx cy rx ry)
	Text     string        // of path, fill, auto-shadow, auto-outline
	Subs     []Region      // of union, intersect
	Base     *Region
	Minus    []Region // what base loses
	Z        *int
	Role     string
	Except   []string
	Symmetry string
	Axis     *int // numeric symmetry
	More     *Modifiers
	refs     bool // own keys hold fill, auto-shadow or auto-outline
	several  bool // more than one shape was given
}

// Modifiers is what few regions have.
type Modifiers struct {
	Thickness   *int
	Offset      *[2]int
	Round       int
	X, Y        *[2]int
	Repeat      *[2]int
	Spacing     [2]int
	Alternate   bool
	Transform   string
	JitterX     *[2]int
	JitterY     *[2]int
	Seed        uint64
	SeedPoint   *[2]int
	Within      string
	AdjacentTo  string
	Antialias   bool
	transformAt int32
}

// Variant is a sprite in other colours.
type Variant struct {
	Name, Base string
	Palette    []Entry
	PaletteRef string // a palette's name, when it is not a map
	Transform  []Op
	pos        int32
	basePos    int32
}

// Symbol is one entry of a composition's `sprites`.
type Symbol struct {
	Key, Name string
	None      bool
	Pos       int32
}

// Composition places sprites on a canvas.
type Composition struct {
	Name     string
	Base     string
	Size     *[2]int
	CellSize [2]int
	Symbols  []Symbol
	Layers   []Layer
	pos      int32
}

// Layer is one layer of a composition: a map of cells, or one sprite at a place.
type Layer struct {
	Name, Fill  string
	Map         []string
	HasMap      bool
	Sprite      string
	X, Y        int
	Transform   []Op
	Blend       string
	Opacity     float64
	OpacityText string
	HasOpacity  bool
	Pos, MapPos int32
	blendPos    int32
	opacityPos  int32
}

// StateRules change how tokens look in a state.
type StateRules struct {
	Name  string
	Rules []StateRule
}

// StateRule is one selector and what it changes; a nil member is left as it is.
type StateRule struct {
	Selector  string
	Color     string
	Filter    string
	Shadow    string
	Animation string
	Transform string
	Visible   *bool
	Z         *int
	Opacity   *float64
	Pos       int32
}
