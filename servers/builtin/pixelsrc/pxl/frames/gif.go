package frames

import (
	"bufio"
	"compress/lzw"
	"context"
	"encoding/binary"
	"errors"
	"image/color"
	"io"
	"math/bits"
	"time"
)

// errNone is what an animation without frames gives.
var errNone = errors.New("encode animation: it has no frames")

// GIF writes an animation, enlarged scale times; frames of different size stand at the top
// left of the common size. Delays are whole hundredths of a second, at least one. What is
// not fully transparent is opaque. loop plays it for ever, else it plays once. When ctx
// ends, so does the writing, with its error.
//
// image/gif takes all frames at once, each with a byte for every pixel; here there is one at
// a time, and its rows are enlarged as they are written.
func GIF(ctx context.Context, w io.Writer, list []Frame, scale int, loop bool) error {
	if len(list) == 0 {
		return errNone
	}
	width, height := Bounds(list)
	switch {
	case width == 0 || height == 0:
		return errors.New("encode animation: its frames are empty")
	case width*scale > 0xFFFF || height*scale > 0xFFFF:
		return errors.New("encode animation: a GIF is at most 65535 pixels wide and high; use a smaller scale")
	}
	g := gifWriter{Writer: bufio.NewWriter(writer{ctx, w}), w: width, h: height, scale: scale, row: make([]byte, width*scale)}
	shared := newIndexer(list)
	g.head(shared, len(list) > 1 && loop)
	for _, f := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := shared
		if at == nil {
			at = newIndexer([]Frame{f})
		}
		if at == nil {
			var err error
			if at, err = reduced(ctx, f.Image); err != nil {
				return err
			}
		}
		if err := g.frame(f, at, at != shared); err != nil {
			return err
		}
	}
	_ = g.WriteByte(0x3B) // its error is Flush's
	return g.Flush()
}

// gifWriter writes the parts of a GIF. An error of one of its writes is that of all that
// follow.
type gifWriter struct {
	*bufio.Writer
	w, h, scale int // of a frame, before it is enlarged
	row         []byte
	block       [256]byte // a part of the data, behind its length
}

func (g *gifWriter) number(n int) {
	_, _ = g.Writer.Write(binary.LittleEndian.AppendUint16(nil, uint16(n)))
}

// head begins the file; shared is the palette of all frames, nil if each has its own.
func (g *gifWriter) head(shared *indexer, loop bool) {
	_, _ = g.WriteString("GIF89a")
	g.number(g.w * g.scale)
	g.number(g.h * g.scale)
	flags := byte(0)
	if shared != nil {
		flags = 0x80 | shared.size()
	}
	_, _ = g.Writer.Write([]byte{flags, 0, 0})
	if shared != nil {
		g.table(shared.palette)
	}
	if loop {
		_, _ = g.WriteString("\x21\xFF\x0BNETSCAPE2.0\x03\x01\x00\x00\x00")
	}
}

func (g *gifWriter) table(p color.Palette) {
	for _, c := range p {
		c := c.(color.NRGBA)
		_, _ = g.Writer.Write([]byte{c.R, c.G, c.B})
	}
}

// frame writes a frame; own says that it comes with its palette.
func (g *gifWriter) frame(f Frame, ix *indexer, own bool) error {
	const clears, transparent = 2 << 2, 1 // the canvas before the next; entry 0 is
	_, _ = g.Writer.Write([]byte{0x21, 0xF9, 4, clears | transparent})
	g.number(int(min(max(f.Duration/(10*time.Millisecond), 1), 0xFFFF)))
	_, _ = g.Writer.Write([]byte{0, 0, 0x2C, 0, 0, 0, 0})
	g.number(g.w * g.scale)
	g.number(g.h * g.scale)
	flags := byte(0)
	if own {
		flags = 0x80 | ix.size()
	}
	_ = g.WriteByte(flags)
	if own {
		g.table(ix.palette)
	}
	width := max(2, int(ix.size())+1)
	_ = g.WriteByte(byte(width))
	blocks := &blockWriter{g: g}
	z := lzw.NewWriter(blocks, lzw.LSB, width)
	b := f.Image.Bounds()
	for y := range g.h {
		clear(g.row)
		if y < b.Dy() {
			ix.paint(g.row, f.Image.Pix[y*f.Image.Stride:][:4*b.Dx()], g.scale)
		}
		for range g.scale {
			if _, err := z.Write(g.row); err != nil {
				return err
			}
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return blocks.close()
}

// blockWriter cuts data into blocks of at most 255 bytes.
type blockWriter struct {
	g *gifWriter
	n int
}

func (b *blockWriter) Write(p []byte) (int, error) {
	all := len(p)
	for len(p) > 0 {
		n := copy(b.g.block[1+b.n:], p)
		p = p[n:]
		if b.n += n; b.n == 255 {
			if err := b.flush(); err != nil {
				return 0, err
			}
		}
	}
	return all, nil
}

func (b *blockWriter) flush() error {
	b.g.block[0] = byte(b.n)
	_, err := b.g.Writer.Write(b.g.block[:1+b.n])
	b.n = 0
	return err
}

func (b *blockWriter) close() error {
	if b.n > 0 {
		if err := b.flush(); err != nil {
			return err
		}
	}
	return b.g.WriteByte(0)
}

// size is the logarithm of the palette's length, less one, as a GIF has it.
func (ix *indexer) size() byte { return byte(bits.Len(uint(len(ix.palette)-1)) - 1) }

// paint writes the entries for a row of pixels, each scale times.
func (ix *indexer) paint(row, in []byte, scale int) {
	var last color.NRGBA
	var at uint8
	for x := range len(in) / 4 {
		c := color.NRGBA{R: in[4*x], G: in[4*x+1], B: in[4*x+2], A: in[4*x+3]}
		if c != last {
			last, at = c, ix.of[flat(c)]
		}
		for i := range scale {
			row[x*scale+i] = at
		}
	}
}
