package pixelsrc

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/realtest"
)

// corpusFiles are the sources of the conformance corpus; the test is skipped
// without them.
func corpusFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join(realtest.Corpus(t), "corpus")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".pxl" && ext != ".jsonl" {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFormatCorpus formats every file of the corpus: twice is once, nothing is
// lost, and what is drawn stays the same.
func TestFormatCorpus(t *testing.T) {
	formatted := 0
	for name, text := range corpusFiles(t) {
		f, err := Format(text)
		if err != nil {
			continue
		}
		formatted++
		if mustFormat(t, text); len(f.Dropped) == 0 {
			sameValues(t, text, f.Text)
		}
		if a, b := len(comments0(text)), len(comments0(f.Text)); a != b {
			t.Errorf("%s: %d comments became %d", name, a, b)
		}
		before, after := pxl.Parse([]byte(text), pxl.Options{}), pxl.Parse([]byte(f.Text), pxl.Options{})
		for _, o := range before.Objects() {
			if o.Kind != pxl.KindSprite && o.Kind != pxl.KindComposition && o.Kind != pxl.KindVariant {
				continue
			}
			p, errA := before.Render(pxl.RenderOptions{Kind: o.Kind, Name: o.Name})
			q, errB := after.Render(pxl.RenderOptions{Kind: o.Kind, Name: o.Name})
			if (errA == nil) != (errB == nil) {
				t.Errorf("%s %s: %v, then %v", name, o.Name, errA, errB)
			} else if errA == nil && diffPixels(p.Image(), q.Image()) != nil {
				t.Errorf("%s %s: the picture differs", name, o.Name)
			}
		}
	}
	if formatted < 50 {
		t.Errorf("only %d files could be formatted", formatted)
	}
}

// TestToolsOnCorpus calls each tool with each file: none fails inside.
func TestToolsOnCorpus(t *testing.T) {
	s := New(Options{})
	for name, text := range corpusFiles(t) {
		for _, tool := range []string{"pixelsrc_render", "pixelsrc_validate", "pixelsrc_suggest", "pixelsrc_explain", "pixelsrc_analyze"} {
			a := s.Call(noContext(), Caller{}, tool, map[string]any{"source": text, "apply": true})
			for _, b := range a.Blocks {
				if strings.Contains(b.Text, "internal error") || strings.Contains(b.Text, "timed out") {
					t.Errorf("%s %s: %s", tool, name, b.Text)
				}
			}
		}
	}
}
