package pixelsrc

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/internal/sample"
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
	if first.Agent != "a1" || first.Who != "Tester" || first.Source != dot2 || first.Kind != "sprite" || first.Name != "dot" || first.Scale != 2 || first.Frames[0].Image.Rect.Dx() != 2 || first.Time.IsZero() {
		t.Errorf("got %+v", first)
	}
	if first.Before == nil || first.Before.Source != sample.Dot || first.Before.Before != nil || v.Renders[1].Before != nil {
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
		pixels += r.pixels()
	}
	if pixels > maxRecentPixels {
		t.Errorf("%d pixels are kept", pixels)
	}
}
