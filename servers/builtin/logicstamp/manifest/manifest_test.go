package manifest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

func take(t *testing.T, dir string, o manifest.Options) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Take(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func paths(files []manifest.File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

func TestWhatIsASource(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "far.ts")
	stamptest.Write(t, filepath.Dir(outside), map[string]string{"far.ts": "export {}"})
	stamptest.Write(t, dir, map[string]string{
		"a.ts": "1", "src/b.tsx": "2", "src/c.d.ts": "3", "src/D.stories.tsx": "4", "src/style.css": "x",
		"src/e.test.ts": "", "src/f.spec.tsx": "", "src/.hidden.ts": "", ".dot/g.ts": "", "node_modules/h.ts": "", "src/dist/i.ts": "",
		"build/j.ts": "", "coverage/k.ts": "", "src/l.js": "", "src/m.mts": "", "src/n.vue": "",
		"src/skip/o.ts": "", "src/legacy/deep/p.ts": "", "src/q.ts": "", "package.json": "{}",
		".stampignore": `{"ignore":["src/skip/*","q.ts","src/legacy/**"]}`,
	})
	if err := os.Symlink(outside, filepath.Join(dir, "src/linked.ts")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for name, target := range map[string]string{
		"src/folder": filepath.Dir(outside), "src/node_modules": filepath.Dir(outside), "src/skip/far.ts": outside, "src/far.test.ts": outside,
		"src/far.css": outside, "src/twin.ts": "q.ts", "src/again.ts": filepath.Join(dir, "src/b.tsx"), "src/inner": dir, "src/none.ts": "nowhere.ts",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m := take(t, dir, manifest.Options{})
	// "**" reaches one folder less than it says: the command's own quirk.
	want := []string{"a.ts", "src/D.stories.tsx", "src/again.ts", "src/b.tsx", "src/c.d.ts", "src/legacy/deep/p.ts", "src/twin.ts"}
	if got := paths(m.Files); !slices.Equal(got, want) {
		t.Errorf("sources = %q", got)
	}
	if got := paths(m.Inputs); !slices.Equal(got, []string{".stampignore", "package.json"}) {
		t.Errorf("inputs = %q", got)
	}
	if got := m.Outside; len(got) != 1 || got[0].Path != "src/linked.ts" || len(m.LeftOut) != 1 || m.LeftOut[0].Path != "src/folder" {
		t.Errorf("outside = %q, left out = %q", got, m.LeftOut)
	}
	far, err := filepath.EvalSymlinks(filepath.Dir(outside))
	if err != nil {
		t.Fatal(err)
	}
	allowed := take(t, dir, manifest.Options{Allowed: []string{far}})
	if f, ok := allowed.Find("src/linked.ts"); !ok || f.FileHash != manifest.FileHash([]byte("export {}")) || len(allowed.Outside)+len(allowed.LeftOut) > 0 {
		t.Errorf("allowed: %q, outside %q", paths(allowed.Files), allowed.Outside)
	}
	styled := take(t, dir, manifest.Options{Style: true})
	if f, ok := styled.Find("src/style.css"); !ok || f.FileHash != "" || len(styled.Components()) != len(want) || len(styled.Outside) != 2 {
		t.Errorf("with style: %q", paths(styled.Files))
	}
}

func TestManifestsTellWhatChanged(t *testing.T) {
	dir := t.TempDir()
	stamptest.Write(t, dir, map[string]string{"a.ts": "1", "b.ts": "2", "c.ts": "3", "package.json": "{}"})
	before := take(t, dir, manifest.Options{})
	stamptest.Write(t, dir, map[string]string{"a.ts": "changed", "d.ts": "4", "package.json": `{"x":1}`})
	if err := os.Remove(filepath.Join(dir, "c.ts")); err != nil {
		t.Fatal(err)
	}
	got := take(t, dir, manifest.Options{Known: before}).Since(before)
	if !slices.Equal(got.Changed, []string{"a.ts", "package.json"}) || !slices.Equal(got.New, []string{"d.ts"}) || !slices.Equal(got.Deleted, []string{"c.ts"}) {
		t.Errorf("changes = %+v", got)
	}
	if again := take(t, dir, manifest.Options{}); !again.Since(take(t, dir, manifest.Options{Known: again})).Empty() {
		t.Error("the same files differ")
	}
}

func TestFileHashIgnoresTheHeaderAndLineEnds(t *testing.T) {
	plain := manifest.FileHash([]byte("export const x = 1;\n"))
	for name, text := range map[string]string{
		"header":            "/**\n * @uif Contract 0.3\n */\n\nexport const x = 1;\n",
		"Windows line ends": "export const x = 1;\r\n",
	} {
		if got := manifest.FileHash([]byte(text)); got != plain {
			t.Errorf("%s: %s, want %s", name, got, plain)
		}
	}
	if manifest.FileHash([]byte("// caf\xe9\n")) != manifest.FileHash([]byte("// caf\ufffd\n")) {
		t.Error("what is no UTF-8 is not read as the command reads it")
	}
	for name, text := range map[string]string{
		"another comment": "/** hello */\nexport const x = 1;\n", "another text": "export const x = 2;\n",
		"a tag outside": "// @uif\n/** x */\nexport const x = 1;\n",
	} {
		if manifest.FileHash([]byte(text)) == plain {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

func FuzzIsSource(f *testing.F) {
	f.Add("src/a.ts")
	f.Add("/x/../dist/a.tsx")
	f.Fuzz(func(t *testing.T, p string) {
		if manifest.IsSource(p, false) && !manifest.IsSource(p, true) {
			t.Fatalf("%q is a source only without style", p)
		}
	})
}

// What is written again with the size and the time that it had is not what was hashed.
func TestAFileOfEqualSizeAndTimeIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.ts")
	stamptest.Write(t, dir, map[string]string{"a.ts": "1"})
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, now := range map[string]time.Time{"at once": time.Now(), "long after": time.Now().Add(time.Hour)} {
		stamptest.Write(t, dir, map[string]string{"a.ts": "1"})
		at := manifest.Options{Now: func() time.Time { return now }}
		before := take(t, dir, at)
		stamptest.Write(t, dir, map[string]string{"a.ts": "2"})
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		at.Known = before
		if got := take(t, dir, at).Since(before); !slices.Equal(got.Changed, []string{"a.ts"}) {
			t.Errorf("%s: changes = %+v", name, got)
		}
	}
}

func TestWhetherATextImportsFromAFolder(t *testing.T) {
	for text, want := range map[string]bool{
		"import { a } from './result/a'": true, "import a from \"../result\"": true, "export * from `../x/result/y`": true,
		"type T = import('./RESULT/a').T": true, "/// <reference path=\"result/a.d.ts\" />": true, "/// <reference path='./result' />": true,
		`import a from './re\x73ult/a'`: true, `import a from './re\u0073ult/a'`: true, `import a from '.\u{2f}\u{0072}esult/a'`: true, "import a from './re\\\nsult/a'": true,
		`import a from './\162esult/a'`: true,
		"const kind = 'result'":         false, "return result / 2": false, "import a from './results/a'": false, "import a from './my-result/a'": false, "// of result": false,
	} {
		dir, elsewhere := t.TempDir(), t.TempDir()
		stamptest.Write(t, dir, map[string]string{"src/a.test.ts": text})
		if err := os.Symlink(elsewhere, filepath.Join(dir, "result")); err != nil {
			t.Skipf("no links here: %v", err)
		}
		m := take(t, dir, manifest.Options{})
		if got := len(m.Outside) == 1; got != want || len(m.Outside)+len(m.LeftOut) != 1 {
			t.Errorf("%s: outside %q, left out %q", text, m.Outside, m.LeftOut)
		}
	}
}
