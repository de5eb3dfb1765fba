package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// commands splits a stream of kitty commands into their keys and the joined payload.
func commands(t *testing.T, s string) (keys []string, payload string) {
	t.Helper()
	for s != "" {
		rest, ok := strings.CutPrefix(s, "\x1b_G")
		if !ok {
			t.Fatalf("something that is no command: %.40q", s)
		}
		body, after, ok := strings.Cut(rest, "\x1b\\")
		if !ok {
			t.Fatal("a command without end")
		}
		k, p, _ := strings.Cut(body, ";")
		if len(p) > 4096 {
			t.Errorf("a chunk of %d bytes", len(p))
		}
		if after != "" && len(p)%4 != 0 {
			t.Errorf("a chunk of %d bytes before the last", len(p))
		}
		keys, payload, s = append(keys, k), payload+p, after
	}
	return keys, payload
}

func TestKittyTransmit(t *testing.T) {
	img := spriteSubject(64, true)
	img.SetNRGBA(0, 0, color.NRGBA{200, 100, 50, 128}) // straight alpha must stay straight
	noise := photoSubject(200, 100)                    // several chunks
	for _, row := range []struct {
		name string
		k    Kitty
		img  *image.NRGBA
	}{{"zlib", Kitty{}, img}, {"PNG", Kitty{Small: true}, img}, {"zlib, long", Kitty{}, noise}, {"PNG, long", Kitty{Small: true}, noise}} {
		t.Run(row.name, func(t *testing.T) {
			keys, payload := commands(t, row.k.TransmitVirtual(row.k.Payload(row.img), 0x2a000010, 32, 16))
			if !strings.HasPrefix(keys[0], "a=T,U=1,i=704643088,c=32,r=16,q=2,") {
				t.Errorf("keys %q", keys[0])
			}
			for i, k := range keys {
				last := i == len(keys)-1
				if !last && !strings.Contains(k, "m=1") || last && !strings.Contains(k, "m=0") || !strings.Contains(k, "q=2") {
					t.Errorf("command %d of %d has keys %q", i+1, len(keys), k)
				}
			}
			if row.img == noise && len(keys) < 3 {
				t.Errorf("%d chunks, wanted several", len(keys))
			}
			data, err := base64.StdEncoding.DecodeString(payload)
			if err != nil {
				t.Fatal(err)
			}
			var pix []byte
			if row.k.Small {
				back, err := png.Decode(bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				pix = ToNRGBA(back).Pix
			} else {
				z, err := zlib.NewReader(bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				if pix, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(pix, row.img.Pix) {
				t.Error("the pixels came back changed")
			}
		})
	}
}

func TestKittyInTmux(t *testing.T) {
	k := Kitty{Tmux: true}
	s := k.TransmitVirtual(k.Payload(photoSubject(100, 100)), 16, 10, 5)
	n := 0
	var inner strings.Builder
	for s != "" {
		rest, ok := strings.CutPrefix(s, "\x1bPtmux;")
		if !ok {
			t.Fatalf("not wrapped: %.40q", s)
		}
		end := strings.Index(rest, "\x1b\\")
		for end > 0 && rest[end-1] == '\x1b' { // a doubled escape is inside
			next := strings.Index(rest[end+1:], "\x1b\\")
			end += 1 + next
		}
		inner.WriteString(strings.ReplaceAll(rest[:end], "\x1b\x1b", "\x1b"))
		s = rest[end+2:]
		n++
	}
	if keys, _ := commands(t, inner.String()); len(keys) != n || n < 2 {
		t.Errorf("%d wrappers for %d commands; each needs its own", n, len(keys))
	}
}

func TestKittyCommands(t *testing.T) {
	for _, row := range []struct{ name, got, want string }{
		{"delete frees virtual placements too", Kitty{}.Delete(17), "\x1b_Ga=d,d=I,i=17,q=2\x1b\\"},
		{"place under the text, cursor as it was", Kitty{}.Place(17, 4, 2, 10, 5), "\x1b7\x1b[3;5H\x1b_Ga=p,i=17,p=1,c=10,r=5,C=1,z=-1073741825,q=2\x1b\\\x1b8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.got != row.want {
				t.Errorf("got %q, want %q", row.got, row.want)
			}
		})
	}
}

func TestPlaceholders(t *testing.T) {
	ids := NewIDs(0x7f)
	seen := map[uint32]bool{}
	for range 240 {
		id := ids.Next()
		if low := id & 0xFF; low < 16 || id>>8&0xFFFF != 0 || id>>24 != 0x7f || seen[id] {
			t.Fatalf("id %#x", id)
		}
		seen[id] = true
	}
	const id = 0x7f0000c8
	lines := Placeholders(id, 5, 3)
	if len(lines) != 3 {
		t.Fatalf("%d rows", len(lines))
	}
	for y, line := range lines {
		if w := ansi.StringWidth(line); w != 5 {
			t.Errorf("row %d is %d cells wide", y, w)
		}
		body, ok := strings.CutPrefix(line, "\x1b[38;5;200m")
		body, end := strings.CutSuffix(body, "\x1b[m")
		if !ok || !end {
			t.Fatalf("row %d does not carry the id as a palette colour: %q", y, line)
		}
		for x := range 5 {
			want := []rune{kitty.Placeholder, kitty.Diacritic(y), kitty.Diacritic(x), kitty.Diacritic(0x7f)}
			if got := []rune(body)[4*x : 4*x+4]; string(got) != string(want) {
				t.Errorf("cell %d, %d is %U, want %U", x, y, got, want)
			}
		}
		// Cut anywhere, what is left still names its own cells.
		if cut := ansi.TruncateLeft(line, 2, ""); !strings.Contains(cut, string(kitty.Diacritic(2))) || ansi.StringWidth(cut) != 3 {
			t.Errorf("cut row %q", cut)
		}
	}
	if n := len(Placeholders(id, 400, 400)); n != maxPlaceholders {
		t.Errorf("%d rows of placeholders, there are marks for %d", n, maxPlaceholders)
	}
}

// unsixel decodes what this package writes.
func unsixel(t *testing.T, s string) *image.NRGBA {
	t.Helper()
	body, ok := strings.CutPrefix(s, "\x1bP0;1;0q\"1;1;")
	if !ok || !strings.HasSuffix(body, "\x1b\\") {
		t.Fatalf("no sixels: %.40q", s)
	}
	body = strings.TrimSuffix(body, "\x1b\\")
	number := func() int {
		n := 0
		for n < len(body) && body[n] >= '0' && body[n] <= '9' {
			n++
		}
		v, err := strconv.Atoi(body[:n])
		if err != nil {
			t.Fatalf("no number at %.20q", body)
		}
		body = body[n:]
		return v
	}
	skip := func() { body = body[1:] }
	w := number()
	skip()
	img := image.NewNRGBA(image.Rect(0, 0, w, number()))
	palette := map[int]color.NRGBA{}
	x, y, now := 0, 0, 0
	for body != "" {
		c := body[0]
		skip()
		switch c {
		case '#':
			now = number()
			if strings.HasPrefix(body, ";2;") {
				var v [3]uint8
				skip()
				skip()
				for i := range v {
					skip()
					v[i] = uint8((number()*255 + 50) / 100)
				}
				palette[now] = color.NRGBA{v[0], v[1], v[2], 255}
			}
		case '$':
			x = 0
		case '-':
			x, y = 0, y+6
		default:
			n := 1
			if c == '!' {
				n = number()
				c = body[0]
				skip()
			}
			for range n {
				for dy := range 6 {
					if (c-'?')>>dy&1 != 0 {
						img.SetNRGBA(x, y+dy, palette[now])
					}
				}
				x++
			}
		}
	}
	return img
}

func TestSixel(t *testing.T) {
	sprite := Scale(spriteSubject(24, true), 3)
	for _, row := range []struct {
		name      string
		img       *image.NRGBA
		registers int
		worst     int     // of a channel, of 255
		psnr      float64 // at least
	}{
		{"a sprite's own colours, off by rounding", sprite, 256, 2, 40},
		{"a page with more colours than registers", photoSubject(160, 96), 64, 255, 28},
		{"256 registers", photoSubject(160, 96), 256, 255, 31},
	} {
		t.Run(row.name, func(t *testing.T) {
			back := unsixel(t, Sixel(row.img, row.registers))
			compareSixel(t, row.img, back, row.worst, row.psnr)
			// The strips give the same picture, row by row of cells.
			const cellH = 20
			strips := sixelStrips(row.img, cellH, row.registers)
			if want := (row.img.Bounds().Dy() + cellH - 1) / cellH; len(strips) != want {
				t.Fatalf("%d strips, want %d", len(strips), want)
			}
			for i, strip := range strips {
				part := unsixel(t, strip)
				compareSixel(t, rowOf(row.img, i, cellH), part, row.worst, 0)
			}
			if again := Sixel(row.img, row.registers); again != Sixel(row.img, row.registers) {
				t.Error("other bytes for the same picture")
			}
		})
	}
}

func compareSixel(t *testing.T, img, back *image.NRGBA, worst int, least float64) {
	t.Helper()
	if img.Bounds() != back.Bounds() {
		t.Fatalf("size %v, want %v", back.Bounds(), img.Bounds())
	}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			p, q := img.NRGBAAt(x, y), back.NRGBAAt(x, y)
			if (p.A >= opaqueFrom) != (q.A == 255) {
				t.Fatalf("pixel %d, %d: %v came back as %v", x, y, p, q)
			}
			if p.A < opaqueFrom {
				continue
			}
			for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B)} {
				if max(d, -d) > worst {
					t.Fatalf("pixel %d, %d: %v came back as %v", x, y, p, q)
				}
			}
		}
	}
	if img.Opaque() && least > 0 {
		if psnr, _, _ := fidelity(img, back); psnr < least {
			t.Errorf("%.1f dB, wanted %.1f", psnr, least)
		}
	}
}

func TestITerm2(t *testing.T) {
	img := spriteSubject(40, true)
	strips := iTerm2Strips(img, 4, 20)
	if len(strips) != 2 {
		t.Fatalf("%d strips", len(strips))
	}
	for i, s := range strips {
		head, data, ok := strings.Cut(strings.TrimSuffix(s, "\a"), ":")
		if !ok || !strings.HasPrefix(head, "\x1b]1337;File=inline=1;size=") || !strings.Contains(head, ";width=4;height=1;doNotMoveCursor=1;preserveAspectRatio=0") {
			t.Errorf("head %q", head)
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if want := rowOf(img, i, 20); exactShare(want, ToNRGBA(back)) != 1 {
			t.Errorf("strip %d came back changed", i)
		}
	}
}

// A file has a palette while the colours fit into one, and is exact with and without.
func TestPNGWithPalette(t *testing.T) {
	for _, row := range []struct {
		colours int
		palette bool
	}{{0, true}, {1, true}, {2, true}, {17, true}, {256, true}, {257, false}} {
		t.Run(strconv.Itoa(row.colours), func(t *testing.T) {
			img := image.NewNRGBA(image.Rect(0, 0, 40, 10))
			for i := range row.colours {
				img.SetNRGBA(i%40, i/40, color.NRGBA{uint8(i), uint8(i >> 8), 7, uint8(255 - i%200)})
			}
			if row.colours >= 256 { // the rest is not another colour
				for i := row.colours; i < 400; i++ {
					img.SetNRGBA(i%40, i/40, img.NRGBAAt(0, 0))
				}
			}
			back, err := png.Decode(bytes.NewReader(encodePNG(img)))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := back.(*image.Paletted); ok != row.palette {
				t.Errorf("the file is a %T", back)
			}
			if !bytes.Equal(ToNRGBA(back).Pix, img.Pix) {
				t.Error("the pixels came back changed")
			}
		})
	}
}
