package mcpserver

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

func FuzzCursor(f *testing.F) {
	s := newPager(1000, 1000)
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
