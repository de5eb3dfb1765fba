package pixelsrc

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/quant"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Limits of pictures that are imported.
const (
	MaxImageBytes = 8 << 20 // of the file
	maxImageSide  = 1024
)

// ImportOptions say how a picture becomes source.
type ImportOptions struct {
	Name      string // of the sprite; made a valid name
	MaxColors int    // 2 to 256, the transparent token included
	Analyze   bool   // find roles, relationships and stacking
	Points    bool   // list points only, find no shapes
}

// Imported is a picture as source: a palette and a sprite, one object a line.
type Imported struct {
	Source  string
	Name    string
	W, H    int
	Colours int
	Notes   []string
}

// Import writes a picture as source that renders to the same pixels, or to those
// of the reduced picture when it has more colours than allowed. When ctx ends, so does
// the work, with its error.
func Import(ctx context.Context, img *image.NRGBA, o ImportOptions) (Imported, error) {
	b := img.Bounds()
	im := Imported{Name: validName(o.Name), W: b.Dx(), H: b.Dy()}
	reduced, err := quant.Reduce(ctx, img, o.MaxColors)
	if err != nil {
		return Imported{}, err
	}
	tokens, transparent := tokensOf(img, reduced)
	im.Colours = len(tokens)
	if transparent {
		im.Colours++
	}
	if reduced.Distinct > len(reduced.Palette) {
		im.Notes = append(im.Notes, fmt.Sprintf("Colours reduced from %d to %d; raise max_colors to keep more.", reduced.Distinct, im.Colours))
	} else {
		im.Notes = append(im.Notes, "Lossless: every pixel is kept.")
	}
	k := upscaled(img)
	if k > 1 && reduced.Distinct > 1 {
		im.Notes = append(im.Notes, fmt.Sprintf("The picture looks scaled up %s; its native size would be %dx%d.", humanize.Count(k, "time"), im.W/k, im.H/k))
	}
	var found analysis
	if o.Analyze {
		found = analyse(ctx, tokens, im.W, im.H)
		im.Notes = append(im.Notes, found.notes...)
		im.Notes = append(im.Notes, "Symmetry: "+symmetryOf(img)+".")
	}
	var out strings.Builder
	writePalette(&out, im.Name, tokens, transparent, found)
	tracer := newTracer(ctx, im.W, im.H)
	fmt.Fprintf(&out, `{"type":"sprite","name":"%s","size":[%d,%d],"palette":"%s_palette","regions":{`, im.Name, im.W, im.H, im.Name)
	done := 0
	for i, t := range tokens {
		if err := ctx.Err(); err != nil {
			return Imported{}, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		done += t.pixels
		body := pointsJSON(t.set)
		if !o.Points {
			body = tracer.region(t.set)
		}
		if o.Analyze {
			body = fmt.Sprintf(`%s,"z":%d}`, strings.TrimSuffix(body, "}"), found.z[i])
		}
		fmt.Fprintf(&out, `"%s":%s`, t.name, body)
		if out.Len() > pxl.MaxSource {
			return Imported{}, im.tooLong(k, float64(done)/float64(im.W*im.H), out.Len())
		}
	}
	out.WriteString("}}\n")
	im.Source = out.String()
	return im, ctx.Err()
}

// tooLong says what would fit, when a share of the pixels took the given bytes already.
func (im Imported) tooLong(enlarged int, share float64, bytes int) error {
	w, h := im.W/max(enlarged, 1), im.H/max(enlarged, 1)
	why := "it looks scaled up " + humanize.Count(enlarged, "time")
	if enlarged <= 1 {
		fits := math.Sqrt(pxl.MaxSource * share / float64(bytes))
		w, h, why = max(int(float64(im.W)*fits), 1), max(int(float64(im.H)*fits), 1), "roughly the largest size that fits"
	}
	return fmt.Errorf("import picture: its source would be larger than %s; scale it down to %dx%d first (%s), or lower max_colors", humanize.Bytes(pxl.MaxSource), w, h, why)
}

// token is one colour of a picture with its pixels.
type token struct {
	name   string
	colour color.NRGBA
	set    shape.Set
	pixels int
	first  int
}

// tokensOf orders the visible colours of a reduced picture: most pixels first,
// then by their first pixel.
func tokensOf(img *image.NRGBA, r quant.Result) (list []token, transparent bool) {
	b := img.Bounds()
	of := make([]token, len(r.Palette))
	for i, c := range r.Palette {
		of[i] = token{colour: c, first: -1}
	}
	for y := range b.Dy() {
		for x := 0; x < b.Dx(); {
			at := r.Of[pixel(img, x, y)]
			from := x
			for x++; x < b.Dx() && r.Of[pixel(img, x, y)] == at; x++ {
			}
			t := &of[at]
			t.set = append(t.set, shape.Run{Y: int32(y), X0: int32(from), X1: int32(x)})
			t.pixels += x - from
			if t.first < 0 {
				t.first = y*b.Dx() + from
			}
		}
	}
	for _, t := range of {
		switch {
		case t.colour.A == 0:
			transparent = true
		case t.pixels > 0:
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(p, q token) int {
		if p.pixels != q.pixels {
			return q.pixels - p.pixels
		}
		return p.first - q.first
	})
	for i := range list {
		list[i].name = fmt.Sprintf("c%d", i+1)
	}
	return list, transparent
}

// pixel reads a pixel; all transparent ones are the zero colour.
func pixel(img *image.NRGBA, x, y int) color.NRGBA {
	p := img.Pix[y*img.Stride+4*x:]
	if p[3] == 0 {
		return color.NRGBA{}
	}
	return color.NRGBA{R: p[0], G: p[1], B: p[2], A: p[3]}
}

func writePalette(out *strings.Builder, name string, tokens []token, transparent bool, found analysis) {
	fmt.Fprintf(out, `{"type":"palette","name":"%s_palette","colors":{`, name)
	sep := ""
	if transparent || len(tokens) == 0 {
		out.WriteString(`"_":"#00000000"`)
		sep = ","
	}
	for _, t := range tokens {
		fmt.Fprintf(out, `%s"%s":"%s"`, sep, t.name, colour.Hex(t.colour))
		sep = ","
	}
	out.WriteByte('}')
	section := func(key string, entry func(i int) string) {
		sep := `,"` + key + `":{`
		for i := range tokens {
			if e := entry(i); e != "" {
				out.WriteString(sep + `"` + tokens[i].name + `":` + e)
				sep = ","
			}
		}
		if sep == "," {
			out.WriteByte('}')
		}
	}
	if found.roles != nil {
		section("roles", func(i int) string {
			if found.roles[i] == "" {
				return ""
			}
			return `"` + found.roles[i] + `"`
		})
		section("relationships", func(i int) string {
			r := found.relations[i]
			if r.kind == "" {
				return ""
			}
			return fmt.Sprintf(`{"type":"%s","target":"%s"}`, r.kind, tokens[r.to].name)
		})
	}
	out.WriteString("}\n")
}

// validName makes a sprite's name: lower case letters, digits and underscores,
// a letter first.
func validName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() >= 64 {
			break
		}
	}
	if name := strings.Trim(b.String(), "_"); name != "" {
		return name
	}
	return "imported_sprite"
}

// DecodePNG reads a PNG picture of at most 1024×1024 pixels.
func DecodePNG(data []byte) (*image.NRGBA, error) {
	const failed = "Failed to decode image: "
	if !bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) {
		return nil, sentence(failed + "it is not a PNG; convert it to PNG first")
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, sentence(failed + err.Error())
	}
	if c.Width > maxImageSide || c.Height > maxImageSide {
		return nil, fmt.Errorf("image is too large: %dx%d pixels, at most %dx%d; scale it down first", c.Width, c.Height, maxImageSide, maxImageSide)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, sentence(failed + err.Error())
	}
	return toNRGBA(img), nil
}

// toNRGBA converts without going through premultiplied colours where the file
// has none; of 16 bits the high byte counts.
func toNRGBA(img image.Image) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	switch src := img.(type) {
	case *image.NRGBA:
		for y := range b.Dy() {
			copy(out.Pix[y*out.Stride:], src.Pix[y*src.Stride:][:4*b.Dx()])
		}
	case *image.NRGBA64:
		for y := range b.Dy() {
			in := src.Pix[y*src.Stride:]
			for i := range 4 * b.Dx() {
				out.Pix[y*out.Stride+i] = in[2*i]
			}
		}
	default:
		draw.Draw(out, out.Rect, img, b.Min, draw.Src)
	}
	return out
}

// Summary is a line about what was imported, and the notes.
func (im Imported) Summary() string {
	s := fmt.Sprintf("Imported: %s (%dx%d, %s)", im.Name, im.W, im.H, humanize.Count(im.Colours, "color"))
	for _, n := range im.Notes {
		s += "\n" + n
	}
	return s
}
