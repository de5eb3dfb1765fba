package mcpserver

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// project writes files into a folder.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const sharedPalette = `{type:"palette",name:"shared",colors:{ink:"#123456"}}
{type:"sprite",name:"tile",size:[1,1],palette:"shared",regions:{ink:{points:[[0,0]]}}}`

func TestImportsAndIncludes(t *testing.T) {
	user := `{type:"sprite",name:"s",size:[1,1],palette:"shared",regions:{ink:{points:[[0,0]]}}}`
	shows := func(name string) string {
		return `{type:"composition",name:"s",size:[1,1],sprites:{a:"` + name + `"},layers:[{map:["a"]}]}`
	}
	root := project(t, map[string]string{
		"pxl.toml":             "[project]\nname = \"game\"\nsrc = \"art\"\n",
		"art/lib/shared.pxl":   sharedPalette,
		"art/lib/more/x.jsonl": strings.ReplaceAll(sharedPalette, "shared", "x"),
		"art/relative.pxl":     `{type:"import",from:"./lib/shared"}` + "\n" + user,
		"art/up/up.pxl":        `{type:"import",from:"../lib/shared.pxl",palettes:["shared"]}` + "\n" + user,
		"art/bare.pxl":         `{type:"import",from:"lib/shared"}` + "\n" + user,
		"art/alias.pxl":        `{type:"import",from:"./lib/shared",as:"l"}` + "\n" + strings.Replace(user, `"shared"`, `"l:shared"`, 1),
		"art/folder.pxl":       `{type:"import",from:"./lib/"}` + "\n" + strings.Replace(user, `"shared"`, `"shared:shared"`, 1),
		"art/include.pxl":      strings.Replace(user, `"shared"`, `"@include:lib/shared"`, 1),
		"art/place.pxl":        `{type:"import",from:"./lib/shared",as:"l"}` + "\n" + `{type:"composition",name:"s",size:[1,1],sprites:{a:"l:tile"},layers:[{map:["a"]}]}`,
		"art/lib2/user.pxl":    `{type:"import",from:"../lib/shared",palettes:["shared"]}` + "\n" + strings.Replace(user, `"s"`, `"far"`, 1),
		"art/lib2/alias.pxl":   `{type:"import",from:"./user",as:"u"}` + "\n" + `{type:"variant",name:"v",base:"u:far",palette:{}}`,
		"art/lib2/ring.pxl":    `{type:"import",from:"./ring2"}` + "\n" + strings.Replace(strings.Replace(user, `"s"`, `"far"`, 1), "shared", "ring", 1),
		"art/lib2/ring2.pxl":   `{type:"import",from:"./ring"}` + "\n" + strings.ReplaceAll(sharedPalette, "shared", "ring"),
		"art/lib2/broken.pxl":  `{type:"import",from:"./nothing"}` + "\n" + strings.Replace(user, `"s"`, `"far"`, 1),
		"art/two.pxl":          `{type:"import",from:"./lib2/user"}` + "\n" + shows("far"),
		"art/twoalias.pxl":     `{type:"import",from:"./lib2/user",as:"x"}` + "\n" + shows("x:far"),
		"art/three.pxl":        `{type:"import",from:"./lib2/alias",as:"x"}` + "\n" + shows("x:v"),
		"art/round.pxl":        `{type:"import",from:"./lib2/ring"}` + "\n" + shows("far"),
		"art/twobroken.pxl":    `{type:"import",from:"./lib2/broken"}` + "\n" + shows("far"),
		"art/missing.pxl":      `{type:"import",from:"./nope"}` + "\n" + user,
		"art/wrong.pxl":        `{type:"import",from:"./lib/shared",palettes:["nope"]}` + "\n" + user,
		"art/self.pxl":         `{type:"import",from:"./self"}` + "\n" + user,
		"art/absolute.pxl":     `{type:"import",from:"/etc/passwd"}` + "\n" + user,
	})
	r := newRig(t, root)
	r.initialize("2025-06-18")
	for _, name := range []string{"relative", "up/up", "bare", "alias", "folder", "include", "place", "two", "twoalias", "three", "round"} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			res := r.ok("pixelsrc_render", args{"path": "art/" + name + ".pxl"})
			if !strings.Contains(res.text(), "'s' (1x1 px)") || !strings.Contains(res.text(), "#123456 (1)") || strings.Contains(res.text(), "Warnings") {
				t.Error(res.text())
			}
			var v pixelsrc.Verdict
			if r.data("pixelsrc_validate", args{"path": "art/" + name + ".pxl", "strict": true}, &v); !v.Valid {
				t.Errorf("got %+v", v)
			}
		})
	}
	for _, name := range []string{"missing", "wrong", "self", "absolute", "twobroken"} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			if res := r.ok("pixelsrc_render", args{"path": "art/" + name + ".pxl"}); !strings.Contains(res.text(), "Warnings:\nline 1: import from") {
				t.Error(res.text())
			}
			var v pixelsrc.Verdict
			r.data("pixelsrc_validate", args{"path": "art/" + name + ".pxl"}, &v)
			if v.Errors == 0 || v.ErrorsL[0].Code != "unresolved_import" || v.ErrorsL[0].Line != 1 {
				t.Errorf("got %+v", v)
			}
		})
	}
	var unused pixelsrc.Verdict
	if err := os.WriteFile(filepath.Join(root, "art", "unused.pxl"), []byte(`{type:"import",from:"./lib/shared"}`+"\n"+dot1), 0o600); err != nil {
		t.Fatal(err)
	}
	if r.data("pixelsrc_validate", args{"path": "art/unused.pxl"}, &unused); unused.Errors != 0 || unused.Warnings != 1 || unused.WarnL[0].Code != "unused_import" {
		t.Errorf("got %+v", unused)
	}
	// An inline source of a project resolves from its folder.
	inline := r.ok("pixelsrc_render", args{"source": `{type:"import",from:"./art/lib/shared"}` + "\n" + user})
	if !strings.Contains(inline.text(), "#123456") {
		t.Error(inline.text())
	}
}

func TestSuggestsAnImport(t *testing.T) {
	root := project(t, map[string]string{
		"pxl.toml":           "[project]\nname = \"game\"\nsrc = \"art\"\n",
		"art/lib/shared.pxl": sharedPalette,
		"art/user.pxl":       `{type:"sprite",name:"s",size:[1,1],palette:"shared",regions:{ink:{points:[[0,0]]}}}`,
	})
	r := newRig(t, root)
	r.initialize("2025-06-18")
	res := r.ok("pixelsrc_suggest", args{"path": "art/user.pxl", "apply": true})
	var s suggestions
	if err := json.Unmarshal([]byte(res.Content[0].Text), &s); err != nil || len(s.Suggestions) != 1 {
		t.Fatalf("%v: %s", err, res.text())
	}
	g := s.Suggestions[0]
	if g.Type != "add_explicit_import" || g.Fix.Action != "add_import" || g.Confidence != 0.8 || g.Fix.ImportJSON != `{"type": "import", "from": "lib/shared", "palettes": ["shared"]}` {
		t.Errorf("got %+v", g)
	}
	if err := os.WriteFile(filepath.Join(root, "art", "user.pxl"), []byte(res.Content[1].Text), 0o600); err != nil {
		t.Fatal(err)
	}
	var v pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"path": "art/user.pxl", "strict": true}, &v); !v.Valid {
		t.Errorf("after the fix: %+v", v)
	}
}

func TestWithoutAProject(t *testing.T) {
	root := project(t, map[string]string{"lib.pxl": sharedPalette, "a.pxl": `{type:"import",from:"lib"}` + "\n" + dot1})
	r := newRig(t, root)
	r.initialize("2025-06-18")
	if res := r.ok("pixelsrc_render", args{"path": "a.pxl"}); !strings.Contains(res.text(), "no pxl.toml found above this file") {
		t.Error(res.text())
	}
	inline := `{type:"import",from:"./lib"}` + "\n" + dot1
	if res := r.ok("pixelsrc_render", args{"source": inline}); !strings.Contains(res.text(), "'dot'") || !strings.Contains(res.text(), "source text has no folder") {
		t.Error(res.text())
	}
	var v pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"source": inline}, &v); !v.Valid {
		t.Errorf("single-file mode: %+v", v)
	}
}

func TestRoots(t *testing.T) {
	root, allowed := project(t, map[string]string{"a.pxl": dot1}), project(t, map[string]string{"b.pxl": dot1})
	home := project(t, map[string]string{"c.pxl": dot1})
	s := handling(pixelsrc.Options{AllowDirs: []string{allowed}, Roots: roots.New(roots.Options{Homes: []string{home}})})
	for _, row := range []struct {
		name, root, path string
		ok               bool
	}{
		{"in the project", root, "a.pxl", true},
		{"allowed, absolute", root, filepath.Join(allowed, "b.pxl"), true},
		{"allowed, relative", root, "b.pxl", true},
		{"home is no project", home, "c.pxl", false},
		{"the whole disk is no project", "/", filepath.Join(root, "a.pxl"), false},
		{"no project", "", "b.pxl", true},
		{"dots that stay inside", root, "x/../a.pxl", true},
		{"dots that lead out", root, "../" + filepath.Base(root) + "/a.pxl", false},
	} {
		a := said(s, context.Background(), pixelsrc.Caller{Root: row.root}, "pixelsrc_render", map[string]any{"path": row.path})
		if a.IsError == row.ok {
			t.Errorf("%s: %v", row.name, a.Content)
		}
	}
}

func FuzzTools(f *testing.F) {
	for _, name := range pixelsrc.Examples() {
		f.Add(pixelsrc.Example(name))
	}
	f.Add(sample.AllFields)
	f.Add(multiline)
	s := handling(pixelsrc.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		for _, tool := range []string{"pixelsrc_validate", "pixelsrc_suggest", "pixelsrc_explain", "pixelsrc_analyze", "pixelsrc_render", "pixelsrc_format"} {
			a := said(s, context.Background(), pixelsrc.Caller{}, tool, map[string]any{"source": text, "apply": true})
			for _, b := range a.Content {
				if strings.Contains(b.Text, "internal error") || strings.Contains(b.Text, "timed out") {
					t.Errorf("%s: %s", tool, b.Text)
				}
			}
		}
		said(s, context.Background(), pixelsrc.Caller{}, "pixelsrc_diff", map[string]any{"source_a": text, "source_b": dot1})
	})
}
