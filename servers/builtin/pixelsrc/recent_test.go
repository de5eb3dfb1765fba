package pixelsrc

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

const dot2 = `{"type":"sprite","name":"dot","size":[2,2],"palette":{"_":"#00000000","x":"#FF0000"},"regions":{"x":{"points":[[0,0],[1,1]],"z":0}}}`

func TestRecent(t *testing.T) {
	s := New(Options{})
	told := 0
	s.Notify(func() { told++ })
	render := func(agent, source string) {
		t.Helper()
		who := Caller{Agent: agent, Name: "Tester"}
		if _, err := s.Render(noContext(), who, s.Parse(noContext(), who, source), Order{Scale: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if v := s.Recent(); v.Version != 0 || len(v.Renders) != 0 {
		t.Errorf("got %+v", v)
	}
	render("a1", sample.Dot)
	render("a2", sample.Dot)
	render("a1", dot2)
	v := s.Recent()
	if v.Version != 3 || told != 3 || len(v.Renders) != 2 {
		t.Fatalf("version %d, told %d, %d renders", v.Version, told, len(v.Renders))
	}
	first := v.Renders[0]
	if first.Agent != "a1" || first.Who != "Tester" || len(first.Names) != 2 || first.Kind != "sprite" || first.Name != "dot" || first.Frames[0].Image.Rect.Dx() != 2 || first.Time.IsZero() {
		t.Errorf("got %+v", first)
	}
	if first.Before == nil || first.Before.ID != 1 || first.Before.Before != nil || v.Renders[1].Before != nil {
		t.Errorf("before: %+v", first.Before)
	}
	for i := range 200 {
		render("a1", strings.ReplaceAll(sample.Dot, `"dot"`, `"dot`+string(rune('a'+i%26))+string(rune('a'+i/26))+`"`))
	}
	if n := len(s.Recent().Renders); n != maxRecent {
		t.Errorf("%d renders are kept", n)
	}
	big := `{type:"sprite",name:"NAME",size:[2048,2048],palette:"@pico8",regions:{red:{rect:[0,0,2,2]}}}`
	for _, name := range []string{"x", "y", "z", "u", "v"} {
		render("a1", strings.Replace(big, "NAME", name, 1))
	}
	pixels := 0
	for _, r := range s.Recent().Renders {
		pixels += r.Pixels()
	}
	if pixels > maxRecentPixels {
		t.Errorf("%d pixels are kept", pixels)
	}
}

func TestOfALongAnimationTheFirstFramesAreKept(t *testing.T) {
	s := New(Options{})
	var text, names strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "{type:\"sprite\",name:\"f%d\",size:[1024,1024],palette:{a:\"#f00\"},regions:{a:{rect:[0,0,9,9]}}}\n", i)
		fmt.Fprintf(&names, "\"f%d\",", i)
	}
	fmt.Fprintf(&text, "{type:\"animation\",name:\"film\",frames:[%s]}", names.String())
	who := Caller{Agent: "a", Name: "Tester"}
	order := Order{Scale: 1, Format: "png"}
	order.Kind = pxl.KindAnimation
	for range 3 {
		if _, err := s.Render(noContext(), who, s.Parse(noContext(), who, text.String()), order); err != nil {
			t.Fatal(err)
		}
	}
	list := s.Recent().Renders
	if len(list) != 1 || list[0].Before != nil || list[0].Pixels() != maxRecentPixels {
		t.Fatalf("%d renders, %d pixels", len(list), list[0].Pixels())
	}
	if last := list[0].Warnings[len(list[0].Warnings)-1]; !strings.Contains(last, "the first 8 of 20 frames") {
		t.Errorf("said %q", last)
	}
	if n := list[0].Names; len(n) != 1 || n[0].Name != "a" {
		t.Errorf("the colours are called %v", n)
	}
}

// TestAnEnlargedGIFHasThePixelsOfTheFrames has frames of different sizes and colours.
func TestAnEnlargedGIFHasThePixelsOfTheFrames(t *testing.T) {
	s := New(Options{})
	who := Caller{Agent: "a"}
	const text = `{type:"sprite",name:"f",size:[3,2],palette:{a:"#f00",b:"#00f"},regions:{a:{points:[[0,0],[2,1]]},b:{points:[[1,0]]}}}
{type:"sprite",name:"g",size:[2,4],palette:{a:"#0f0"},regions:{a:{rect:[0,1,2,3]}}}
{type:"animation",name:"film",frames:["f","g"],duration:70}`
	o := Order{Scale: 5, Format: "gif"}
	o.Kind = pxl.KindAnimation
	d, err := s.Render(noContext(), who, s.Parse(noContext(), who, text), o)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(bytes.NewReader(d.Pictures[0].Data))
	if err != nil || g.Config.Width != 15 || g.Config.Height != 20 {
		t.Fatalf("%v, %+v", err, g.Config)
	}
	for i, f := range s.Recent().Renders[0].Frames {
		for y := range 20 {
			for x := range 15 {
				want := color.NRGBA{}
				if p := image.Pt(x/5, y/5); p.In(f.Image.Rect) {
					want = f.Image.NRGBAAt(p.X, p.Y)
				}
				if got := color.NRGBAModel.Convert(g.Image[i].At(x, y)); got != want {
					t.Fatalf("frame %d at %d,%d: %v, want %v", i, x, y, got, want)
				}
			}
		}
	}
}
