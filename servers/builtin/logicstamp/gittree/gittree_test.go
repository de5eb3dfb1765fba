package gittree

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

func FuzzCheckRef(f *testing.F) {
	for _, seed := range []string{"HEAD", "main~3", "-x", "--all", "a\x00b", " v1 ", "", strings.Repeat("x", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		got, err := checkRef(ref)
		if err != nil {
			if problem.CodeOf(err) != problem.GitBadRef {
				t.Fatal(err)
			}
			return
		}
		if got == "" || strings.HasPrefix(got, "-") || len(got) > 256 || strings.ContainsAny(got, "\x00\n") {
			t.Fatalf("%q passes", got)
		}
	})
}

func TestLinksThatLeaveAreLeftOut(t *testing.T) {
	for name, row := range map[string]struct {
		file, target string
		stays        bool
	}{
		"beside":         {"src/a.ts", "b.ts", true},
		"up and down":    {"src/a.ts", "../lib/b.ts", true},
		"out":            {"src/a.ts", "../../b.ts", false},
		"absolute":       {"src/a.ts", "/etc/passwd", false},
		"to the top":     {"a.ts", "..", false},
		"through itself": {"src/x/a.ts", "../../src/b.ts", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := staysInside(row.file, row.target); got != row.stays {
				t.Errorf("stays = %v", got)
			}
		})
	}
}
