package pxl

import (
	"image/color"
	"math"
	"strings"
)

// function is one of a filter: its name in lower case and what stands
// between its parentheses, which may hold further ones.
type function struct {
	name, arg string
	closed    bool
}

// functions splits a filter into its functions. Text that is none ends the list as
// one that is not closed.
func functions(text string) []function {
	var out []function
	for rest := strings.TrimSpace(text); rest != ""; {
		name, tail, _ := strings.Cut(rest, "(")
		c := function{name: strings.ToLower(strings.TrimSpace(name))}
		open, end := 1, 0
		for ; end < len(tail) && open > 0; end++ {
			switch tail[end] {
			case '(':
				open++
			case ')':
				open--
			}
		}
		if c.closed = open == 0; !c.closed {
			return append(out, c)
		}
		c.arg = strings.TrimSpace(tail[:end-1])
		out = append(out, c)
		rest = strings.TrimSpace(tail[end:])
	}
	return out
}

// filter applies CSS filter functions to a colour, left to right, in sRGB. What
// follows a mistake is not applied.
func filter(c color.NRGBA, steps []function) (color.NRGBA, error) {
	v := [3]float64{float64(c.R) / 255, float64(c.G) / 255, float64(c.B) / 255}
	var err error
	for _, f := range steps {
		if !f.closed {
			err = errText("write name(amount)")
		} else {
			v, err = filterStep(v, f.name, f.arg)
		}
		if err != nil {
			break
		}
	}
	b := func(i int) uint8 { return uint8(math.Round(v[i] * 255)) }
	return color.NRGBA{R: b(0), G: b(1), B: b(2), A: c.A}, err
}

func filterStep(v [3]float64, name, arg string) ([3]float64, error) {
	amount := 1.0
	if name == "hue-rotate" {
		amount = 0
	}
	if arg != "" {
		nums, words, err := callNumbers(arg)
		if err != nil || len(nums) != 1 || len(words) > 0 {
			return v, errText("invalid amount for " + name)
		}
		amount = nums[0]
	}
	if name != "hue-rotate" {
		amount = max(amount, 0)
	}
	mix := min(amount, 1)
	switch name {
	case "brightness":
		return clampAll(v, func(x float64) float64 { return x * amount }), nil
	case "contrast":
		return clampAll(v, func(x float64) float64 { return (x-0.5)*amount + 0.5 }), nil
	case "invert":
		return clampAll(v, func(x float64) float64 { return mix + x*(1-2*mix) }), nil
	case "saturate":
		return matrix(v, faded(amount, [9]float64{0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072})), nil
	case "grayscale":
		return matrix(v, faded(1-mix, [9]float64{0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722})), nil
	case "sepia":
		return matrix(v, faded(1-mix, [9]float64{0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131})), nil
	case "hue-rotate":
		return matrix(v, hueMatrix(amount*math.Pi/180)), nil
	}
	return v, errText("unknown filter " + quoted(name))
}

func clampAll(v [3]float64, f func(float64) float64) [3]float64 {
	for i := range v {
		v[i] = min(max(f(v[i]), 0), 1)
	}
	return v
}

func matrix(v [3]float64, m [9]float64) [3]float64 {
	return clampAll([3]float64{
		m[0]*v[0] + m[1]*v[1] + m[2]*v[2],
		m[3]*v[0] + m[4]*v[1] + m[5]*v[2],
		m[6]*v[0] + m[7]*v[1] + m[8]*v[2],
	}, func(x float64) float64 { return x })
}

// faded is a matrix of which only a share of 1-s is left beside the colour itself.
func faded(s float64, m [9]float64) [9]float64 {
	for i := range m {
		itself := 0.0
		if i%4 == 0 {
			itself = 1
		}
		m[i] += (itself - m[i]) * s
	}
	return m
}

func hueMatrix(angle float64) [9]float64 {
	sin, cos := math.Sincos(angle)
	return [9]float64{
		0.213 + cos*0.787 - sin*0.213, 0.715 - cos*0.715 - sin*0.715, 0.072 - cos*0.072 + sin*0.928,
		0.213 - cos*0.213 + sin*0.143, 0.715 + cos*0.285 + sin*0.140, 0.072 - cos*0.072 - sin*0.283,
		0.213 - cos*0.213 - sin*0.787, 0.715 - cos*0.715 + sin*0.715, 0.072 + cos*0.928 + sin*0.072,
	}
}
