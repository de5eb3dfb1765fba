package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

func TestWordsThatAreNotKnownAreWarnedOf(t *testing.T) {
	for _, row := range []struct{ name, file, want string }{
		{"nothing set", "", ""},
		{"known words", "[ui]\nbackground = \"dark\"\n[clippy]\npolicy = { haunt_desktop = \"ask\" }\n", ""},
		{"background", "[ui]\nbackground = \"pink\"\n", `ui.background: unknown value "pink"; use dark, light`},
		{"page", "[ui]\nstart = \"two\"\n", ""},
		{"a page that there is not", "[ui]\nstart = \"three\"\n", `ui.start: unknown value "three"; use one, two`},
		{"pictures", "[ui]\npictures = \"ascii\"\n", ""},
		{"pictures that there are not", "[ui]\npictures = \"cinema\"\n", `ui.pictures: unknown value "cinema"; use auto, `},
		{"the focus of before", "[ask]\nautofocus = \"never\"\n", ""},
		{"proof", "[ask]\ncli_answers = \"pair\"\n", ""},
		{"no proof", "[ask]\ncli_answers = false\n", ""},
		{"a proof as of old", "[ask]\ncli_answers = true\n", `ask.cli_answers: true means "pair"`},
		{"a proof that there is not", "[ask]\ncli_answers = \"key\"\n", `ask.cli_answers: unknown value "key"; use off, pair, passphrase`},
		{"policy", "[clippy]\npolicy = { haunt_desktop = \"sometimes\" }\n", `clippy.policy.haunt_desktop: unknown value "sometimes"; use allow, ask, off`},
		{"colour", "[theme.dark]\naccent = \"bluish\"\n", `config.toml line 2: theme.dark.accent: "bluish" is not a colour such as #8ab4ff`},
		{"two colours", "[theme.light]\nmuted = \"#12\"\naccent = \"bluish\"\n", "config.toml line 3: theme.light.accent: "},
		{"port", "[http]\nport = 65536\n", "config.toml line 2: http.port: 65536 is not between 0 and 65535; 7337 is used"},
		{"greatest port", "[http]\nport = 65535\n", ""},
		{"calls", "[journal]\nmax_calls = 0\n", "config.toml line 2: journal.max_calls: 0 is less than 1; 100000 is used"},
		{"a key that rests too briefly", "[ui]\nkey_rest = \"100ms\"\n", `config.toml line 2: ui.key_rest: "100ms" is not between 500ms and 10s; "2.5s" is used`},
		{"calls at a time", "[pencil]\nmax_in_flight = 5\n", "config.toml line 2: pencil.max_in_flight: 5 is not between 1 and 4; 1 is used"},
		{"duration", "[ask]\nsnooze = \"-5m\"\n", `config.toml line 2: ask.snooze: "-5m" is less than 0; "10m" is used`},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(row.file), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("HOME", t.TempDir())
			c, err := config.Load(config.Flags{Sections: plugin.Sections(), File: path, Port: -1, Pages: []string{"one", "two"}})
			if err != nil {
				t.Fatal(err)
			}
			if row.want == "" && len(c.Warnings) > 0 || row.want != "" && !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, row.want) }) {
				t.Fatalf("warnings %q, want %q", c.Warnings, row.want)
			}
		})
	}
}

func TestANumberThatCannotBeMeantIsNotUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[http]\nport = -1\n[prompts]\nundo_seconds = -3\nhold = \"-1s\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	c, err := config.Load(config.Flags{File: path, Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	if f := c.File; len(c.Warnings) != 3 || f.HTTP.Port != 7337 || f.Prompts.UndoSeconds != 0 || time.Duration(f.Prompts.Hold) != time.Minute {
		t.Errorf("port %d, %+v, told %q", f.HTTP.Port, f.Prompts, c.Warnings)
	}
}

func TestAShellProvesNothingUnlessConfigured(t *testing.T) {
	for value, want := range map[string]userauth.Method{
		"": userauth.Off, "cli_answers = false": userauth.Off, "cli_answers = true": userauth.Pair, `cli_answers = "yes"`: userauth.Off,
		`cli_answers = "passphrase"`: userauth.Passphrase, "cli_answers = 1": userauth.Off,
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte("[ask]\n"+value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", t.TempDir())
		c, err := config.Load(config.Flags{File: path, Port: -1})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.File.Ask.CLIAnswers.Method(); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

func TestAValueOfTheWrongKindNamesItsSetting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[http]\nport = \"a\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	_, err := config.Load(config.Flags{File: path, Port: -1})
	if err == nil || !strings.HasSuffix(err.Error(), "line 2, column 8: http.port must be an integer, got string") {
		t.Fatalf("got %v", err)
	}
}

func TestAPageMayBeNamedAsTheOneBeforeIt(t *testing.T) {
	for _, tt := range []struct {
		start string
		pages []string
		want  string
	}{
		{"cards", []string{"inbox", "servers"}, "servers"},
		{"deck", []string{"inbox", "servers"}, "inbox"},
		{"ask", []string{"inbox", "servers"}, "inbox"},
		{"deck", []string{"deck", "servers"}, "deck"},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte("[ui]\nstart = \""+tt.start+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", t.TempDir())
		c, err := config.Load(config.Flags{Sections: plugin.Sections(), File: path, Port: -1, Pages: tt.pages})
		if err != nil || c.File.UI.Start != tt.want || len(c.Warnings) > 0 {
			t.Errorf("%s: starts with %q, %v, %v", tt.start, c.File.UI.Start, c.Warnings, err)
		}
	}
}

func TestTheInboxIsFollowedAsTheFocusOfBeforeSaid(t *testing.T) {
	for settings, want := range map[string]bool{
		"":                                false,
		"[ask]\nautofocus = \"idle\"\n":   false,
		"[ask]\nautofocus = \"always\"\n": true,
		"[ui]\nfollow_inbox = true\n":     true,
		"[ask]\nautofocus = \"always\"\n[ui]\nfollow_inbox = false\n": false,
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Flags{Sections: plugin.Sections(), File: path, Port: -1})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.InboxScreen().Follow; got != want || len(c.Warnings) > 0 {
			t.Errorf("%q: %v, warnings %q", settings, got, c.Warnings)
		}
	}
}

func TestSettingsUnderNamesOfBeforeAreRead(t *testing.T) {
	for settings, want := range map[string]string{
		"":                                "all 1.5s false true []",
		"[ask]\nnotify = \"bell\"\n":      "bell 1.5s false true [config.toml line 2: ask.notify is notify.waiting now]",
		"prompts.notify_after = \"3s\"\n": "all 3s false true [config.toml line 1: prompts.notify_after is notify.after now]",
		"[ask]\nnotify_command = [\n 'x', # y\n 'z']\nnotify_private = true\n[prompts]\nclaude = false\n": "all 1.5s true false [config.toml line 2: ask.notify_command is notify.command now " +
			"config.toml line 5: ask.notify_private is notify.private now config.toml line 7: prompts.claude is prompts.agents.claude now]",
		"[ask]\nnotify = \"bell\"\n[notify]\nwaiting = \"title\"\n": "title 1.5s false true [config.toml line 2: ask.notify is notify.waiting now]",
		"ask = { notify = 'bell', notify_private = true }\nprompts = { claude = false }\n": "bell 1.5s true false [config.toml line 1: ask.notify is notify.waiting now " +
			"config.toml line 1: ask.notify_private is notify.private now config.toml line 2: prompts.claude is prompts.agents.claude now]",
		"ask = { notify = 'bell' }\nnotify = { waiting = 'title' }\n": "title 1.5s false true [config.toml line 1: ask.notify is notify.waiting now]",
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Flags{Sections: plugin.Sections(), File: path, Port: -1})
		if err != nil {
			t.Fatal(err)
		}
		n := c.File.Notify
		got := fmt.Sprint(n.Waiting, " ", time.Duration(n.After), " ", n.Private, " ", c.File.Prompts.Agents["claude"], " ", c.Former)
		if got != want || len(c.Warnings) > 0 || len(n.Command) > 0 != strings.Contains(settings, "command") {
			t.Errorf("%q: %s, commands %q, warnings %q", settings, got, n.Command, c.Warnings)
		}
	}
}
