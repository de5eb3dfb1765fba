package viewer

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	_ "image/jpeg" // decoded by image.Decode
	_ "image/png"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Picture is what a Viewer shows. It is not changed once it is shown.
type Picture struct {
	// Key tells pictures apart: two with the same key are the same pixels.
	Key string
	// Frames are one or more pictures of the same size.
	Frames []Frame
	// Loop is how playback goes on at the end.
	Loop Loop
	// Smooth is for what is not pixel art: it is fitted to the box instead of shown at
	// whole scales.
	Smooth bool
	// Tokens name the colours of the picture's source; several may have one colour.
	Tokens []Token
	// TokenAt says which token painted a pixel, where the source tells; "" for none. It
	// may be nil, then Tokens go by colour.
	TokenAt func(frame, x, y int) string
}

// Same reports whether two pictures show the same: their pixels, times and the names of
// their colours. It looks at every pixel.
func (p *Picture) Same(o *Picture) bool {
	return p.Loop == o.Loop && p.Smooth == o.Smooth && slices.Equal(p.Tokens, o.Tokens) &&
		slices.EqualFunc(p.Frames, o.Frames, func(a, b Frame) bool {
			return a.Duration == b.Duration && a.Name == b.Name && a.Image.Rect == b.Image.Rect && bytes.Equal(a.Image.Pix, b.Image.Pix)
		})
}

// Pixels is how many pixels its frames have.
func (p *Picture) Pixels() (n int) {
	if p == nil {
		return 0
	}
	for _, f := range p.Frames {
		n += f.Image.Rect.Dx() * f.Image.Rect.Dy()
	}
	return n
}

// Frame is one picture of an animation.
type Frame struct {
	Image    *image.NRGBA
	Duration time.Duration // 0 for a still
	Name     string        // of the sprite, where it has one
}

// Token is a named colour.
type Token struct {
	Name  string
	Color color.NRGBA
}

// Loop is how playback goes on at the end.
type Loop int

// The ways to go on.
const (
	Forever Loop = iota
	PingPong
	Once
)

// String is how the screen names it.
func (l Loop) String() string { return [...]string{"loop", "ping-pong", "once"}[min(max(l, 0), Once)] }

// Size is the size of the frames in pixels.
func (p *Picture) Size() (w, h int) {
	if p == nil || len(p.Frames) == 0 {
		return 0, 0
	}
	b := p.Frames[0].Image.Bounds()
	return b.Dx(), b.Dy()
}

// Still makes a picture of one frame and finds out whether it is pixel art: small, or
// of few colours.
func Still(key string, img image.Image) *Picture {
	n := picture.ToNRGBA(img)
	return &Picture{Key: key, Frames: []Frame{{Image: n}}, Smooth: !pixelArt(n)}
}

const (
	spriteSide    = 128 // a picture no larger is always shown pixel by pixel
	spriteMost    = 512
	spriteColours = 64
)

func pixelArt(img *image.NRGBA) bool {
	b := img.Bounds()
	if b.Dx() <= spriteSide && b.Dy() <= spriteSide {
		return true
	}
	if b.Dx() > spriteMost || b.Dy() > spriteMost {
		return false
	}
	seen := map[color.NRGBA]bool{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			seen[img.NRGBAAt(x, y)] = true
			if len(seen) > spriteColours {
				return false
			}
		}
	}
	return true
}

const (
	maxPixels = 40 << 20 // of one file, all frames together
	maxFrames = 4096
)

// Decode reads a PNG, a JPEG or a GIF with all its frames. What would need more than 40
// million pixels is refused.
func Decode(key string, data []byte) (*Picture, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w; only PNG, JPEG and GIF are supported", err)
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height {
		return nil, fmt.Errorf("read the picture: %d×%d pixels are too many to show", c.Width, c.Height)
	}
	if format == "gif" {
		return decodeGIF(key, data, c.Width*c.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	return Still(key, img), nil
}

// gifFrames counts the frames of a GIF by its blocks alone; where those are broken, the
// frames before.
func gifFrames(data []byte) int {
	const header, descriptor = 13, 10
	table := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	if len(data) < header {
		return 0
	}
	n := 0
	for at := header + table(data[10]); at < len(data); {
		switch data[at] {
		case 0x21: // extension: its label, then sub-blocks
			at += 2
		case 0x2C:
			if at+descriptor > len(data) {
				return n
			}
			n++
			at += descriptor + table(data[at+9]) + 1
		default:
			return n
		}
		for at < len(data) && data[at] != 0 {
			at += int(data[at]) + 1
		}
		at++
	}
	return n
}

// decodeGIF composes the frames, which may each be only what changed.
func decodeGIF(key string, data []byte, pixels int) (*Picture, error) {
	// A few bytes can hold many frames, so they are counted before any is made.
	if n := gifFrames(data); n > maxFrames || n > maxPixels/pixels {
		return nil, fmt.Errorf("read the GIF: too many frames to show: %d", n)
	}
	g, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the GIF: %w", err)
	}
	if len(g.Image) == 0 {
		return nil, errors.New("read the GIF: it has no frames")
	}
	p := &Picture{Key: key}
	if g.LoopCount == -1 {
		p.Loop = Once
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for i, frame := range g.Image {
		before := append([]uint8(nil), canvas.Pix...)
		draw.Draw(canvas, frame.Bounds(), frame, frame.Bounds().Min, draw.Over)
		shown := image.NewNRGBA(canvas.Rect)
		copy(shown.Pix, canvas.Pix)
		delay := 0
		if i < len(g.Delay) {
			delay = g.Delay[i]
		}
		if delay <= 1 { // as browsers do
			delay = 10
		}
		p.Frames = append(p.Frames, Frame{Image: shown, Duration: time.Duration(delay) * 10 * time.Millisecond})
		if i < len(g.Disposal) {
			switch g.Disposal[i] {
			case gif.DisposalBackground:
				draw.Draw(canvas, frame.Bounds(), image.Transparent, image.Point{}, draw.Src)
			case gif.DisposalPrevious:
				copy(canvas.Pix, before)
			}
		}
	}
	p.Smooth = !pixelArt(p.Frames[0].Image)
	return p, nil
}
