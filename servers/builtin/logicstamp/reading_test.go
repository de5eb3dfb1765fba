package logicstamp

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

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
