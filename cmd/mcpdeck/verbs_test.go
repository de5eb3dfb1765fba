package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// The keys that mean something, all told: those of everywhere, and those of text fields and
// forms.
const (
	keysEverywhere = "I A C S P D alt+i alt+a alt+c alt+s alt+p alt+d ] [ tab shift+tab left right h l up down k j g G home end pgdown pgup ctrl+d ctrl+u " +
		"enter esc space 1 2 3 4 5 6 7 8 9 y n a m z t x u e J c d v r s f + - / shift+enter p H ! ? f1 : ctrl+p q ctrl+c ctrl+t ctrl+l ctrl+z"
	keysOfFields = "ctrl+j ctrl+_ ctrl+/ ctrl+y tab delete alt+up alt+down ctrl+s"
)

// A key has one verb, but for Enter, which goes on to the next place that was found, and Tab,
// which completes a word.
func TestAKeyHasOneVerb(t *testing.T) {
	twice := map[string][]verb.Verb{"enter": {verb.Open, verb.FindNext}, "tab": {verb.NextPane, verb.Complete}}
	for _, fields := range []bool{false, true} {
		want := strings.Fields(keysEverywhere)
		if fields {
			want = strings.Fields(keysOfFields)
		}
		got := map[string]bool{}
		for _, v := range verb.All() {
			for _, k := range v.Keys() {
				if v.Field() == fields {
					got[k] = true
				}
			}
		}
		slices.Sort(want)
		if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, want) {
			t.Errorf("keys %q, want %q", have, want)
		}
	}
	by := map[string][]verb.Verb{}
	for _, v := range verb.All() {
		for _, k := range v.Keys() {
			if by[k] = append(by[k], v); len(by[k]) > 1 && !slices.Equal(by[k], twice[k]) {
				t.Errorf("the key %s has the verbs %v", k, by[k])
			}
		}
	}
}

// An action has no key but those of its verbs.
func TestActionsHaveTheKeysOfTheirVerbs(t *testing.T) {
	for _, b := range tui.Bounds(built(t, true).Screen(false)) {
		var may []string
		for _, v := range b.Verbs {
			may = append(may, v.Keys()...)
		}
		for _, k := range b.Keys {
			if !slices.Contains(may, k) {
				t.Errorf("%s has the key %s, which is of none of its verbs", b.ID, k)
			}
		}
	}
	// Those of overlays are in no table before they open. A confirmation has the letters of
	// its answers, and the demo a key to go on.
	for _, f := range screenSource(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			has := map[string]ast.Expr{}
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if name, ok := kv.Key.(*ast.Ident); ok {
						has[name.Name] = kv.Value
					}
				}
			}
			if has["ID"] == nil || has["Title"] == nil || has["Keys"] == nil || has["Verb"] != nil {
				return true
			}
			if id := literal(has["ID"]); id != "confirm." && id != "guide" {
				t.Errorf("action %s has keys and no verb", id)
			}
			return true
		})
	}
}

// screenSource is the parsed source of the screen and the commands, without tests.
func screenSource(t *testing.T) map[string]*ast.File {
	t.Helper()
	out := map[string]*ast.File{}
	for _, room := range []string{"../../tui", "../../cmd"} {
		err := filepath.WalkDir(room, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/internal/fake/") {
				return err
			}
			out[strings.TrimPrefix(path, "../../")], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// literal is the first string in an expression.
func literal(e ast.Expr) string {
	s := ""
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && s == "" {
			s, _ = strconv.Unquote(lit.Value)
		}
		return true
	})
	return s
}

func TestTheTableOfKeysIsShort(t *testing.T) {
	rows, fields := 0, 0
	for _, v := range verb.All() {
		if rows++; v.Field() {
			fields++
		}
	}
	if rows-fields > 60 || rows > 90 {
		t.Errorf("%d keys everywhere and %d in fields and forms: want at most 60, and 90 together", rows-fields, fields)
	}
}

// footerVerbs are what a footer may say that a key does.
func footerVerbs() []string {
	return []string{
		"open", "choose", "next", "more", "send", "allow once", "deny", "always…", "add a rule…", "message", "ask back", "later", "hand over", "take back", "give back", "stop", "decline", "undo", "mark", "on/off", "turn on", "turn off", "terminal", "copy",
		"edit", "details", "view", "sort", "again", "follow", "larger", "smaller", "filter", "remove", "back", "commands", "quit", "help",
		"inbox", "agents", "calls", "servers", "pixels", "drift",
	}
}

func TestFootersSayVerbs(t *testing.T) {
	may := footerVerbs()
	for _, p := range built(t, true).Screen(false).Pages {
		for _, a := range p.Actions() {
			if a.Hint != "" && !slices.Contains(may, a.Hint) {
				t.Errorf("the footer says %q of %s", a.Hint, a.ID)
			}
		}
	}
	n := 0
	for path, rows := range goldenFrames(t) {
		if !strings.HasPrefix(path, "tui/page/") || !strings.Contains(rows[0], "[") || !strings.Contains(rows[0], "]") {
			continue // not a whole screen
		}
		last := rows[len(rows)-1]
		row := strings.TrimSpace(last)
		if strings.HasPrefix(row, "just arrived") { // a message in its place
			continue
		}
		row = strings.TrimSuffix(strings.TrimSuffix(row, "?"), "? help")
		for _, entry := range strings.Split(row, "  ") {
			key, says, _ := strings.Cut(strings.TrimSpace(entry), " ")
			if n++; key != "" && !slices.Contains(may, says) {
				t.Errorf("%s: the footer says %q of %s", path, says, key)
			}
		}
	}
	if n < 500 {
		t.Errorf("%d entries of footers were read", n)
	}
}

// A key that shows the next view or another size may be pressed several times in a row, also where the terminal
// does not tell a press from a key that is held down.
func TestKeysThatOnlyShowOtherwiseMayBeRepeated(t *testing.T) {
	n := 0
	for _, p := range built(t, true).Screen(false).Pages {
		for _, a := range p.Actions() {
			if a.Verb != verb.View && a.Verb != verb.Larger && a.Verb != verb.Smaller {
				continue
			}
			if n++; !a.Moves {
				t.Errorf("%s counts once", a.ID)
			}
		}
	}
	if n < 8 {
		t.Errorf("%d actions show something otherwise", n)
	}
}

// What a text says of a key has a word of what a footer, a title of an action or the table of keys
// says of it: "y allows once, n denies", "enter opens it".
func TestTextsSayOfAKeyWhatItDoes(t *testing.T) {
	does := map[string]map[string]bool{} // a key's words
	learn := func(key, text string) {
		if does[key] == nil {
			does[key] = map[string]bool{}
		}
		for _, w := range regexp.MustCompile(`[\pL/]+`).FindAllString(strings.ToLower(text), -1) {
			does[key][w] = true
		}
	}
	for _, v := range verb.All() {
		for _, k := range v.Keys() {
			learn(k, v.Means())
		}
	}
	for _, b := range tui.Bounds(built(t, true).Screen(false)) {
		for _, k := range b.Keys {
			learn(k, b.Title)
		}
	}
	for _, rows := range goldenFrames(t) {
		for _, entry := range strings.Split(rows[len(rows)-1], "  ") {
			if key, says, _ := strings.Cut(strings.TrimSpace(entry), " "); slices.Contains(footerVerbs(), says) {
				learn(key, says)
			}
		}
	}
	learn("ctrl+n", "next play again") // the guide's own
	learn("enter", "allow")            // what a common answer is set to
	learn("esc", "clear close")
	said := regexp.MustCompile("(?:^|[.:;,(] |\\b(?:and|or) )(`?)(enter|Enter|esc|Esc|space|tab|ctrl\\+\\w|[\\w+!?])`? ([a-z]+s\\b(?:,? [a-z]+\\b){0,4})")
	n := 0
	check := func(place, text string) {
		for _, m := range said.FindAllStringSubmatch(text, -1) {
			key := strings.ToLower(m[2])
			if len(key) == 1 {
				if key = m[2]; m[1] == "" && strings.ContainsAny(key, "aAI") {
					continue // a word
				}
			}
			if does[key] == nil {
				continue
			}
			n++
			if !slices.ContainsFunc(strings.FieldsFunc(m[3], func(r rune) bool { return r == ' ' || r == ',' }), func(w string) bool {
				return does[key][w] || does[key][strings.TrimSuffix(w, "s")] || does[key][strings.TrimSuffix(w, "es")] || does[key][strings.TrimSuffix(w, "ies")+"y"]
			}) {
				t.Errorf("%s says %q; elsewhere it is %v", place, m[0], slices.Sorted(maps.Keys(does[key])))
			}
		}
	}
	for path, f := range screenSource(t) {
		if strings.HasPrefix(path, "tui/") || strings.HasPrefix(path, "cmd/internal/demo/") {
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok {
					check(path, stringOf(lit))
				}
				return true
			})
		}
	}
	for _, dir := range []string{"", "tui", "servers/builtin/ask", "servers/builtin/pixelsrc", "servers/builtin/logicstamp", "servers/builtin/pencil", "servers/builtin/clippy", "servers/backend/upstream", "servers/agents/approvals"} {
		path := filepath.Join(dir, "README.md")
		b, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		check(path, strings.ReplaceAll(string(b), "\n", " "))
	}
	if n < 30 {
		t.Errorf("%d sentences were read", n)
	}
}

// A command that a text names is found by that in the palette.
func TestCommandsThatTextsNameAreThere(t *testing.T) {
	var ids, titles []string
	for _, b := range tui.Bounds(built(t, true).Screen(false)) {
		ids, titles = append(ids, b.ID), append(titles, b.Title)
	}
	named := regexp.MustCompile(`(?:^|[ ;,(]):([a-z]{3,}(?: prompts)?)`)
	n := 0
	for path, f := range screenSource(t) {
		ast.Inspect(f, func(node ast.Node) bool {
			lit, _ := node.(*ast.BasicLit)
			if lit == nil || !strings.HasPrefix(path, "tui/") {
				return true
			}
			for _, m := range named.FindAllStringSubmatch(stringOf(lit), -1) {
				n++
				if !slices.ContainsFunc(ids, func(id string) bool { return strings.HasSuffix(id, "."+m[1]) || id == m[1] }) &&
					!slices.ContainsFunc(titles, func(title string) bool { return widget.Match(m[1], title) > 0 }) {
					t.Errorf("%s: %q: there is no command %q", path, stringOf(lit), m[1])
				}
			}
			return true
		})
	}
	if n < 5 {
		t.Errorf("%d commands were read", n)
	}
}

// goldenFrames are the rows of all frames that are kept of whole screens, without colours.
func goldenFrames(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir("../../tui", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txt" || !strings.Contains(path, "/testdata/") {
			return err
		}
		b, err := os.ReadFile(path)
		b = bytes.TrimSuffix(b, []byte("\n"))
		out[strings.TrimPrefix(path, "../../")] = strings.Split(ansi.Strip(string(b)), "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
