package pixelsrc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLoadResolvesImportsLikeTheTool reads a file that takes its palette and a
// sprite from others.
func TestLoadResolvesImportsLikeTheTool(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"pxl.toml":             "[project]\nname = \"x\"\n",
		"src/pxl/colours.pxl":  `{type: "palette", name: "warm", colors: {a: "#f00"}}` + "\n" + `{type: "sprite", name: "other", size: [3, 3], palette: "warm", regions: {a: {rect: [0, 0, 3, 3]}}}`,
		"src/pxl/art/hero.pxl": "{type: \"import\", from: \"../colours\"}\n{type: \"import\", from: \"./none\"}\n" + `{type: "composition", name: "scene", size: [3, 3], layers: [{sprite: "hero"}]}` + "\n" + `{type: "sprite", name: "hero", size: [1, 1], palette: "warm", regions: {a: {points: [[0, 0]]}}}`,
	})
	doc, err := Load(filepath.Join(dir, "src/pxl/art/hero.pxl"), pxl.Documented)
	if err != nil {
		t.Fatal(err)
	}
	res, err := doc.Render(pxl.RenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := res.Image().NRGBAAt(0, 0); res.Name != "hero" || c.R != 255 || c.A != 255 {
		t.Errorf("drew %s with %v, want hero in red: %v", res.Name, c, res.Diagnostics)
	}
	if len(res.Diagnostics) > 0 {
		t.Errorf("drawing it tells %v", res.Diagnostics)
	}
	if ds := doc.Diagnostics(); len(ds) != 1 || ds[0].Code != pxl.CodeImport || ds[0].Line != 2 {
		t.Errorf("got %v, want the import of line 2 alone", ds)
	}
	if slices.ContainsFunc(doc.Objects(), func(o pxl.Object) bool { return o.Name == "other" }) {
		t.Error("an imported sprite is listed as the file's own")
	}
	if _, err := doc.Render(pxl.RenderOptions{Name: "other"}); err != nil {
		t.Errorf("the imported sprite cannot be asked for by name: %v", err)
	}
}
