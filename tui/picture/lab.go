package picture

import (
	"image/color"
	"math"
	"sync"
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

var fixed240 = sync.OnceValue(func() []terminalColour {
	var list []terminalColour
	level := func(i int) uint8 {
		if i == 0 {
			return 0
		}
		return uint8(55 + 40*i)
	}
	for i := range 216 {
		list = append(list, fixedColour(16+i, level(i/36), level(i/6%6), level(i%6)))
	}
	for i := range 24 {
		v := uint8(8 + 10*i)
		list = append(list, fixedColour(232+i, v, v, v))
	}
	return list
})

// sixteen returns xterm's first 16 colours, which most terminals stay close to.
var sixteen = sync.OnceValue(func() []terminalColour {
	var list []terminalColour
	for i := range 16 {
		on, off := uint8(205), uint8(0)
		if i >= 8 {
			on, off = 255, 0
		}
		channel := func(bit int) uint8 {
			if i>>bit&1 != 0 {
				return on
			}
			return off
		}
		r, g, b := channel(0), channel(1), channel(2)
		switch i {
		case 4:
			b = 238
		case 7:
			r, g, b = 229, 229, 229
		case 8:
			r, g, b = 127, 127, 127
		case 12:
			r, g = 92, 92
		}
		list = append(list, fixedColour(i, r, g, b))
	}
	return list
})

func fixedColour(index int, r, g, b uint8) terminalColour {
	c := color.NRGBA{r, g, b, 255}
	return terminalColour{uint8(index), c, toLab(c)}
}
