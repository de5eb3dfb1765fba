package picture

import (
	"image/color"
	"math"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// lab is a colour in OKLab (Björn Ottosson, 2020), where distances approximate perception.
type lab struct{ l, a, b float64 }

func (c lab) plus(d lab, factor float64) lab {
	return lab{c.l + factor*d.l, c.a + factor*d.a, c.b + factor*d.b}
}

// distance returns the squared distance.
func (c lab) distance(d lab) float64 {
	l, a, b := c.l-d.l, c.a-d.a, c.b-d.b
	return l*l + a*a + b*b
}

var linear = sync.OnceValue(func() *[256]float64 {
	var t [256]float64
	for i := range t {
		v := float64(i) / 255
		if v <= 0.04045 {
			t[i] = v / 12.92
		} else {
			t[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return &t
})

func toLab(c color.NRGBA) lab {
	t := linear()
	r, g, b := t[c.R], t[c.G], t[c.B]
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// Difference returns how different two colours look, ignoring alpha. About 1 is just
// visible; black and white are 100 apart. The value is the OKLab distance times 100.
func Difference(a, b color.NRGBA) float64 {
	return 100 * math.Sqrt(toLab(a).distance(toLab(b)))
}

// fixed240 returns the colours of the 256 that no user changes.
var fixed240 = sync.OnceValue(func() []terminalColour {
	var list []terminalColour
	for i := 16; i < 256; i++ {
		r, g, b, _ := ansi.IndexedColor(i).RGBA()
		list = append(list, fixedColour(i, uint8(r>>8), uint8(g>>8), uint8(b>>8)))
	}
	return list
})

// sixteen returns xterm's first 16 colours, which most terminals stay close to.
var sixteen = sync.OnceValue(func() []terminalColour {
	var list []terminalColour
	for i, rgb := range [...]uint32{
		0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
		0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
	} {
		list = append(list, fixedColour(i, uint8(rgb>>16), uint8(rgb>>8), uint8(rgb)))
	}
	return list
})

func fixedColour(index int, r, g, b uint8) terminalColour {
	c := color.NRGBA{r, g, b, 255}
	return terminalColour{uint8(index), c, toLab(c)}
}
