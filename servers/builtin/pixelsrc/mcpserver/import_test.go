package mcpserver

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
)

// TestToolsOnCorpus calls each tool with each file: none fails inside.
func TestToolsOnCorpus(t *testing.T) {
	s := handling(pixelsrc.Options{})
	for name, text := range sample.Corpus(t) {
		for _, tool := range []string{"pixelsrc_render", "pixelsrc_validate", "pixelsrc_suggest", "pixelsrc_explain", "pixelsrc_analyze"} {
			a := said(s, context.Background(), pixelsrc.Caller{}, tool, map[string]any{"source": text, "apply": true})
			for _, b := range a.Content {
				if strings.Contains(b.Text, "internal error") || strings.Contains(b.Text, "timed out") {
					t.Errorf("%s %s: %s", tool, name, b.Text)
				}
			}
		}
	}
}

// TestImportHasOneSetOfDefaults: the tool finds shapes and analyses as the package does.
func TestImportHasOneSetOfDefaults(t *testing.T) {
	s := handling(pixelsrc.Options{})
	for _, analyze := range []bool{false, true} {
		picture := "KKKKKK KRRRRK KRRRRK KRRRRK KDDDDK KKKKKK"
		a := said(s, context.Background(), pixelsrc.Caller{}, "pixelsrc_import", map[string]any{"image": sample.PNG(picture), "analyze": analyze})
		im, err := pixelsrc.Import(t.Context(), sample.Drawn(picture), pixelsrc.ImportOptions{MaxColors: 16, Analyze: analyze})
		if err != nil || a.Content[0].Text != im.Source {
			t.Errorf("the tool says %s, the package %s, %v", a.Content[0].Text, im.Source, err)
		}
	}
}

// TestValidateTellsOfASourceWhatRenderTells looks at an import that cannot be
// resolved without a file.
func TestValidateTellsOfASourceWhatRenderTells(t *testing.T) {
	r := start(t)
	src := args{"source": `{type: "import", from: "./colours"}` + "\n" + sample.Dot}
	const told = "source text has no folder"
	if text := r.ok("pixelsrc_render", src).text(); !strings.Contains(text, told) {
		t.Fatalf("render: got %s, want %q in it", text, told)
	}
	if text := r.ok("pixelsrc_validate", src).text(); !strings.Contains(text, told) || !strings.Contains(text, `"valid": true`) {
		t.Errorf("validate: got %s, want %q in it, and valid", text, told)
	}
}
