package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
)

// sprite64 is a 64×64 sprite of twelve regions.
func sprite64() string {
	var b strings.Builder
	b.WriteString(`{type:"sprite",name:"s",size:[64,64],palette:"@pico8",regions:{`)
	for i, t := range []string{"dark_blue", "dark_purple", "dark_green", "brown", "dark_gray", "light_gray", "white", "red", "orange", "yellow", "green", "blue"} {
		fmt.Fprintf(&b, `%s:{%s:[%d,%d,%d,%d],z:%d},`, t, []string{"rect", "stroke", "ellipse"}[i%3], 4+i*3, 5+i*2, 8+i, 6+i, i)
	}
	b.WriteString("}}")
	return b.String()
}

func benchmarkTool(b *testing.B, tool string, arguments map[string]any) {
	b.Helper()
	s := handling(pixelsrc.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if a := said(s, context.Background(), pixelsrc.Caller{}, tool, arguments); a.IsError {
			b.Fatal(a.Content[0].Text)
		}
	}
}

func BenchmarkRender64x8(b *testing.B) {
	benchmarkTool(b, "pixelsrc_render", map[string]any{"source": sprite64(), "scale": 8.0})
}

func BenchmarkRenderAnimation(b *testing.B) {
	benchmarkTool(b, "pixelsrc_render", map[string]any{"source": pixelsrc.Example("slime"), "animation": "hop", "scale": 8.0})
}

func BenchmarkValidate64(b *testing.B) {
	benchmarkTool(b, "pixelsrc_validate", map[string]any{"source": sprite64()})
}

func BenchmarkImport64(b *testing.B) {
	s := handling(pixelsrc.Options{})
	a := said(s, context.Background(), pixelsrc.Caller{}, "pixelsrc_render", map[string]any{"source": sprite64()})
	img, err := pixelsrc.DecodePNG(a.Content[0].bytes(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pixelsrc.Import(b.Context(), img, pixelsrc.ImportOptions{MaxColors: 16, Analyze: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFormat(b *testing.B) {
	text := pixelsrc.Example("campfire")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pixelsrc.Format(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExplain64(b *testing.B) {
	benchmarkTool(b, "pixelsrc_explain", map[string]any{"source": sprite64()})
}

// BenchmarkNew is what the server costs a process that starts.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		InDeck(pixelsrc.New(pixelsrc.Options{}), "1").Catalogue()
	}
}
