package contract_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

const index = `{"type":"LogicStampIndex","schemaVersion":"0.2","projectRoot":".","createdAt":"2026-01-02T03:04:05.000Z",
"summary":{"totalComponents":2,"totalBundles":1,"totalFolders":1,"totalTokenEstimate":10},
"folders":[{"path":"src","contextFile":"src/context.json","bundles":1,"components":["A.tsx"],"tokenEstimate":10}],
"meta":{"source":"logicstamp-context@0.8.8"}}`

const bundle = `{"position":"1/1","type":"LogicStampBundle","entryId":"src/B.tsx","depth":2,"bundleHash":"uifb:1","graph":{"nodes":[
{"entryId":"src/A.tsx","contract":{"kind":"react:component","entryId":"src/A.tsx","composition":{"variables":["b","a","a"]},
"interface":{"props":{"x":"boolean","t":["b","a"]},"emits":{}},"exports":{"named":["Q","P"]},"semanticHash":"uif:a","fileHash":"uif:fa"},"codeHeader":null},
{"entryId":"src/B.tsx","contract":{"kind":"react:component","entryId":"src/B.tsx","composition":{},"interface":{"props":{"x":{"type":"boolean","optional":false}}},"exports":"default"}}],
"edges":[["src/B.tsx","src/A.tsx"]]},"meta":{"missing":[{"name":"left-pad","referencedBy":"src/A.tsx"},"other"]}}`

func read(files map[string]string) (*contract.Context, error) {
	return contract.ReadFrom("there", contract.Options{Project: "/p"}, func(name string, limit int64) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		if int64(len(text)) > limit {
			return nil, problem.New(problem.ContextTooLarge, "", "too large")
		}
		return []byte(text), nil
	})
}

func TestFolderFileFormats(t *testing.T) {
	second := strings.ReplaceAll(bundle, "src/B.tsx", "src/C.tsx")
	compact := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	for name, text := range map[string]string{
		"json": "[" + bundle + "," + second + "]", "json with a byte order mark": "\xef\xbb\xbf[" + bundle + "," + second + "]",
		"ndjson": compact(bundle) + "\n" + compact(second) + "\n",
		"pretty": "\n# Bundle 1/2: src/B.tsx\n" + bundle + "\n\n# Bundle 2/2: src/C.tsx\n" + second + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := read(map[string]string{"context_main.json": index, "src/context.json": text})
			if err != nil {
				t.Fatal(err)
			}
			bundles := c.Folders[0].Bundles
			if len(bundles) != 2 || bundles[0].Root != "src/B.tsx" || bundles[1].Root != "src/C.tsx" {
				t.Fatalf("bundles = %+v", bundles)
			}
			b := bundles[0]
			if b.RootNode() == nil || b.RootNode().ID != "src/B.tsx" || len(b.Missing) != 2 || len(b.Edges) != 1 {
				t.Errorf("bundle = %+v", b)
			}
			a := c.Visible()["src/A.tsx"]
			if a.Root || len(a.Roots) != 2 || strings.Join(a.Variables, ",") != "a,b" || a.Props["t"].Text != `"a" | "b"` {
				t.Errorf("contract = %+v", a.Contract)
			}
			if v := c.Visible()["src/B.tsx"]; v.Props["x"] != a.Props["x"] {
				t.Errorf("props of equal meaning differ: %+v %+v", v.Props, a.Props)
			}
		})
	}
}

func TestIdsOfEveryVersion(t *testing.T) {
	for name, row := range map[string]struct{ resolved, id, want string }{
		"relative":                     {"", "src/B.tsx", "src/B.tsx"},
		"leading dot":                  {"", "./src/B.tsx", "src/B.tsx"},
		"backslashes":                  {"", `src\B.tsx`, "src/B.tsx"},
		"absolute below the old root":  {"/old/shop", "/old/shop/src/B.tsx", "src/B.tsx"},
		"absolute below the project":   {"", "/p/src/B.tsx", "src/B.tsx"},
		"absolute on Windows":          {`C:\shop`, `c:\shop\src\B.tsx`, "src/B.tsx"},
		"absolute somewhere else":      {"", "/elsewhere/src/B.tsx", "src/B.tsx"},
		"absolute in a deeper folder":  {"", "/elsewhere/src/src/B.tsx", "src/B.tsx"},
		"a longer name is no tail":     {"", "/elsewhere/xsrc/B.tsx", "/elsewhere/xsrc/B.tsx"},
		"case is kept":                 {"", "src/b.TSX", "src/b.TSX"},
		"a root that is only a prefix": {"/old/sho", "/old/shop/src/B.tsx", "src/B.tsx"},
	} {
		t.Run(name, func(t *testing.T) {
			quoted, _ := json.Marshal(row.resolved)
			id, _ := json.Marshal(row.id)
			c, err := read(map[string]string{
				"context_main.json": strings.Replace(index, `"projectRoot":"."`, `"projectRoot":".","projectRootResolved":`+string(quoted), 1),
				"src/context.json":  `[{"entryId":` + string(id) + `,"graph":{"nodes":[{"entryId":` + string(id) + `,"contract":{}}]}}]`,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Folders[0].Bundles[0].Root; got != row.want {
				t.Errorf("root = %q, want %q", got, row.want)
			}
		})
	}
}

func TestWhatCannotBeReadIsNeverEmpty(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for name, row := range map[string]struct {
		files map[string]string
		want  problem.Code
	}{
		"no index":              {map[string]string{}, problem.ContextMissing},
		"index is no JSON":      {map[string]string{"context_main.json": "{"}, problem.BadJSON},
		"index is another file": {map[string]string{"context_main.json": `{"type":"Other"}`}, problem.NotAnIndex},
		"folder file missing":   {map[string]string{"context_main.json": index}, problem.ContextIncomplete},
		"folder file empty":     {map[string]string{"context_main.json": index, "src/context.json": ""}, problem.ContextIncomplete},
		"folder file no bundle": {map[string]string{"context_main.json": index, "src/context.json": `[{"a":1}]`}, problem.ContextIncomplete},
		"folder file broken":    {map[string]string{"context_main.json": index, "src/context.json": `[{"entryId":`}, problem.ContextIncomplete},
		"too deep":              {map[string]string{"context_main.json": index, "src/context.json": deep}, problem.ContextIncomplete},
		"file leaves":           {map[string]string{"context_main.json": strings.Replace(index, "src/context.json", "../x.json", 1)}, problem.NotAnIndex},
		"file is absolute":      {map[string]string{"context_main.json": strings.Replace(index, "src/context.json", "/etc/x.json", 1)}, problem.NotAnIndex},
		"file too large":        {map[string]string{"context_main.json": index, "src/context.json": strings.Repeat(" ", 65<<20)}, problem.ContextTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(row.files)
			if got := problem.CodeOf(err); got != row.want {
				t.Errorf("error = %v, want %s", err, row.want)
			}
		})
	}
}

func TestALinkOutOfTheContextIsRefused(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "context.json")
	for name, text := range map[string]string{outside: "[" + bundle + "]", filepath.Join(dir, "context_main.json"): index} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "src"), 0o700), os.Symlink(outside, filepath.Join(dir, "src", "context.json"))); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := contract.Read(dir, contract.Options{}); problem.CodeOf(err) != problem.NotAnIndex {
		t.Errorf("error = %v", err)
	}
}

func TestUnusualContextsAreReadWithWarnings(t *testing.T) {
	c, err := read(map[string]string{
		"context_main.json": strings.Replace(index, `"schemaVersion":"0.2"`, `"schemaVersion":"9"`, 1),
		"src/context.json":  strings.Replace("["+bundle+"]", `"entryId":"src/B.tsx","depth"`, `"entryId":"src/Z.tsx","depth"`, 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	var codes []problem.Code
	for _, w := range c.Warnings {
		codes = append(codes, w.Code)
	}
	if len(codes) != 2 || codes[0] != problem.UnknownSchema || codes[1] != problem.BundleWithoutRoot || !c.Folders[0].Bundles[0].Damaged {
		t.Errorf("warnings = %v", codes)
	}
}

func TestToonIsPassedOnOnly(t *testing.T) {
	c, err := read(map[string]string{"context_main.json": strings.ReplaceAll(index, "context.json", "context.toon"), "src/context.toon": "bundles[1]:"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Folders[0].Toon != "bundles[1]:" || problem.CodeOf(c.NeedBundles()) != problem.UnsupportedFormat {
		t.Errorf("folder = %+v, %v", c.Folders[0], c.NeedBundles())
	}
}

func FuzzRead(f *testing.F) {
	f.Add(index, "["+bundle+"]")
	f.Add(index, strings.ReplaceAll(bundle, "\n", ""))
	f.Add(index, "# Bundle 1/1\n"+bundle)
	f.Add(`{"type":"LogicStampIndex","folders":[{"path":"src","components":["x"]}]}`, "[]")
	f.Fuzz(func(t *testing.T, index, folder string) {
		c, err := contract.ReadFrom("d", contract.Options{Project: "/p"}, func(name string, _ int64) ([]byte, error) {
			if name == contract.IndexFile {
				return []byte(index), nil
			}
			return []byte(folder), nil
		})
		if err != nil {
			if code := problem.CodeOf(err); code == problem.Internal || code == problem.ContextMissing {
				t.Fatalf("an error without a code of its own: %v", err)
			}
			return
		}
		for id, v := range c.Visible() {
			if v.Contract == nil || len(v.Roots) == 0 || v.ID != id {
				t.Fatalf("visible %q = %+v", id, v)
			}
		}
		for _, folder := range c.Folders {
			for _, b := range folder.Bundles {
				if b.Damaged != (b.RootNode() == nil) || b.Tokens < 0 {
					t.Fatalf("bundle = %+v", b)
				}
			}
		}
	})
}
