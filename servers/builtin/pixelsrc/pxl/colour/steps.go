package colour

import "math"

// matrix is a row-major 3×3 matrix; each product and sum is rounded to float32.
type matrix [9]float32

func (m *matrix) of(a, b, c float32) (x, y, z float32) {
	row := func(i int) float32 {
		return float32(float32(float32(a*m[i])+float32(b*m[i+1])) + float32(c*m[i+2]))
	}
	return row(0), row(3), row(6)
}

var (
	linearToXYZ   = matrix{0.41239079926595934, 0.357584339383878, 0.1804807884018343, 0.21263900587151027, 0.715168678767756, 0.07219231536073371, 0.01933081871559182, 0.11919477979462598, 0.9505321522496607}
	xyzToLinear   = matrix{3.2409699419045226, -1.537383177570094, -0.4986107602930034, -0.9692436362808796, 1.8759675015077202, 0.04155505740717559, 0.05563007969699366, -0.20397695888897652, 1.0569715142428786}
	p3ToXYZ       = matrix{0.4865709486482162, 0.26566769316909306, 0.1982172852343625, 0.2289745640697488, 0.6917385218365064, 0.079286914093745, 0, 0.04511338185890264, 1.043944368900976}
	xyzToP3       = matrix{2.493496911941425, -0.9313836179191238, -0.40271078445071684, -0.8294889695615747, 1.7626640603183463, 0.02362468584194358, 0.03584583024378436, -0.07617238926804178, 0.9568845240076872}
	a98ToXYZ      = matrix{0.5766690429101305, 0.1855582379065463, 0.1882286462349947, 0.29734497525053605, 0.6273635662554661, 0.07529145849399788, 0.02703136138641234, 0.07068885253582723, 0.9913375368376388}
	xyzToA98      = matrix{2.041587903810747, -0.5650069742788597, -0.34473135077832967, -0.9692436362808796, 1.8759675015077202, 0.041555057407175605, 0.013444280632031147, -0.11836239223101838, 1.0151749943912054}
	rec2020ToXYZ  = matrix{0.6369580483012914, 0.14461690358620832, 0.1688809751641721, 0.2627002120112671, 0.6779980715188708, 0.05930171646986196, 0, 0.028072693049087428, 1.060985057710791}
	xyzToRec2020  = matrix{1.7166511879712674, -0.35567078377639233, -0.2533662813736598, -0.6666843518324893, 1.6164812366349397, 0.015768545813911145, 0.01763985744531087, -0.042770613257808544, 0.9421031212354739}
	prophotoToXYZ = matrix{0.7977604896723027, 0.13518583717574031, 0.0313493495815248, 0.2880711282292934, 0.7118432178101014, 0.00008565396060525902, 0, 0, 0.8251046025104601}
	xyzToProphoto = matrix{1.3457989731028281, -0.2555801000799754, -0.05110628506753401, -0.5446224939028347, 1.5082327413132781, 0.020536032391479726, 0, 0, 1.2119675456389454}
	xyz50to65     = matrix{0.9554734527042182, -0.023098536874261423, 0.0632593086610217, -0.028369706963208136, 1.0099954580058226, 0.021041398966943008, 0.012314001688319899, -0.020507696433477912, 1.3303659366080753}
	xyz65to50     = matrix{1.0479298208405488, 0.022946793341019088, -0.05019222954313557, 0.029627815688159344, 0.990434484573249, -0.01707382502938514, -0.009243058152591178, 0.015055144896577895, 0.7518742899580008}
	oklabToLMS    = matrix{0.99999999845051981432, 0.39633779217376785678, 0.21580375806075880339, 1.0000000088817607767, -0.1055613423236563494, -0.063854174771705903402, 1.0000000546724109177, -0.089484182094965759684, -1.2914855378640917399}
	lmsToXYZ      = matrix{1.2268798733741557, -0.5578149965554813, 0.28139105017721583, -0.04057576262431372, 1.1122868293970594, -0.07171106666151701, -0.07637294974672142, -0.4214933239627914, 1.5869240244272418}
	xyzToLMS      = matrix{0.8190224432164319, 0.3619062562801221, -0.12887378261216414, 0.0329836671980271, 0.9292868468965546, 0.03614466816999844, 0.048177199566046255, 0.26423952494422764, 0.6335478258136937}
	lmsToOKLab    = matrix{0.2104542553, 0.7936177850, -0.0040720468, 1.9779984951, -2.4285922050, 0.4505937099, 0.0259040371, 0.7827717662, -0.8086757660}
)

// transfer is a pair of curves between linear and encoded channels.
type transfer struct{ decode, encode func(float32) float32 }

var (
	srgbCurve     = transfer{srgbDecode, srgbEncode}
	a98Curve      = transfer{a98Decode, a98Encode}
	rec2020Curve  = transfer{rec2020Decode, rec2020Encode}
	prophotoCurve = transfer{prophotoDecode, prophotoEncode}
)

func pow(x, y float32) float32 { return float32(math.Pow(float64(x), float64(y))) }
func cbrt(x float32) float32   { return float32(math.Cbrt(float64(x))) }
func cube(x float32) float32   { return float32(float32(x*x) * x) }
func abs(x float32) float32    { return float32(math.Abs(float64(x))) }

func signed(magnitude, of float32) float32 {
	return float32(math.Copysign(float64(magnitude), float64(of)))
}

func srgbDecode(c float32) float32 {
	if m := abs(c); !(m < 0.04045) {
		return signed(pow((m+0.055)/1.055, 2.4), c)
	}
	return c / 12.92
}

func srgbEncode(c float32) float32 {
	if m := abs(c); m > 0.0031308 {
		return signed(float32(1.055*pow(m, 1/float32(2.4)))-0.055, c)
	}
	return 12.92 * c
}

func a98Decode(c float32) float32 { return signed(pow(abs(c), 563.0/256), c) }
func a98Encode(c float32) float32 { return signed(pow(abs(c), 256.0/563), c) }

func prophotoDecode(c float32) float32 {
	if m := abs(c); m > 16.0/512 {
		return signed(pow(m, 1.8), c)
	}
	return c / 16
}

func prophotoEncode(c float32) float32 {
	if m := abs(c); m >= 1.0/512 {
		return signed(pow(m, 1/float32(1.8)), c)
	}
	return 16 * c
}

const recAlpha, recBeta = 1.09929682680944, 0.018053968510807

func rec2020Decode(c float32) float32 {
	if m := abs(c); !(m < recBeta*4.5) {
		return signed(pow((m+recAlpha-1)/recAlpha, 1/float32(0.45)), c)
	}
	return c / 4.5
}

func rec2020Encode(c float32) float32 {
	if m := abs(c); m > recBeta {
		return signed(float32(recAlpha*pow(m, 0.45))-(recAlpha-1), c)
	}
	return 4.5 * c
}

func rectangular(l, chroma, hue float32) (float32, float32, float32) {
	axis := func(f func(float64) float64) float32 {
		return chroma * float32(f(float64(float32(hue*math.Pi)/180)))
	}
	return l, axis(math.Cos), axis(math.Sin)
}

func polar(l, a, b float32) (float32, float32, float32) {
	h := float32(math.Atan2(float64(b), float64(a))) * 180 / math.Pi
	if h < 0 {
		h += 360
	}
	return l, float32(math.Sqrt(float64(float32(a*a) + float32(b*b)))), h
}

func oklabToXYZ(l, a, b float32) (float32, float32, float32) {
	l, a, b = oklabToLMS.of(l, a, b)
	return lmsToXYZ.of(cube(l), cube(a), cube(b))
}

func xyzToOKLab(x, y, z float32) (float32, float32, float32) {
	x, y, z = xyzToLMS.of(x, y, z)
	return lmsToOKLab.of(cbrt(x), cbrt(y), cbrt(z))
}

func fromBytesEach(r, g, b float32) (float32, float32, float32) { return r / 255, g / 255, b / 255 }
func toBytesEach(r, g, b float32) (float32, float32, float32)   { return r * 255, g * 255, b * 255 }

const (
	labKappa, labEps = 24389.0 / 27, 216.0 / 24389
	whiteX, whiteZ   = 0.3457 / 0.3585, (1 - 0.3457 - 0.3585) / 0.3585
)

func labToXYZ(l, a, b float32) (float32, float32, float32) {
	f1 := (l + 16) / 116
	f0, f2 := a/500+f1, f1-b/200
	axis := func(f float32) float32 {
		if c := cube(f); c > labEps {
			return c
		}
		return (float32(116*f) - 16) / labKappa
	}
	y := l / labKappa
	if l > labKappa*labEps {
		y = cube(f1)
	}
	return axis(f0) * whiteX, y, axis(f2) * whiteZ
}

func xyzToLab(x, y, z float32) (float32, float32, float32) {
	f := func(t float32) float32 {
		if t > labEps {
			return cbrt(t)
		}
		return (float32(labKappa*t) + 16) / 116
	}
	fx, fy, fz := f(x/whiteX), f(y), f(z/whiteZ)
	return float32(116*fy) - 16, 500 * (fx - fy), 200 * (fy - fz)
}

func floor32(x float32) float32 { return float32(math.Floor(float64(x))) }

func hslToRGB(h, s, l float32) (float32, float32, float32) {
	h = (h - float32(360*floor32(h/360))) / 360
	s, l = s/100, l/100
	m2 := l * (s + 1)
	if !(l <= 0.5) {
		m2 = l + s - float32(l*s)
	}
	m1 := float32(l*2) - m2
	h3 := h * 3
	channel := func(t float32) float32 {
		if t < 0 {
			t += 3
		} else if t > 3 {
			t -= 3
		}
		switch {
		case t*2 < 1:
			return m1 + float32(float32((m2-m1)*t)*2)
		case t*2 < 3:
			return m2
		case t < 2:
			return m1 + float32(float32((m2-m1)*(2-t))*2)
		}
		return m1
	}
	return channel(h3 + 1), channel(h3), channel(h3 - 1)
}

func hwbToRGB(h, w, b float32) (float32, float32, float32) {
	w, b = w/100, b/100
	if w+b >= 1 {
		grey := w / (w + b)
		return grey, grey, grey
	}
	r, g, bl := hslToRGB(h, 100, 50)
	x := 1 - w - b
	return float32(r*x) + w, float32(g*x) + w, float32(bl*x) + w
}

func rgbToHWB(r, g, b float32) (float32, float32, float32) {
	h, _, _ := rgbToHSL(r, g, b)
	return h, min(r, g, b) * 100, (1 - max(r, g, b)) * 100
}

// rgbToHSL leaves the hue of a grey missing.
func rgbToHSL(r, g, b float32) (h, s, l float32) {
	hi, lo := max(r, g, b), min(r, g, b)
	l = (lo + hi) / 2
	d := hi - lo
	if d == 0 {
		return float32(math.NaN()), 0, l * 100
	}
	if l != 0 && l != 1 {
		s = (hi - l) / min(l, 1-l)
	}
	switch hi {
	case r:
		h = (g - b) / d
		if g < b {
			h += 6
		}
	case g:
		h = (b-r)/d + 2
	default:
		h = (r-g)/d + 4
	}
	return h * 60, s * 100, l * 100
}
