package pxl

import (
	"fmt"
	"math"
	"strings"
)

// Timing gives the curve of a timing function, from 0…1 to progress. The documented
// dialect uses the CSS curves; the reference has quadratic ones under the same names.
func Timing(name string, dialect Dialect) (func(t float64) float64, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if f := namedTiming(name, dialect); f != nil {
		return clamped(f), nil
	}
	fn, rest, ok := strings.Cut(name, "(")
	if ok && strings.HasSuffix(rest, ")") {
		args := strings.Split(strings.TrimSuffix(rest, ")"), ",")
		for i := range args {
			args[i] = strings.TrimSpace(args[i])
		}
		switch strings.TrimSpace(fn) {
		case "cubic-bezier":
			if f := bezierOf(args); f != nil {
				return clamped(f), nil
			}
		case "steps":
			if f := stepsOf(args); f != nil {
				return clamped(f), nil
			}
		}
	}
	return nil, fmt.Errorf("unknown timing function %s; use linear, ease, ease-in, ease-out, ease-in-out, steps() or cubic-bezier()", quoted(name))
}

func clamped(f func(float64) float64) func(float64) float64 {
	return func(t float64) float64 { return f(min(max(t, 0), 1)) }
}

func namedTiming(name string, dialect Dialect) func(float64) float64 {
	curves := map[string]func(float64) float64{
		"linear":     func(t float64) float64 { return t },
		"step-start": steps(1, "jump-start"), "step-end": steps(1, "jump-end"),
		"bounce": bounce, "elastic": elastic,
		"ease": bezier(0.25, 0.1, 0.25, 1), "ease-in": bezier(0.42, 0, 1, 1),
		"ease-out": bezier(0, 0, 0.58, 1), "ease-in-out": bezier(0.42, 0, 0.58, 1),
	}
	if dialect == Reference {
		curves["ease-in"] = func(t float64) float64 { return t * t }
		curves["ease-out"] = func(t float64) float64 { return 1 - (1-t)*(1-t) }
		curves["ease-in-out"] = func(t float64) float64 {
			if t < 0.5 {
				return 2 * t * t
			}
			return 1 - (2-2*t)*(2-2*t)/2
		}
		curves["ease"] = curves["ease-in-out"]
	}
	return curves[name]
}

func bezierOf(args []string) func(float64) float64 {
	var v [4]float64
	if len(args) != 4 {
		return nil
	}
	for i := range v {
		var ok bool
		if v[i], ok = number(args[i]); !ok {
			return nil
		}
	}
	if v[0] < 0 || v[0] > 1 || v[2] < 0 || v[2] > 1 {
		return nil
	}
	return bezier(v[0], v[1], v[2], v[3])
}

// bezier is the CSS curve through (0,0) and (1,1) with two control points.
func bezier(x1, y1, x2, y2 float64) func(float64) float64 {
	at := func(a, b, t float64) float64 {
		u := 1 - t
		return 3*u*u*t*a + 3*u*t*t*b + t*t*t
	}
	slope := func(a, b, t float64) float64 {
		u := 1 - t
		return 3*u*u*a + 6*u*t*(b-a) + 3*t*t*(1-b)
	}
	return func(x float64) float64 {
		if x == 0 || x == 1 {
			return x
		}
		t := x
		for range 8 {
			s := slope(x1, x2, t)
			if math.Abs(s) < 1e-10 {
				break
			}
			t = min(max(t-(at(x1, x2, t)-x)/s, 0), 1)
		}
		return at(y1, y2, t)
	}
}

func stepsOf(args []string) func(float64) float64 {
	n, ok := natural(args[0])
	position := "jump-end"
	if len(args) == 2 {
		position = args[1]
	}
	switch position {
	case "start":
		position = "jump-start"
	case "end":
		position = "jump-end"
	case "jump-start", "jump-end", "jump-both":
	case "jump-none":
		ok = ok && n >= 2
	default:
		ok = false
	}
	if !ok || n < 1 || len(args) > 2 {
		return nil
	}
	return steps(float64(n), position)
}

func steps(n float64, position string) func(float64) float64 {
	return func(t float64) float64 {
		switch position {
		case "jump-start":
			return math.Ceil(t*n) / n
		case "jump-none":
			return min(1, math.Floor(t*(n-1))/(n-1))
		case "jump-both":
			return (math.Floor(t*n) + 1) / (n + 1)
		}
		return math.Floor(t*n) / n
	}
}

func bounce(t float64) float64 {
	u := 1 - t
	at, add := 0.0, 0.0
	switch {
	case u < 1/2.75:
	case u < 2/2.75:
		at, add = 1.5, 0.75
	case u < 2.5/2.75:
		at, add = 2.25, 0.9375
	default:
		at, add = 2.625, 0.984375
	}
	u -= at / 2.75
	return 1 - (7.5625*u*u + add)
}

func elastic(t float64) float64 {
	if t == 0 || t == 1 {
		return t
	}
	return -(math.Pow(2, 10*(t-1)) * math.Sin((t-1-0.075)*2*math.Pi/0.3))
}
