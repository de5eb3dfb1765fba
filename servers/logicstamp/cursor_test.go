package logicstamp

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
)

func FuzzCursor(f *testing.F) {
	s, err := New(Options{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	good := s.seal(cursor{Tool: "list", Args: "a", Source: "x", At: 3})
	f.Add(good)
	f.Add(good[1:])
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := s.open(text, "list", "a")
		switch {
		case text == good || text == "":
			if err != nil {
				t.Fatal(err)
			}
		case err == nil:
			t.Fatalf("%q passes as %+v", text, c)
		case problem.CodeOf(err) != problem.BadCursor:
			t.Fatal(err)
		}
	})
}

func FuzzBundlePath(f *testing.F) {
	c := contract.Empty("/p", "t@1")
	c.Folders = []*contract.Folder{{Path: "src", File: "src/context.json"}}
	for _, seed := range []string{"src/context.json", "../x", "/etc/passwd", "src/./context.json", "a.ts", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := filesNamed(c, name); len(got) > 0 && name != "src/context.json" {
			t.Fatalf("%q is taken for a file of the context", name)
		}
		if problem.CodeOf(unknownFile(c, name)) != problem.BundlePath {
			t.Fatal("another error")
		}
	})
}
