package pencil

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// C-1, C-2.
func TestC2_ExposedNames(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"prefixed", "batch_get", "pencil_batch_get"},
		{"has the prefix", "pencil_x", "pencil_x"},
		{"odd characters", "a.b/c d-é", "pencil_a_b_c_d-_"},
		{"fits", strings.Repeat("a", 43), "pencil_" + strings.Repeat("a", 43)},
		{"too long", strings.Repeat("a", 44), "pencil_" + strings.Repeat("a", 34) + "_HASH"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := exposedName(tt.in)
			if strings.HasSuffix(tt.want, "_HASH") {
				sum := sha256.Sum256([]byte(tt.in))
				tt.want = strings.TrimSuffix(tt.want, "HASH") + hex.EncodeToString(sum[:4])
			}
			if got != tt.want || len(got) > nameLimit {
				t.Errorf("got %q (%d)", got, len(got))
			}
		})
	}
}

func TestI3_OnlyNamesAreRewritten(t *testing.T) {
	r := newRenamer(map[string]string{
		"batch_get": "pencil_batch_get", "batch_get_all": "pencil_batch_get_all", "execute": "pencil_execute", "browser": "pencil_browser", "pencil_own": "pencil_own",
	})
	tests := []struct{ name, in, want string }{
		{"a word", "Use batch_get first.", "Use pencil_batch_get first."},
		{"longest first", "batch_get_all, batch_get", "pencil_batch_get_all, pencil_batch_get"},
		{"part of a word", "my_batch_get batch_gets batch_get2 xbatch_get", "my_batch_get batch_gets batch_get2 xbatch_get"},
		{"already there", "pencil_batch_get pencil_own", "pencil_batch_get pencil_own"},
		{"prose stays", "To execute code in a browser.", "To execute code in a browser."},
		{"in backticks", "`execute` and `to execute`", "`pencil_execute` and `to execute`"},
		{"before a parenthesis", "execute(code) and `execute(x)`", "pencil_execute(code) and `pencil_execute(x)`"},
		{"in a list", "Tools: browser, execute\nAlso: execute. browser", "Tools: pencil_browser, pencil_execute\nAlso: pencil_execute. browser"},
		{"in a list's prose", "Tools: to execute things, execute", "Tools: to execute things, pencil_execute"},
		{"after a letter beyond ASCII", "ébatch_get", "ébatch_get"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := r.text(tt.in)
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if again := r.text(got); again != got {
				t.Errorf("a second pass changes it to %q", again)
			}
		})
	}
}

func TestI3_SchemasKeepAllButDescriptions(t *testing.T) {
	r := newRenamer(map[string]string{"batch_get": "pencil_batch_get"})
	const in = `{ "$ref":"#/definitions/batch_get", "description" : "see batch_get", "properties":{"batch_get":{"description":"batch_get \u00e9"},
		"description":{"type":"string","enum":["batch_get"],"default":"batch_get","examples":[{"description":"batch_get"}]}},
		"oneOf":[{"description":"batch_get"},true], "minimum": 1.50, "const":{"description":"batch_get"}}`
	want := strings.NewReplacer(`"see batch_get"`, `"see pencil_batch_get"`, `"batch_get \u00e9"`, `"pencil_batch_get é"`, `[{"description":"batch_get"},true]`, `[{"description":"pencil_batch_get"},true]`).Replace(in)
	if got := string(r.schema(json.RawMessage(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestI4_LongTextsAreCutAtASentence(t *testing.T) {
	s := strings.Repeat("A sentence é. ", 300)
	got := cutSentence(s, 2000)
	if n := utf8.RuneCountInString(got); n > 2000 || n < 1900 || !strings.HasSuffix(got, "é. […]") {
		t.Errorf("%d characters, ending %q", n, got[len(got)-20:])
	}
	if got := cutSentence("short", 2000); got != "short" {
		t.Errorf("got %q", got)
	}
}

func TestI1_EntryToolIsFoundInAnyCatalogue(t *testing.T) {
	tests := []struct{ name, tools, want string }{
		{"preferred", `[{"name":"a"},{"name":"get_editor_state"}]`, "get_editor_state"},
		{"a read without arguments", `[{"name":"a"},{"name":"b","annotations":{"readOnlyHint":true},"inputSchema":{"required":["x"]}},{"name":"c","annotations":{"readOnlyHint":true}}]`, "c"},
		{"the first", `[{"name":"z"},{"name":"b"}]`, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, _ := rawjson.SplitArray([]byte(tt.tools))
			defs, _ := readDefinitions(list)
			if got := newCatalogue(defs, nil, "", nil, nil).entry().Original; got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestH12_PinsOutliveTheDeckAndSayWhatChanged(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	write := func(content string) {
		if err := os.WriteFile(program, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check := func(tools string) ([]Held, bool) {
		t.Helper()
		p := pins{path: filepath.Join(dir, "state", "pins.json")}
		list, _ := rawjson.SplitArray([]byte(tools))
		defs, _ := readDefinitions(list)
		held, updated, err := p.check(defs, program)
		if err != nil {
			t.Fatal(err)
		}
		return held, updated
	}
	write("one")
	if held, _ := check(`[{"name":"a","description":"x"}]`); len(held) != 0 {
		t.Error("the first definition is taken")
	}
	if held, _ := check(`[{"description":"x","name":"a"},{"name":"b"}]`); len(held) != 0 {
		t.Error("the order of members is no change, and a new tool is taken")
	}
	if held, updated := check(`[{"name":"a","description":"y"}]`); len(held) != 1 || updated {
		t.Errorf("held %v, updated %v", held, updated)
	}
	write("other")
	if held, updated := check(`[{"name":"a","description":"y"}]`); len(held) != 1 || !updated {
		t.Errorf("held %v, updated %v", held, updated)
	}
	if held, _ := check(`[{"name":"a","description":"x"}]`); len(held) != 0 {
		t.Error("what was accepted first is offered again")
	}
	info, err := os.Stat(filepath.Join(dir, "state", "pins.json"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info, err)
	}
}

func TestH12_DamagedPinsAreNotGuessedAt(t *testing.T) {
	o := options(t)
	if err := os.WriteFile(filepath.Join(o.StateDir, "pencil-tools.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := startWith(t, o)
	w.On()
	w.settle(t)
	if s := w.Status(); s.Mode != Off || !strings.Contains(s.Error, "delete it") {
		t.Errorf("mode %s, %q", s.Mode, s.Error)
	}
}

func FuzzCatalogue(f *testing.F) {
	f.Add(`[{"name":"a_b","description":"a_b","inputSchema":{"properties":{"x":{"description":"a_b"}}}},{"name":"","inputSchema":[]},7]`, "Tools: a_b")
	f.Fuzz(func(t *testing.T, tools, guide string) {
		if !json.Valid([]byte(tools)) {
			return
		}
		list, ok := rawjson.SplitArray([]byte(tools))
		if !ok {
			return
		}
		defs, notes := readDefinitions(list)
		c := newCatalogue(defs, notes, cleanGuide(guide), nil, []string{statusTool})
		for i := range c.Tools {
			tool := &c.Tools[i]
			if !json.Valid(tool.JSON()) || len(tool.Name) > nameLimit {
				t.Fatalf("%s", tool.JSON())
			}
		}
	})
}
