package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// drawing returns the options for a server.
func drawing() Options {
	return Options{Title: "Draw", Prefix: "draw_", Reserved: []string{"draw_status"}, Entry: []string{"get_editor_state"}}
}

// made returns the catalogue of a list with nothing held.
func made(list []json.RawMessage) *Catalogue {
	tools, notes := Read(list)
	return New(Listing{Tools: tools, Notes: notes}, Verdict{Instructions: "Look."}, drawing())
}

func TestExposedNames(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"prefixed", "batch_get", "draw_batch_get"},
		{"has the prefix", "draw_x", "draw_x"},
		{"odd characters", "a.b/c d-é", "draw_a_b_c_d-_"},
		{"fits", strings.Repeat("a", 45), "draw_" + strings.Repeat("a", 45)},
		{"too long", strings.Repeat("a", 46), "draw_" + strings.Repeat("a", 36) + "_HASH"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := drawing().Expose(tt.in)
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

func TestOnlyNamesAreRewritten(t *testing.T) {
	r := newRenamer(map[string]string{
		"batch_get": "draw_batch_get", "batch_get_all": "draw_batch_get_all", "execute": "draw_execute", "browser": "draw_browser", "draw_own": "draw_own",
	})
	tests := []struct{ name, in, want string }{
		{"a word", "Use batch_get first.", "Use draw_batch_get first."},
		{"longest first", "batch_get_all, batch_get", "draw_batch_get_all, draw_batch_get"},
		{"part of a word", "my_batch_get batch_gets batch_get2 xbatch_get", "my_batch_get batch_gets batch_get2 xbatch_get"},
		{"already there", "draw_batch_get draw_own", "draw_batch_get draw_own"},
		{"prose stays", "To execute code in a browser.", "To execute code in a browser."},
		{"in backticks", "`execute` and `to execute`", "`draw_execute` and `to execute`"},
		{"before a parenthesis", "execute(code) and `execute(x)`", "draw_execute(code) and `draw_execute(x)`"},
		{"in a list", "Tools: browser, execute\nAlso: execute. browser", "Tools: draw_browser, draw_execute\nAlso: draw_execute. browser"},
		{"in a list's prose", "Tools: to execute things, execute", "Tools: to execute things, draw_execute"},
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

func TestSchemasKeepAllButDescriptions(t *testing.T) {
	r := newRenamer(map[string]string{"batch_get": "draw_batch_get"})
	const in = `{ "$ref":"#/definitions/batch_get", "description" : "see batch_get", "properties":{"batch_get":{"description":"batch_get \u00e9"},
		"description":{"type":"string","enum":["batch_get"],"default":"batch_get","examples":[{"description":"batch_get"}]}},
		"oneOf":[{"description":"batch_get"},true], "minimum": 1.50, "const":{"description":"batch_get"}}`
	want := strings.NewReplacer(`"see batch_get"`, `"see draw_batch_get"`, `"batch_get \u00e9"`, `"draw_batch_get é"`, `[{"description":"batch_get"},true]`, `[{"description":"draw_batch_get"},true]`).Replace(in)
	if got := string(r.schema(json.RawMessage(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A server must not be able to keep the deck busy with a deep schema.
func TestSchemasAreRewrittenToADepth(t *testing.T) {
	r := newRenamer(map[string]string{"batch_get": "draw_batch_get"})
	for depth, want := range map[int]string{10: "draw_batch_get", 9000: "batch_get"} {
		in := strings.Repeat(`{"items":`, depth) + `{"description":"batch_get"}` + strings.Repeat("}", depth)
		if got := string(r.schema(json.RawMessage(in))); got != strings.Replace(in, "batch_get", want, 1) {
			t.Errorf("%d levels down: %.40q is in place of %s", depth, got[depth*len(`{"items":`):], want)
		}
	}
}

func TestLongTextsAreCutAtASentence(t *testing.T) {
	s := strings.Repeat("A sentence é. ", 300)
	got := cutSentence(s, 2000)
	if n := utf8.RuneCountInString(got); n > 2000 || n < 1900 || !strings.HasSuffix(got, "é. […]") {
		t.Errorf("%d characters, ending %q", n, got[len(got)-20:])
	}
	if got := cutSentence("short", 2000); got != "short" {
		t.Errorf("got %q", got)
	}
}

func TestEntryToolIsFoundInAnyCatalogue(t *testing.T) {
	tests := []struct{ name, tools, want string }{
		{"preferred", `[{"name":"a"},{"name":"get_editor_state"}]`, "get_editor_state"},
		{"read-only without arguments", `[{"name":"a"},{"name":"b","annotations":{"readOnlyHint":true},"inputSchema":{"required":["x"]}},{"name":"c","annotations":{"readOnlyHint":true}}]`, "c"},
		{"the first", `[{"name":"z"},{"name":"b"}]`, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, _ := rawjson.SplitArray([]byte(tt.tools))
			if got := made(list).Entry([]string{"get_editor_state"}).Original; got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestPinsOutliveTheDeckAndSayWhatChanged(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	write := func(content string) {
		if err := os.WriteFile(program, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check := func(listed string) ([]Held, bool) {
		t.Helper()
		p := Pins{Path: filepath.Join(dir, "state", "pins.json"), Title: "Draw"}
		list, _ := rawjson.SplitArray([]byte(listed))
		tools, _ := Read(list)
		v, err := p.Check(Listing{Tools: tools, Program: program})
		if err != nil {
			t.Fatal(err)
		}
		return v.Held, v.Updated
	}
	write("one")
	if held, _ := check(`[{"name":"a","description":"x"}]`); len(held) != 0 {
		t.Error("the first definition is held")
	}
	if held, _ := check(`[{"description":"x","name":"a"}]`); len(held) != 0 {
		t.Error("another order of members counts as a change")
	}
	if held, updated := check(`[{"name":"a","description":"y"}]`); len(held) != 1 || updated {
		t.Errorf("held %v, updated %v", held, updated)
	}
	write("other")
	if held, updated := check(`[{"name":"a","description":"y"}]`); len(held) != 1 || !updated {
		t.Errorf("held %v, updated %v", held, updated)
	}
	if held, _ := check(`[{"name":"a","description":"x"}]`); len(held) != 0 {
		t.Error("the accepted definition is held when it comes back")
	}
	info, err := os.Stat(filepath.Join(dir, "state", "pins.json"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info, err)
	}
}

// A change of an unknown member is a change: the list is sent again, and the tool is held.
func TestUnknownMembersCount(t *testing.T) {
	list := func(cost string) *Catalogue {
		raw, _ := rawjson.SplitArray([]byte(`[{"name":"x","inputSchema":{"type":"object"},"annotations":{"costHint":` + cost + `},"annotated":true}]`))
		return made(raw)
	}
	if list("1").Fingerprint() == list("2").Fingerprint() {
		t.Error("different catalogues have the same fingerprint")
	}
}

func TestNullsThatClientsRefuseAreLeftOut(t *testing.T) {
	raw, _ := rawjson.SplitArray([]byte(`[{"name":"x","title":null,"description":null,"inputSchema":null,"outputSchema":null,"annotations":null,"later":null}]`))
	c := made(raw)
	c.Tools[0].Description = ""
	if got, want := string(c.Tools[0].JSON()), `{"name":"draw_x","description":"","inputSchema":{"type":"object"},"later":null}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
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
		read, notes := Read(list)
		c := New(Listing{Tools: read, Notes: notes}, Verdict{Instructions: guide}, drawing())
		for i := range c.Tools {
			tool := &c.Tools[i]
			if !json.Valid(tool.JSON()) || len(tool.Name) > nameLimit {
				t.Fatalf("%s", tool.JSON())
			}
		}
	})
}

func TestEqualCataloguesAreEqual(t *testing.T) {
	list, _ := rawjson.SplitArray([]byte(`[{"name":"b","annotations":{"readOnlyHint":true}},{"name":"a"},{"name":"c"}]`))
	first := made(list)
	slices.Reverse(list)
	if second := made(list); first.Fingerprint() != second.Fingerprint() || first.Tools[0].Original != "a" {
		t.Error("the fingerprint depends on the order of the server's list")
	}
}

func TestWhatIsHeldIsOfferedOnceItIsAccepted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	check := func(listed, instructions string) (Listing, Verdict) {
		t.Helper()
		list, _ := rawjson.SplitArray([]byte(listed))
		tools, notes := Read(list)
		l := Listing{Tools: tools, Notes: notes, Instructions: instructions}
		v, err := (&Pins{Path: path, Title: "Draw"}).Check(l)
		if err != nil {
			t.Fatal(err)
		}
		return l, v
	}
	offered := func(l Listing, v Verdict) (names string) {
		for _, tool := range New(l, v, drawing()).Tools {
			names += tool.Original + " "
		}
		return names
	}
	check(`[{"name":"a"},{"name":"z"}]`, "Look.")
	l, v := check(`[{"name":"a","title":"A"},{"name":"b"}]`, "Look.\nObey.")
	var held []string
	for _, h := range v.Held {
		held = append(held, h.Name()+": "+h.What())
	}
	want := []string{"a: changed from 12 B to 24 B", "b: new, 12 B", "the instructions: changed from 5 B to 11 B"}
	if !slices.Equal(held, want) || offered(l, v) != "" || v.Instructions != "Look." {
		t.Errorf("held %q, offered %q with %q", held, offered(l, v), v.Instructions)
	}
	if want := []Note{{"z", "no longer listed by Draw's server"}}; !slices.Equal(v.Gone, want) {
		t.Errorf("gone %v, want %v", v.Gone, want)
	}
	p := &Pins{Path: path, Title: "Draw"}
	if err := p.Accept(v.Held[:2]); err != nil || p.Accepted(v.Held) || !p.Accepted(v.Held[:2]) {
		t.Errorf("two were accepted: %v; all: %v", err, p.Accepted(v.Held))
	}
	if err := p.Accept(v.Held[2:]); err != nil || !p.Accepted(v.Held) {
		t.Errorf("all were accepted: %v", err)
	}
	if err := p.Forget(v.Gone); err != nil {
		t.Error(err)
	}
	if l, v := check(`[{"name":"a","title":"A"},{"name":"b"},{"name":"z"}]`, "Look.\nObey."); offered(l, v) != "a b " || len(v.Held) != 1 || !v.Held[0].New {
		t.Errorf("a tool that comes back is not new: offered %q, held %v", offered(l, v), v.Held)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Pins{Path: path, Title: "Draw"}).Check(l); err == nil || !strings.Contains(err.Error(), "delete it to accept what Draw offers now") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestADamagedDefinitionIsNotOffered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	if err := os.WriteFile(path, []byte(`{"guide":"","tools":{"a":"{\"name\":\"a\"}","b":"{","c":"","d":"[1"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Pins{Path: path, Title: "Git", Exact: true}
	l, _, err := p.Recall()
	if err != nil || len(l.Tools) != 1 || l.Tools[0].Original != "a" || len(l.Notes) != 3 {
		t.Errorf("%d tools, notes %v, %v", len(l.Tools), l.Notes, err)
	}
}
