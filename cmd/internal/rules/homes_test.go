package rules

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// home is what agents were allowed in the files of one, and where each entry is.
type home struct {
	t         *testing.T
	dir       string
	end       string // of lines
	notes     bool   // between the lines
	last      bool   // the last line ends, too
	entries   []string
	revocable int
}

// puts writes a file of lines. "@" in one is a word of its own, which makes it an entry.
func (h *home) puts(name string, note string, lines ...string) {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	var all []string
	for _, line := range lines {
		if h.notes && len(all) > 0 {
			all = append(all, note+" a note")
		}
		if strings.Contains(line, "@") {
			word := fmt.Sprintf("w%d", len(h.entries))
			line = strings.ReplaceAll(line, "@", word)
			h.entries = append(h.entries, fmt.Sprintf("%s:%d %s", path, len(all)+1, word))
			if !strings.Contains(name, "managed") && !slices.ContainsFunc([]string{"deny", "forbidden", "prompt", "ask"}, func(v string) bool { return strings.Contains(line, `"`+v+`"`) }) {
				h.revocable++
			}
		}
		all = append(all, line)
	}
	text := strings.Join(all, h.end)
	if h.last {
		text += h.end
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) list() granted.List {
	return agents.Granted(granted.Where{Folders: clients.Folders{Home: h.dir}, Projects: []string{filepath.Join(h.dir, "shop"), filepath.Join(h.dir, "blog")}, System: filepath.Join(h.dir, "system")})
}

// TestEntriesOfTwentyHomesAreListedWhereTheyAre makes homes of three agents with two repositories, with and without
// notes in the files, a managed one and links, and revokes each entry that allows.
func TestEntriesOfTwentyHomesAreListedWhereTheyAre(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			h := &home{t: t, dir: t.TempDir(), end: []string{"\n", "\r\n"}[i%2], notes: i/2%2 == 1, last: i/4%2 == 1}
			in := []string{"", "  ", "\t"}[i%3]
			rules := []string{"{", in + `"permissions": {`, in + in + `"allow": [`, in + in + in + `"Bash(@:*)",`, in + in + in + `"Bash(@ x)"`, in + in + "],", in + in + `"deny": ["Bash(@)"]`, in + "}", "}"}
			h.puts("shop/.claude/settings.json", "//", rules...)
			h.puts("blog/.claude/settings.local.json", "//", rules[:len(rules)-i%2]...) // one in two is cut off
			if i%2 == 1 {
				h.entries, h.revocable = h.entries[:3], h.revocable-2
			}
			h.puts(".codex/rules/default.rules", "#", `prefix_rule(pattern=["@"], decision="allow")`, `prefix_rule(pattern=["@", ["b", "c"]], decision="forbidden")`, `prefix_rule(pattern = ["@"])`)
			h.puts("shop/.codex/rules/a.rules", "#", `prefix_rule(pattern=["@"], decision="prompt")`)
			h.puts(".config/opencode/opencode.jsonc", "//", "{", in+`"permission": {`, in+in+`"bash": {`, in+in+in+`"@ *": "allow",`, in+in+in+`"@": "deny",`, in+in+`},`, in+"},", "}")
			h.puts("blog/opencode.json", "//", "{", `"permission": {"bash": {`, `"@ *": "ask",`, `"@ y": "allow"`, "}}}")
			if i%5 == 0 {
				h.puts("system/etc/claude-code/managed-settings.json", "//", rules...)
			}
			skipped := i % 2
			switch i % 4 {
			case 1: // a link within the folder
				h.puts(".claude/own.json", "//", rules...)
				h.links("own.json")
				for j := range h.entries {
					h.entries[j] = strings.Replace(h.entries[j], "/.claude/own.json:", "/.claude/settings.json:", 1)
				}
			case 3: // and one out of it
				n, may := len(h.entries), h.revocable
				h.puts("dot/settings.json", "//", rules...)
				h.entries, h.revocable = h.entries[:n], may
				h.links("../dot/settings.json")
				skipped++
			default:
				h.puts(".claude/settings.json", "//", rules...)
			}
			got := h.list()
			var at []string
			for _, e := range got.Entries {
				word := ""
				for _, want := range h.entries {
					if w := want[strings.LastIndex(want, " ")+1:]; slices.Contains(strings.FieldsFunc(e.Text, func(c rune) bool { return !strings.ContainsRune("w0123456789", c) }), w) {
						word = w
					}
				}
				at = append(at, fmt.Sprintf("%s:%d %s", e.File, e.Line, word))
			}
			slices.Sort(at)
			slices.Sort(h.entries)
			if !slices.Equal(at, h.entries) || len(got.Skipped) != skipped {
				t.Fatalf("listed are\n%s\nnot\n%s\n%v skipped, want %d", strings.Join(at, "\n"), strings.Join(h.entries, "\n"), got.Skipped, skipped)
			}
			h.revokes(got.Entries)
		})
	}
}

func (h *home) links(to string) {
	h.t.Helper()
	dir := filepath.Join(h.dir, ".claude")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Symlink(to, filepath.Join(dir, "settings.json"))
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// revokes takes each entry that allows out and puts it back.
func (h *home) revokes(all []granted.Entry) {
	h.t.Helper()
	j, n := change.Journal{Dir: filepath.Join(h.dir, "undo")}, 0
	for _, e := range all {
		if e.Verdict != granted.Allow || e.Fixed != "" {
			continue
		}
		n++
		before, err := os.ReadFile(e.File)
		if err != nil {
			h.t.Fatal(err)
		}
		d, err := without(&e)
		if err != nil {
			h.t.Errorf("%s:%d: %v", e.File, e.Line, err)
			continue
		}
		made, err := j.Apply("rules revoke", []change.Edit{d.Edit}, nil)
		if err != nil {
			h.t.Fatal(err)
		}
		if left := h.list().Entries; len(left) != len(all)-1 || slices.ContainsFunc(left, func(l granted.Entry) bool { return l.File == e.File && l.Text == e.Text }) {
			h.t.Errorf("%s:%d: %d of %d entries are left", e.File, e.Line, len(left), len(all))
		}
		u, err := j.Plan(made)
		if err == nil {
			err = u.Apply()
		}
		if after, _ := os.ReadFile(e.File); err != nil || !bytes.Equal(before, after) {
			h.t.Errorf("undo of %s:%d: %v\n%q\nnot\n%q", e.File, e.Line, err, after, before)
		}
	}
	if n != h.revocable {
		h.t.Errorf("%d of %d entries were revoked, not %d", n, len(all), h.revocable)
	}
}
