package book

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

func asksFor(set func(*Request)) Request {
	q := Request{Agent: "claude", Project: shop().Root, Home: shop().Home, Now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)}
	set(&q)
	return q
}

func edits(path string, more ...rules.Edit) func(*Request) {
	return func(q *Request) { q.Edits = &Edits{In: shop(), Files: append(more, rules.Edit{Path: path})} }
}

func fetches(page string) func(*Request) { return func(q *Request) { q.Fetch = page } }

func calls(server, tool, args string) func(*Request) {
	return func(q *Request) { q.Call = &Called{Server: server, Tool: tool, Args: []byte(args), In: shop()} }
}

func TestRulesForToolsAreProposedFromTheNarrowestOn(t *testing.T) {
	const until = " for Claude Code until 2026-12-02"
	for name, c := range map[string]struct {
		asks func(*Request)
		want []string
	}{
		"an edit": {edits("/home/u/shop/src/api/a.go"), []string{"edits at or below src/api/a.go", "edits at or below src/api", "edits at or below src"}},
		"a new file": {func(q *Request) {
			q.Edits = &Edits{In: shop(), Files: []rules.Edit{{Path: "/home/u/shop/docs/a.md", Make: true}}}
		}, []string{"making and editing files at or below docs/a.md", "making and editing files at or below docs"}},
		"a file of the project itself": {edits("/home/u/shop/README.md"), []string{"edits at or below README.md", "edits in the project"}},
		"a file elsewhere":             {edits("/home/u/other/a.md"), nil},
		"a file that gives power":      {edits("/home/u/shop/.git/hooks/pre-commit"), nil},
		"settings of an agent":         {edits("/home/u/shop/.claude/settings.json"), nil},
		"a name that reads as a rule":  {edits("/home/u/shop/docs for all agents/a.md"), nil},
		"several files":                {edits("/home/u/shop/a.md", rules.Edit{Path: "/home/u/shop/b.md"}), nil},
		"files that are not known":     {func(q *Request) { edits("/home/u/shop/a.md")(q); q.Edits.Partial = true }, nil},
		"a file that is removed": {func(q *Request) {
			q.Edits = &Edits{In: shop(), Files: []rules.Edit{{Path: "/home/u/shop/docs/a.md", Delete: true}}}
		}, nil},
		"a page":                       {fetches("https://Go.dev/doc?x=1"), []string{"fetching pages of go.dev and what they redirect to,"}},
		"a page of a machine here":     {fetches("http://localhost:3000/"), nil},
		"a page by its address":        {fetches("http://10.0.0.1/"), nil},
		"a page of all hosts":          {fetches("https://*.evil.example/"), nil},
		"a page that names two hosts":  {fetches("https://go.dev,evil.example/"), nil},
		"a page by another address":    {fetches("http://127.0.0.0x1/"), nil},
		"a page with an open port":     {fetches("https://go.dev:/"), nil},
		"a page with a port":           {fetches("https://go.dev:8443/"), []string{"fetching pages of go.dev:8443 and what they redirect to,"}},
		"a page with a user":           {fetches("https://go.dev@evil.example/"), nil},
		"a call":                       {calls("db", "query", `{"sql":"SELECT 1","limit":5}`), []string{"`query` of server db if limit is 5 and sql is SELECT 1 and it has no other arguments", "`query` of server db"}},
		"a call without arguments":     {calls("db", "tables", `{}`), []string{"`tables` of server db"}},
		"a call with much in it":       {calls("db", "query", `{"sql":["a"]}`), []string{"`query` of server db"}},
		"a server that reads as words": {calls("db for all", "query", `{}`), nil},
		"no project":                   {func(q *Request) { fetches("https://go.dev/")(q); q.Project = "" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			q := asksFor(c.asks)
			all, refused := (&Book{}).Propose(&q, nil)
			var got []string
			for _, p := range all {
				if (&Book{Rules: []Rule{p.Rule}}).Decide(q).Verdict != Allow {
					t.Errorf("%s does not answer it", p.Rule.Words())
				}
				got = append(got, strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(p.Rule.Words(), "Allow "), until), " in ~/shop"))
			}
			for i := range got {
				got[i] = strings.TrimSuffix(got[i], " in ~/shop for Claude Code")
			}
			if !slices.Equal(got, c.want) || len(refused) > 0 {
				t.Errorf("proposed: %q, want %q", got, c.want)
			}
		})
	}
}

func TestARuleForToolsThatAllowsWhatWasDeniedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		asks, denied func(*Request)
		left         int
	}{
		"an edit in the folder":        {edits("/home/u/shop/src/api/a.go"), edits("/home/u/shop/src/b.go"), 2},
		"the same host":                {fetches("https://go.dev/a"), fetches("https://go.dev/b"), 0},
		"the same tool":                {calls("db", "query", `{"sql":"a"}`), calls("db", "query", `{"sql":"b"}`), 1},
		"the same with more to say":    {calls("db", "query", `{"sql":"a"}`), calls("db", "query", `{"sql":"a","force":true}`), 1},
		"arguments that were not kept": {calls("db", "drop", `{"table":"a"}`), calls("db", "drop", ""), 1},
	} {
		t.Run(name, func(t *testing.T) {
			q := asksFor(c.asks)
			all, refused := (&Book{}).Propose(&q, []Past{{Request: asksFor(c.denied)}})
			if len(all) != c.left || len(refused) == 0 || refused[0].Against == "" {
				t.Errorf("%d are proposed, %d refused: %+v", len(all), len(refused), refused)
			}
		})
	}
}

func TestFoldersHostsAndToolsAreSuggestedOfAllThatWasAnswered(t *testing.T) {
	var past []Past
	for _, set := range []func(*Request){
		edits("/home/u/shop/src/a.go"), edits("/home/u/shop/src/b.go"), edits("/home/u/shop/src/c/d.go"), edits("/home/u/shop/README.md"),
		fetches("https://go.dev/a"), fetches("https://go.dev/b"), calls("db", "query", `{"sql":"a"}`), calls("db", "query", `{"sql":"b"}`),
	} {
		past = append(past, Past{Request: asksFor(set), Allowed: true})
	}
	past = append(past, Past{Request: asksFor(calls("db", "drop", `{}`))})
	var got []string
	for _, p := range (&Book{}).Suggest(past, 3) {
		got = append(got, strings.TrimPrefix(p.Rule.Words(), "Allow "))
	}
	want := []string{"edits at or below src in ~/shop for Claude Code", "fetching pages of go.dev and what they redirect to, in ~/shop for Claude Code until 2026-12-02", "`query` of server db in ~/shop for Claude Code until 2026-12-02"}
	if !slices.Equal(got, want) {
		t.Errorf("suggested: %q", got)
	}
}

func TestARuleForACallWithItsArgumentsIsForNoOthers(t *testing.T) {
	q := asksFor(calls("db", "query", `{"sql":"SELECT 1","a.b":true}`))
	all, _ := (&Book{}).Propose(&q, nil)
	if len(all) != 2 || !all[0].Rule.MCP.Alone {
		t.Fatalf("proposed: %+v", all)
	}
	text, err := With(nil, all[0].Rule)
	if err != nil {
		t.Fatal(err)
	}
	b := parsed(t, string(text))
	for args, want := range map[string]Verdict{
		`{"sql":"SELECT 1","a.b":true}`: Allow, `{"a.b":true,"sql":"SELECT 1"}`: Allow, `{"sql":"SELECT 1"}`: "",
		`{"sql":"SELECT 1","a.b":true,"write":true}`: "", `{"sql":"SELECT 1","a.b":true,"":0}`: "", `{"sql":"SELECT 1","a.b":true,"SQL":"DROP"}`: "",
		`{"sql":"SELECT 1","sql":"DROP","a.b":true}`: "", `{"sql":"SELECT 1","a":{"b":true}}`: "",
	} {
		if d := b.Decide(asksFor(calls("db", "query", args))); d.Verdict != want {
			t.Errorf("%s: %q, %s", args, d.Verdict, d.Why)
		}
	}
}

func TestAServerOfAnotherProjectMayBeAnotherOne(t *testing.T) {
	var past []Past
	for _, project := range []string{"/home/u/shop", "/home/u/other"} {
		for _, set := range []func(*Request){calls("db", "query", `{"sql":"a"}`), calls("db", "query", `{"sql":"b"}`), fetches("https://go.dev/a")} {
			q := asksFor(set)
			q.Project = project
			past = append(past, Past{Request: q, Allowed: true})
		}
	}
	pages := 0
	for _, p := range (&Book{}).Suggest(past, 5) {
		switch r := p.Rule; {
		case r.MCP != nil && r.Project == "":
			t.Errorf("suggested: %s", r.Words())
		case r.Fetch != nil && r.Project == "":
			pages++
		}
	}
	if pages != 1 {
		t.Errorf("%d rules of pages everywhere", pages)
	}
}
