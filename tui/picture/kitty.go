package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// ModeKitty shows pictures with kitty's protocol and placeholder cells.
const ModeKitty Mode = "kitty"

// kittyCells shows pictures with kitty's protocol wherever there are placeholder cells.
type kittyCells struct{ silent }

func (kittyCells) mode() Mode { return ModeKitty }

func (kittyCells) query() (ask string, through bool) {
	return "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", true
}

// Kitty records the payload of the reply to the kitty query: OK or an error.
func (p *Probe) Kitty(payload string) {
	if payload == "" {
		payload = "(empty)"
	}
	p.kitty = payload
}

func (kittyCells) facts(p *Probe) []Fact {
	return []Fact{{"kitty pictures", p.said(p.kitty), "OK: understands the protocol"}}
}

// detect needs both the reply and the name: some terminals reply OK but lack placeholders.
func (w kittyCells) detect(p *Probe, t terminal, c Caps) verdict {
	switch {
	case p.kitty != "OK" || p.name == "" || t.name == "" || c.Version < t.placeholders:
		return verdict{}
	case w.refused(c.Depth) != "":
		return verdict{stop: true, why: "kitty placeholders need 256 colours, the renderer writes " + c.Depth.String()}
	}
	return verdict{use: true, why: "it answered the kitty query and draws placeholders"}
}

func (kittyCells) refused(d Depth) string {
	if d >= Colors16 {
		return "their ids need 256 colours"
	}
	return ""
}

func (kittyCells) most(_ Caps, cols, rows int) (int, int) {
	return min(cols, maxPlaceholders), min(rows, maxPlaceholders)
}

func (kittyCells) draw(d *drawing, img *image.NRGBA, s Spec, c Caps) {
	d.payload = Kitty{Small: c.Slow || !s.Smooth}.Payload(img) // flat areas compress well
	d.lines = blankLines(s.Cols, s.Rows)
}

func (kittyCells) print(img *image.NRGBA, r Room, t Target) string {
	frame, cols, rows := frameFor(img, r, t)
	k := Kitty{Tmux: t.Tmux}
	if t.ID == 0 {
		return k.TransmitAndShow(k.Payload(frame)) + "\n"
	}
	return k.TransmitVirtual(k.Payload(frame), t.ID, cols, rows) + joined(Placeholders(t.ID, cols, rows))
}

// lines sends the picture of a place and returns its cells. If the box is unchanged, it
// reuses the id that the cells name, and the picture changes in place; otherwise it takes a
// new id.
func (kittyCells) lines(g *Gallery, s *slot) []string {
	if s.id == 0 || s.cols != s.spec.Cols || s.rows != s.spec.Rows {
		g.delete(s.old)
		s.old, s.id, s.sent = s.id, g.ids.Next(), nil
		s.cols, s.rows = s.spec.Cols, s.spec.Rows
	}
	if s.sent != s.shown {
		s.sent = s.shown
		g.send.WriteString(kittyOf(g.caps).TransmitVirtual(s.shown.payload, s.id, s.cols, s.rows))
		g.poke()
	}
	return Placeholders(s.id, s.spec.Cols, s.spec.Rows)
}

func (kittyCells) free(c Caps, id uint32) string { return kittyOf(c).Delete(id) }

func kittyOf(c Caps) Kitty { return Kitty{Tmux: c.Tmux, Small: c.Slow} }

// maxPlaceholders is the largest width and height of a placeholder picture in cells: the
// number of diacritics available for numbering rows and columns.
const maxPlaceholders = 297

// underText is the greatest z-index at which a picture is drawn below both text and cell
// backgrounds.
const underText = -1073741825

// chunk is the maximum number of base64 bytes the protocol allows in one command.
const chunk = 4096

// IDs allocates picture ids that survive a renderer limited to 256 colours: the low byte is
// a fixed palette colour (16 to 255), the top byte goes into the third diacritic, and the
// bytes between are zero. Each program uses one IDs; the top byte keeps programs apart.
type IDs struct {
	top, low uint32
}

// NewIDs returns an allocator. top should be random, so that two programs in one terminal
// do not use each other's pictures.
func NewIDs(top uint8) *IDs { return &IDs{top: uint32(max(top, 1))} }

// Next returns the next id. Ids repeat after 240 calls.
func (s *IDs) Next() uint32 {
	id := s.top<<24 | 16 + s.low
	s.low = (s.low + 1) % 240
	return id
}

// Kitty writes the commands of the kitty graphics protocol. Pictures must have exactly the
// size of their cells in device pixels, because terminals smooth pictures that they scale.
type Kitty struct {
	// Tmux wraps every command so that tmux passes it through.
	Tmux bool
	// Small trades work for size, using PNG instead of zlib. Set it for connections over ssh.
	Small bool
}

// Payload is an encoded picture that can be sent under any id.
type Payload struct{ keys, data string }

// TransmitVirtual sends a picture for placeholder cells. It shows once cells with that id
// are drawn. Sending another picture under the same id changes it in place.
func (k Kitty) TransmitVirtual(p Payload, id uint32, cols, rows int) string {
	return k.send(fmt.Sprintf("a=T,U=1,i=%d,c=%d,r=%d,q=2", id, cols, rows), p)
}

// Transmit sends a picture without showing it; see [Kitty.Place].
func (k Kitty) Transmit(p Payload, id uint32) string {
	return k.send(fmt.Sprintf("a=t,i=%d,q=2", id), p)
}

// TransmitAndShow sends a picture and shows it unscaled at the cursor, for output that
// scrolls. The cursor moves past the picture.
func (k Kitty) TransmitAndShow(p Payload) string { return k.send("a=T,q=2", p) }

// Place shows a sent picture at column x and row y (from 0), below the text: rewriting the
// cells does not damage it, and cells with a background colour cover it. Placing it again
// moves it.
func (k Kitty) Place(id uint32, x, y, cols, rows int) string {
	at := "\x1b7" + ansi.CursorPosition(x+1, y+1)
	return at + k.wrap(fmt.Sprintf("\x1b_Ga=p,i=%d,p=1,c=%d,r=%d,C=1,z=%d,q=2\x1b\\", id, cols, rows, underText)) + "\x1b8"
}

// Delete frees a picture and all its placements, including virtual ones.
func (k Kitty) Delete(id uint32) string {
	return k.wrap(fmt.Sprintf("\x1b_Ga=d,d=I,i=%d,q=2\x1b\\", id))
}

func (k Kitty) wrap(command string) string {
	if k.Tmux {
		return ansi.TmuxPassthrough(command)
	}
	return command
}

func (k Kitty) send(keys string, p Payload) string {
	payload := p.data
	var b strings.Builder
	for first := true; first || payload != ""; first = false {
		part := payload[:min(chunk, len(payload))]
		payload = payload[len(part):]
		more := 0
		if payload != "" {
			more = 1
		}
		command := fmt.Sprintf("\x1b_Gm=%d,q=2;%s\x1b\\", more, part)
		if first {
			command = fmt.Sprintf("\x1b_G%s,%s,m=%d;%s\x1b\\", keys, p.keys, more, part)
		}
		b.WriteString(k.wrap(command))
	}
	return b.String()
}

// Payload encodes a picture.
func (k Kitty) Payload(img *image.NRGBA) Payload {
	b := img.Bounds()
	asPNG := func() Payload { return Payload{"f=100", base64.StdEncoding.EncodeToString(encodePNG(img))} }
	if k.Small || b.Dx()*b.Dy() == 0 {
		return asPNG()
	}
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	if err != nil {
		return asPNG()
	}
	for y := range b.Dy() {
		_, _ = w.Write(img.Pix[y*img.Stride : y*img.Stride+4*b.Dx()]) // a bytes.Buffer never fails
	}
	_ = w.Close()
	return Payload{fmt.Sprintf("f=32,o=z,s=%d,v=%d", b.Dx(), b.Dy()), base64.StdEncoding.EncodeToString(out.Bytes())}
}

// encodePNG encodes img as PNG, with a palette if its colours fit into one, which makes the
// file at most a quarter of the size.
func encodePNG(img *image.NRGBA) []byte {
	var out bytes.Buffer
	var source image.Image = img
	if p := paletted(img); p != nil {
		source = p
	}
	// A buffer never fails, and an empty picture cannot be encoded; both are fine.
	_ = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, source)
	return out.Bytes()
}

// paletted returns img with a palette, or nil if it has more than 256 colours.
func paletted(img *image.NRGBA) *image.Paletted {
	b := img.Bounds()
	out := image.NewPaletted(image.Rect(0, 0, b.Dx(), b.Dy()), nil)
	numbers := map[color.NRGBA]uint8{}
	var last color.NRGBA
	var number uint8
	for y := range b.Dy() {
		for x := range b.Dx() {
			at := y*img.Stride + 4*x
			c := color.NRGBA{img.Pix[at], img.Pix[at+1], img.Pix[at+2], img.Pix[at+3]}
			if c != last || len(out.Palette) == 0 {
				n, ok := numbers[c]
				if !ok {
					if len(out.Palette) == 256 {
						return nil
					}
					n = uint8(len(out.Palette))
					out.Palette = append(out.Palette, c)
					numbers[c] = n
				}
				last, number = c, n
			}
			out.Pix[y*out.Stride+x] = number
		}
	}
	return out
}

// Placeholders returns the cells that show picture id, one string per row. Every cell
// carries all its diacritics, so rows can be cut, covered and scrolled. The id is a palette
// colour, which renderers with at least 256 colours pass through unchanged.
func Placeholders(id uint32, cols, rows int) []string {
	cols, rows = min(cols, maxPlaceholders), min(rows, maxPlaceholders)
	lines := make([]string, max(rows, 0))
	top := string(kitty.Diacritic(int(id >> 24)))
	colour := "\x1b[38;5;" + strconv.Itoa(int(id&0xFF)) + "m"
	var b strings.Builder
	for y := range lines {
		b.Reset()
		b.WriteString(colour)
		row := string(kitty.Placeholder) + string(kitty.Diacritic(y))
		for x := range cols {
			b.WriteString(row)
			b.WriteRune(kitty.Diacritic(x))
			b.WriteString(top)
		}
		b.WriteString("\x1b[m")
		lines[y] = b.String()
	}
	return lines
}
