package book

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

const ofTools = `version = 1
[[rule]]
id = "q1"
verdict = "allow"
agent = ["claude"]
project = "~/shop"
edit = { below = "docs", not = ["*.sh", "keep/*"] }
[[rule]]
id = "q2"
verdict = "allow"
agent = ["claude"]
edit = { below = "out", make = true, delete = true }
[[rule]]
id = "q3"
verdict = "deny"
edit = { below = "docs/law" }
[[rule]]
id = "f1"
verdict = "allow"
agent = ["claude"]
fetch = { hosts = ["go.dev", "*.example.com", "localhost:3000"] }
[[rule]]
id = "f2"
verdict = "deny"
fetch = { hosts = ["bad.example.com"] }
[[rule]]
id = "r5"
verdict = "allow"
agent = ["claude"]
mcp = { server = "db", tool = "query", args = { "/sql" = "re:SELECT [a-z, ]+ FROM orders", "/limit" = "max:10" } }
[[rule]]
id = "r6"
verdict = "deny"
tell = "Not this one."
mcp = { server = "db", tool = "drop*" }
[[rule]]
id = "r7"
verdict = "ask"
mcp = { server = "*", tool = "*", args = { "/path" = "path:/etc" } }
[[program]]
name = "terraform"
sub = ["plan", "validate"]
options = ["-no-color", "-json"]
effects = ["net", "code"]
[[rule]]
id = "r8"
verdict = "deny"
mcp = { server = "git", tool = "run", args = { "/line" = "words:git push" } }
`

func TestWordsOfRulesForTools(t *testing.T) {
	b := parsed(t, ofTools)
	var got []string
	for _, r := range b.Rules {
		got = append(got, r.Words())
	}
	for _, p := range b.Programs {
		got = append(got, p.Words())
	}
	want := []string{
		"Allow edits at or below docs, but not of *.sh or keep/* in ~/shop for Claude Code",
		"Allow making, editing and deleting files at or below out for Claude Code",
		"Deny edits at or below docs/law",
		"Allow fetching pages of go.dev, *.example.com or localhost:3000 and what they redirect to, for Claude Code",
		"Deny fetching pages of bad.example.com",
		"Allow `query` of server db if limit is at most 10 and sql matches the expression SELECT [a-z, ]+ FROM orders for Claude Code",
		"Deny `drop*` of server db",
		"Ask for every tool of every server if path is a path below /etc",
		"Deny `run` of server git if line begins with the words git push",
		"Know `terraform plan`, `terraform validate` with the options -no-color and -json: it reaches the network and runs code of the project",
	}
	if !slices.Equal(got, want) {
		t.Errorf("words\n%s", strings.Join(got, "\n"))
	}
}

func TestARuleForToolsIsUnderstoodWhollyOrNotAtAll(t *testing.T) {
	rule := func(more string) string {
		return "version = 1\n[[rule]]\nid = 'a'\nagent = ['claude']\nverdict = " + more + "\n"
	}
	for _, c := range []struct{ text, why string }{
		{rule("'allow'\nedit = {}"), "edit.below"},
		{rule("'allow'\nedit = { below = '/etc' }"), "edit.below"},
		{rule("'allow'\nedit = { below = 'a/../..' }"), "edit.below"},
		{rule("'deny'\nedit = { below = 'a', make = true }"), "only an allow"},
		{rule("'deny'\nedit = { not = ['['] }"), "edit.not"},
		{rule("'deny'\nedit = { under = 'a' }"), "not known"},
		{rule("'allow'\nfetch = { hosts = [] }"), "hosts"},
		{rule("'allow'\nfetch = { hosts = ['*.com'] }"), "no host"},
		{rule("'allow'\nfetch = { hosts = ['*.0.0.1'] }"), "no host"},
		{rule("'allow'\nfetch = { hosts = ['a.com/b'] }"), "no host"},
		{rule("'allow'\nfetch = { hosts = ['u@a.com'] }"), "no host"},
		{rule("'allow'\nmcp = { server = 'db', tool = '*' }"), "without *"},
		{rule("'deny'\nmcp = { server = 'd*b', tool = 'x' }"), "ends"},
		{rule("'deny'\nmcp = { server = 'db' }"), "a server and a tool"},
		{rule("'deny'\nmcp = { server = 'db', tool = 'x', args = { sql = '=a' } }"), "begin with /"},
		{rule("'deny'\nmcp = { server = 'db', tool = 'x', args = { '/sql' = 'like:a' } }"), "unknown condition"},
		{rule("'deny'\nmcp = { server = 'db', tool = 'x', args = { '/sql' = 're:(' } }"), "missing"},
		{rule("'deny'\nmcp = { server = 'db', tool = 'x' }\nfetch = { hosts = ['a.com'] }"), "one of"},
		{"version = 1\n[[rule]]\nid='a'\nverdict='allow'\nmcp = { server = 'db', tool = 'x' }", "agents"},
		{"version = 1\n[[program]]\nname = 'x'", "effects"},
		{"version = 1\n[[program]]\nname = 'x'\neffects = ['priv']", "effects"},
		{"version = 1\n[[program]]\nname = '../x'\neffects = []", "name"},
		{"[[program]]\nname = 'x'\neffects = []", "version"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v, not %q, of\n%s", err, c.why, c.text)
		}
	}
}

// decided is the verdict on a request of Claude Code in its project, with the rule.
func decided(b *Book, q Request) string {
	q.Agent, q.Project, q.Home = "claude", "/home/u/shop", "/home/u"
	d := b.Decide(q)
	if d.Rule == nil {
		return ""
	}
	return string(d.Verdict) + " " + d.Rule.ID
}

func shop() rules.Place {
	links := map[string]string{"/home/u/shop/docs/out": "/etc", "/home/u/shop/law": "docs/law", "/home/u/shop/docs/more": "../src", "/home/u/shop/docs/plain": "run.sh", "/home/u/shop/docs/kept": "keep/a"}
	return rules.Place{Cwd: "/home/u/shop", Root: "/home/u/shop", Home: "/home/u", Link: func(p string) (string, bool) { to, is := links[p]; return to, is }}
}

func TestEditsAreJudgedByWhereTheyLead(t *testing.T) {
	b := parsed(t, ofTools)
	one := func(p string) []rules.Edit { return []rules.Edit{{Path: p}} }
	for _, c := range []struct {
		name  string
		files []rules.Edit
		want  string
	}{
		{"below", one("/home/u/shop/docs/a.md"), "allow q1"},
		{"from the folder", one("docs/a.md"), "allow q1"},
		{"a way that goes up", one("docs/../src/a.go"), ""},
		{"elsewhere", one("src/a.go"), ""},
		{"a name that is left out", one("docs/a.sh"), ""},
		{"a path that is left out", one("/home/u/shop/docs/keep/a"), ""},
		{"a path that is left out, from the folder", one("docs/keep/a"), ""},
		{"a path below one that is left out", one("docs/keep/a/b"), ""},
		{"a folder that is left out", one("docs/x.sh/a"), ""},
		{"a name in another case", one("docs/a.SH"), ""},
		{"a way round", one("docs/x/../keep/./a"), ""},
		{"a link to a name that is left out", one("docs/plain"), ""},
		{"a link to a path that is left out", one("docs/kept"), ""},
		{"a link that leads outside", one("docs/out/passwd"), ""},
		{"a link that leads elsewhere", one("docs/more/a.go"), ""},
		{"denied", one("docs/law/a.md"), "deny q3"},
		{"denied by a link", one("law/a.md"), "deny q3"},
		{"one of two denied", append(one("docs/a.md"), one("docs/law/a")...), "deny q3"},
		{"one of two elsewhere", append(one("docs/a.md"), one("src/a")...), ""},
		{"what gives power", one("docs/.git/config"), ""},
		{"a secret", one("docs/.env"), ""},
		{"a new file", []rules.Edit{{Path: "docs/b.md", Make: true}}, ""},
		{"a new file that may be", []rules.Edit{{Path: "out/b.md", Make: true}}, "allow q2"},
		{"deleted", []rules.Edit{{Path: "docs/a.md", Delete: true}}, ""},
		{"deleted, which it may", []rules.Edit{{Path: "out/a.md", Delete: true}}, "allow q2"},
		{"the folder itself", []rules.Edit{{Path: "/home/u/shop", Delete: true}}, ""},
		{"no file", one(""), ""},
		{"a device", one("/dev/null"), ""},
		{"none", nil, ""},
	} {
		if got := decided(b, Request{Edits: &Edits{In: shop(), Files: c.files}}); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
	if got := decided(b, Request{Edits: &Edits{In: shop(), Files: one("docs/a.md"), Partial: true}}); got != "ask q3" {
		t.Errorf("with other files that are not known it is %q", got)
	}
}

func TestPagesAreJudgedByTheirHost(t *testing.T) {
	b := parsed(t, ofTools)
	for address, want := range map[string]string{
		"https://go.dev/doc": "allow f1", "http://GO.dev": "allow f1", "https://a.example.com/x": "allow f1", "http://localhost:3000/": "allow f1",
		"https://bad.example.com": "deny f2", "https://bad.example.com:8443/a": "deny f2", "https://BAD.example.com./": "deny f2",
		"https://example.com": "", "https://go.dev:8443/": "", "http://localhost/": "", "https://go.dev.evil.com": "", "https://evilexample.com": "",
		"https://go.dev@evil.com/": "ask f2", "https://u@go.dev/": "ask f2", "ftp://go.dev/": "ask f2", "go.dev": "ask f2", `https://go.dev\@evil.com`: "ask f2", "https://go.dev\n": "ask f2", "https://127.0.0.1/": "", "https://evil.com%ef%bc%8f.example.com/": "ask f2", "https:///go.dev": "ask f2", "https:go.dev": "ask f2",
	} {
		if got := decided(b, Request{Fetch: address}); got != want {
			t.Errorf("%s: %q, not %q", address, got, want)
		}
	}
}

func TestCallsAreJudgedByTheirArguments(t *testing.T) {
	b := parsed(t, ofTools)
	for _, c := range []struct{ server, tool, args, want string }{
		{"db", "query", `{"sql":"SELECT a, b FROM orders","limit":5}`, "allow r5"},
		{"db", "query", `{"sql":"SELECT a, b FROM orders"}`, ""},
		{"db", "query", `{"sql":"SELECT a FROM orders; DROP TABLE orders","limit":5}`, ""},
		{"db", "query", `{"sql":"SELECT a FROM orders\n","limit":5}`, ""},
		{"db", "query", `{"sql":"SELECT a FROM orders","limit":11}`, ""},
		{"db", "query", `{"sql":"SELECT a FROM orders","limit":"5"}`, ""},
		{"db", "query", `{"sql":["SELECT a FROM orders"],"limit":5}`, ""},
		{"db", "query", `{"sql":"SELECT a FROM orders","limit":5,"limit":50}`, "ask r7"},
		{"db", "query", `{"sql":"SELECT a FROM orders","SQL":"DROP TABLE orders","limit":5}`, "ask r7"},
		{"db", "query", `{"SQL":"SELECT a FROM orders","limit":5}`, ""},
		{"db", "query", `{"sql":"SELECT a FROM orders","\u0073ql":"DROP TABLE orders","limit":5}`, "ask r7"},
		{"db", "query", `{"sql":"SELECT a FROM orders","limit":5,"l\u0130mit":50}`, "allow r5"},
		{"db", "query", `{"sql":"SELECT a FROM orders","limit":5,"more":{"a":1,"A":2}}`, "ask r7"},
		{"db", "query", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "ask r7"},
		{"db", "query", `{"sql"`, "ask r7"},
		{"DB", "query", `{"sql":"SELECT a FROM orders","limit":5}`, ""},
		{"db", "drop_table", `{}`, "deny r6"},
		{"db", "undrop", `{}`, ""},
		{"fs", "read", `{"path":"/etc/passwd"}`, "ask r7"},
		{"fs", "read", `{"path":"docs/out/passwd"}`, "ask r7"},
		{"fs", "read", `{"path":"docs/a"}`, ""},
		{"fs", "read", `{"path":"~/a"}`, "ask r7"},
		{"fs", "read", `{}`, ""},
		{"git", "run", `{"line":"git push -f"}`, "deny r8"},
		{"git", "run", `{"line":"git  push"}`, "deny r8"},
		{"git", "run", `{"line":"git status"}`, ""},
		{"git", "run", `{"line":"git status; git push"}`, "ask r8"},
	} {
		q := Request{Call: &Called{Server: c.server, Tool: c.tool, Args: json.RawMessage(c.args), In: shop()}}
		if got := decided(b, q); got != c.want {
			t.Errorf("%s of %s with %.60s: %q, not %q", c.tool, c.server, c.args, got, c.want)
		}
	}
}

func TestConditionsOfArguments(t *testing.T) {
	in := shop()
	for _, c := range []struct {
		condition, value string
		want             fit
	}{
		{"=a", `"a"`, sure},
		{"=a", `"ab"`, not},
		{"=true", `true`, sure},
		{"in:a|b", `"b"`, sure},
		{"in:a|b", `"a|b"`, not},
		{"glob:a*", `"ab"`, sure},
		{"glob:a*", `["ab"]`, not},
		{"absent", ``, sure},
		{"absent", `1`, not},
		{"=a", ``, not},
		{"max:1.5", `1`, sure},
		{"max:1.5", `2`, not},
		{"max:1", `NaN`, not},
		{"path:~/shop", `"src"`, sure},
		{"path:~/shop", `"../x"`, not},
		{"path:~/shop", `"file:///etc/passwd"`, maybe},
		{"path:~/shop", `" /etc/passwd"`, maybe},
		{"path:~/shop", `"src/%2e%2e/%2e%2e/x"`, maybe},
		{"path:~/shop", `"src\\..\\..\\x"`, maybe},
		{"path:~/shop", `"$HOME/x"`, maybe},
		{"path:~/shop", `"{src,../../x}"`, maybe},
		{"path:~/shop", `"src/a:b"`, sure},
		{"path:~/shop", `""`, not},
		{"path:~/shop", `1`, not},
	} {
		if got := meets(c.condition, json.RawMessage(c.value), c.value != "", &in, in.Home); got != c.want {
			t.Errorf("%s of %s is %d, not %d", c.condition, c.value, got, c.want)
		}
	}
}

func TestARuleIsForgottenBesideAProgram(t *testing.T) {
	less, err := Without([]byte(ofTools), "r7")
	if b := parsed(t, string(less)); err != nil || len(b.Rules) != 8 || len(b.Programs) != 1 {
		t.Errorf("%v\n%s", err, less)
	}
}
