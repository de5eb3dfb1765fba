package pxl

import (
	"fmt"
	"strings"
	"testing"
)

func TestXorshift(t *testing.T) {
	x := newXorshift(42)
	if got := fmt.Sprintf("%x %x %x", x.next(), x.next(), x.next()); got != "a95514aaa a00aaafdf80202bf 8b13399cd1d1497a" {
		t.Errorf("seed 42 gives %s", got)
	}
	zero := newXorshift(0)
	if zero.next() == 0 {
		t.Error("seed 0 gives nothing")
	}
}

func TestParticles(t *testing.T) {
	bake := func(w, h, x, y, frames int) RenderOptions {
		return RenderOptions{Name: "p", Bake: Bake{Frames: frames, Canvas: [2]int{w, h}, Origin: &[2]int{x, y}}}
	}
	emit := func(more string) string {
		return sprite(1, 1, `a: {points: [[0, 0]]}`) + `{type: "particle", name: "p", sprite: "s", emitter: {` + more + `}}`
	}
	for _, row := range []struct {
		name, src string
		opt       RenderOptions
		want      string
	}{
		{"they fly until their life is over", emit(`lifetime: [3, 3], velocity: {x: [1, 1], y: [0, 0]}`), bake(5, 1, 0, 0, 4), "a.... // aa... // aaa.. // aaa.."},
		{"rates add up", emit(`rate: 0.5, lifetime: [1, 1]`), bake(1, 1, 0, 0, 4), ". // a // . // a"},
		{"gravity comes after the step", emit(`rate: 1, lifetime: [9, 9], gravity: 1`), bake(1, 4, 0, 0, 3), "a / . / . / . // a / . / . / . // a / a / . / ."},
		{"no life is one frame", emit(`lifetime: [0, 0], velocity: {x: [1, 1]}`), bake(2, 1, 0, 0, 2), "a. // a."},
		{
			"a sprite hangs by its middle, turned", two() +
				`{type: "particle", name: "p", sprite: "s", emitter: {rotation: [90, 90], lifetime: [1, 1]}}`,
			bake(3, 3, 1, 1, 1), ".a. / .b. / ...",
		},
		{"what is wrong keeps its standard", emit(`rate: "fast", lifetime: 3, velocity: {x: 1}`), bake(1, 1, 0, 0, 2), ". // ."},
		{"without its sprite there is nothing", `{type: "particle", name: "p", sprite: "none", emitter: {}}`, bake(2, 2, 0, 0, 2), "."},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := Parse([]byte(row.src), Options{})
			res, err := d.Render(row.opt)
			if err != nil {
				t.Fatal(err)
			}
			var frames []string
			for _, f := range res.Frames {
				frames = append(frames, strings.ReplaceAll(drawText(f.Image, legend(t, "")), "\n", " / "))
			}
			if got := strings.Join(frames, " // "); got != row.want {
				t.Errorf("got %s\nwant %s\n%v", got, row.want, res.Diagnostics)
			}
			if res.Kind != KindAnimation || res.Name != "p" {
				t.Errorf("%s %q", res.Kind, res.Name)
			}
			if _, err := Parse([]byte(row.src), Options{Dialect: Reference}).Render(row.opt); err == nil {
				t.Error("the reference draws it")
			}
		})
	}
	t.Run("fading", func(t *testing.T) {
		res, err := Parse([]byte(emit(`lifetime: [4, 4], velocity: {x: [1, 1]}, fade: true`)), Options{}).Render(bake(4, 1, 0, 0, 4))
		if err != nil {
			t.Fatal(err)
		}
		last := res.Frames[3].Image
		for x, want := range []uint8{255, 191, 128, 64} {
			if got := last.NRGBAAt(x, 0).A; got != want {
				t.Errorf("at age %d alpha is %d, want %d", x, got, want)
			}
		}
	})
	t.Run("the standard canvas", func(t *testing.T) {
		d := Parse([]byte(emit(`lifetime: [4, 9]`)), Options{})
		res, err := d.Render(RenderOptions{Kind: KindAnimation, Name: "p"})
		if err != nil || len(res.Frames) != 18 || res.Native.X != 32 || res.Native.Y != 32 || !res.Loop || res.Duration().Milliseconds() != 1800 {
			t.Fatalf("%+v, %v", res, err)
		}
		if c := res.Image().NRGBAAt(16, 31); c.A == 0 {
			t.Error("nothing comes out of the middle of the lower edge")
		}
		if sizes := d.Sizes(); sizes[len(sizes)-1].X != 32 {
			t.Errorf("sizes %v", sizes)
		}
	})
	t.Run("a storm is bounded", func(t *testing.T) {
		res, err := Parse([]byte(emit(`rate: 1e300, lifetime: [1000000, 1000000], rotation: [1, 89]`)), Options{}).Render(bake(64, 64, 32, 32, 256))
		if err != nil || len(res.Frames) == 0 {
			t.Fatal(err)
		}
	})
}
