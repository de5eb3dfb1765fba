package settings

import "testing"

func TestVerdictsOnToolsAreWrittenIntoTheFile(t *testing.T) {
	off, allow := map[string]string{"push": "off"}, map[string]string{"push": "allow"}
	for _, tt := range []struct {
		name, table, before string
		set                 map[string]string
		after               string // "": it cannot be changed
	}{
		{"none yet", "", "command = ['a']\n", off, "command = ['a']\ntools = { push = \"off\" }\n"},
		{"no line break at the end", "", "command = ['a']", off, "command = ['a']\ntools = { push = \"off\" }\n"},
		{"before a table", "", "# mine\ncommand = ['a']\n\n[oauth]\nid = 'x'\n", off, "# mine\ncommand = ['a']\ntools = { push = \"off\" }\n\n[oauth]\nid = 'x'\n"},
		{"one more", "", "command = ['a']\ntools = { b = 'ask' } # why\n", off, "command = ['a']\ntools = { b = \"ask\", push = \"off\" } # why\n"},
		{"instead", "", "tools = { push = \"off\", x = \"off\" }\r\ncommand = ['a']\r\n", allow, "tools = { x = \"off\" }\r\ncommand = ['a']\r\n"},
		{"the last", "", "tools = { push = \"off\" }\ncommand = ['a']\n", allow, "command = ['a']\n"},
		{"against a pattern", "", "tools = { '*' = 'off' }\n", allow, "tools = { \"*\" = \"off\", push = \"allow\" }\n"},
		{"nothing to say", "", "command = ['a']\n", allow, "command = ['a']\n"},
		{"a name that needs quotes", "", "command = ['a']\n", map[string]string{`a "b".c`: "off"}, "command = ['a']\ntools = { \"a \\\"b\\\".c\" = \"off\" }\n"},
		{"rows", "", "command = ['a']\n[tools]\n# first\n\"b\" = 'ask' # why\npush = 'allow'\n\n[oauth]\nid = 'x'\n", off, "command = ['a']\n[tools]\n# first\nb = \"ask\" # why\npush = \"off\"\n\n[oauth]\nid = 'x'\n"},
		{"a row more", "", "[tools]\nb = 'off'\n", off, "[tools]\nb = \"off\"\npush = \"off\"\n"},
		{"in a configuration file", "server.git", "x = 1\n[server.git]\ncommand = ['a']\n\n[server.other]\ntools = {}\n", off, "x = 1\n[server.git]\ncommand = ['a']\ntools = { push = \"off\" }\n\n[server.other]\ntools = {}\n"},
		{"rows in a configuration file", "server.git", "[server.git]\ncommand = ['a']\n[server.git.tools]\npush = 'off'\n", allow, "[server.git]\ncommand = ['a']\n[server.git.tools]\n"},
		{"dotted", "", "command = ['a']\ntools.b = 'off'\n", off, ""},
		{"in a long text", "", "about = '''\ntools = { push = 'off' }\n'''\n", off, "about = '''\ntools = { push = 'off' }\n'''\ntools = { push = \"off\" }\n"},
		{"in an inline table of its own", "server.git", "server = { git = { command = ['a'] } }\n", off, ""},
		{"behind a byte order mark", "", "\ufeffcommand = ['a']\n", off, "\ufeffcommand = ['a']\ntools = { push = \"off\" }\n"},
		{"no such table", "server.git", "x = 1\n", off, ""},
		{"not TOML", "", "x =\n", off, ""},
		{"a verdict that is no text", "", "[tools]\npush = 1\n", off, ""},
	} {
		got, err := SetTools([]byte(tt.before), tt.table, tt.set)
		if string(got) != tt.after || (err != nil) != (tt.after == "") {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, tt.after)
		}
	}
}

func TestAWordIsWrittenIntoTheFile(t *testing.T) {
	for _, tt := range []struct {
		name, table, before, word string
		after                     string // "": it cannot be changed
	}{
		{"not there", "", "# mine\ncommand = ['a']\n\n[tools]\nb = 'off'\n", "off", "# mine\ncommand = ['a']\nprompts = \"off\"\n\n[tools]\nb = 'off'\n"},
		{"no line break at the end", "", "command = ['a']", "off", "command = ['a']\nprompts = \"off\"\n"},
		{"what holds anyway", "", "command = ['a']\n", "on", "command = ['a']\n"},
		{"back", "", "prompts = 'off' # loud\ncommand = ['a']\n", "on", "command = ['a']\n"},
		{"instead", "", "prompts = 'on' # loud\ncommand = ['a']\n", "off", "prompts = \"off\" # loud\ncommand = ['a']\n"},
		{"in a configuration file", "server.git", "prompts = 1\n[server.git]\ncommand = ['a']\n[server.other]\nprompts = 'off'\n", "off", "prompts = 1\n[server.git]\ncommand = ['a']\nprompts = \"off\"\n[server.other]\nprompts = 'off'\n"},
		{"in a long text", "", "about = '''\nprompts = 'on'\n'''\n", "off", "about = '''\nprompts = 'on'\n'''\nprompts = \"off\"\n"},
		{"no such table", "server.git", "x = 1\n", "off", ""},
		{"in an inline table", "server.git", "server = { git = { command = ['a'] } }\n", "off", ""},
		{"not TOML", "", "x =\n", "off", ""},
	} {
		got, err := SetWord([]byte(tt.before), tt.table, "prompts", tt.word, "on")
		if string(got) != tt.after || (err != nil) != (tt.after == "") {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, tt.after)
		}
	}
}

func FuzzSetTools(f *testing.F) {
	f.Add("command = ['a']\ntools = { b = 'off' }\n", "push")
	f.Add("[tools]\nb = 'off' # x\n[oauth]\n", "a b")
	f.Fuzz(func(t *testing.T, text, tool string) {
		out, err := SetTools([]byte(text), "", map[string]string{tool: "off"})
		if err != nil {
			return
		}
		if _, tools, err := toolsIn(out, ""); err != nil || (Card{Tools: tools}).Verdict(tool) != "off" {
			t.Errorf("%q became %q: %v", text, out, err)
		}
		back, err := SetTools(out, "", map[string]string{tool: "allow"})
		if err != nil {
			return
		}
		if _, tools, err := toolsIn(back, ""); err != nil || (Card{Tools: tools}).Verdict(tool) != "allow" {
			t.Errorf("%q became %q: %v", out, back, err)
		}
	})
}

func TestEntriesAreYieldedUntilNobodyWantsMore(t *testing.T) {
	tables, n := 0, 0
	for e := range Entries([]byte("a = { b = 1, c = 2 }\n[d]\ne = 3\n")) {
		if e.IsTable() {
			tables++
		}
		if n++; n == 4 {
			break
		}
	}
	if tables != 2 || n != 4 {
		t.Errorf("%d of %d are tables", tables, n)
	}
}
