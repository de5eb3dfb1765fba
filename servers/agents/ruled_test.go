//go:build unix

package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
)

// TestRulesAllowWhatAnAgentsValueSaysAndNothingElse has rules for all that they can be about, and every agent ask for
// each kind of it, as if its adapter knew all that it has to.
func TestRulesAllowWhatAnAgentsValueSaysAndNothingElse(t *testing.T) {
	local := []book.Kind{book.OfCommands, book.OfEdits}
	want := book.Allowed{"claude": {book.OfCommands, book.OfEdits, book.OfPages, book.OfCalls}, "codex": local, "opencode": local, "kilo": local}
	if got := agents.Ruled(); !reflect.DeepEqual(got, want) {
		t.Errorf("rules may allow %v", got)
	}
	home := t.TempDir()
	shop := filepath.Join(home, "shop")
	if err := os.MkdirAll(filepath.Join(shop, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(shop, "a.md")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, a := range agents.All() {
		ids = append(ids, fmt.Sprintf("%q", a.ID))
	}
	text := "version = 1\n"
	for id, of := range map[string]string{"m1": `command = { only = ["read"] }`, "e1": `edit = { below = "." }`, "f1": `fetch = { hosts = ["go.dev"] }`, "c1": `mcp = { server = "db", tool = "query" }`} {
		text += fmt.Sprintf("[[rule]]\nid = %q\nverdict = \"allow\"\nagent = [%s]\n%s\n", id, strings.Join(ids, ","), of)
	}
	s := booktest.New(t, text)
	booktest.Accept(t, s)
	for _, a := range agents.All() {
		for kind, p := range map[book.Kind]ask.Prompt{
			book.OfCommands: {Command: "cat a.md"},
			book.OfEdits:    {Does: &ask.Does{Files: []ask.ChangedFile{{Path: file}}}},
			book.OfPages:    {Does: &ask.Does{Page: "https://go.dev/"}},
			book.OfCalls:    {Does: &ask.Does{Server: "db", Tool: "query", Args: []byte(`{}`)}},
		} {
			synctest.Test(t, func(t *testing.T) { // in which deciding takes no time
				q := ask.New(ask.Options{})
				defer q.Close()
				p.Kind, p.ID, p.Agent, p.Session, p.Door = ask.Permission, ask.NewKey(), a.ID, "s", ask.Shared
				p.Runs = func([]string) string { return "" }
				r := ask.Request{From: ask.From{Client: a.ID, Cwd: shop}, Prompt: &p}
				approvals.Permit(&r, append([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)...))
				c, err := approvals.Ruled(q, s, home, agents.Ruled()).Open(r)
				if err != nil {
					t.Fatal(err)
				}
				if got := len(q.Pending().Items) == 0; got != want.Has(a.ID, kind) {
					t.Errorf("%s, %s: answered by a rule: %v", a.ID, kind, got)
				}
				c.Gone("")
			})
		}
	}
}
