package settings

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// sample is a settings file with a value of each kind.
type sample struct {
	On     bool                `toml:"on"`
	Wait   humanize.Duration   `toml:"wait"`
	Dirs   []string            `toml:"dirs"`
	Keys   map[string][]string `toml:"keys"`
	Prefix *string             `toml:"prefix"`
	Inner  struct {
		Wait humanize.Duration `toml:"wait"`
	} `toml:"inner"`
	Tables map[string]struct {
		Inner *struct {
			Wait humanize.Duration `toml:"wait"`
		} `toml:"inner"`
	} `toml:"tables"`
}

func TestAMistakeInAFileIsNamedWithItsPlaceAndItsRemedy(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"on = 1", "line 1, column 6: on must be true or false, got integer"},
		{"on = True", "line 1, column 6: unexpected character U+0054 'T' at start of value; a text needs quotes, and true and false are lower case"},
		{"[on]\nx = 1", "line 1, column 2: on must be true or false, got a table"},
		{"inner = 1", "line 1, column 9: inner must be a table, got integer"},
		{"dirs = '/srv'", `line 1, column 8: dirs must be a list of strings, as in ["a", "b"], got string`},
		{"[keys]\na = 'y'", `line 2, column 5: keys.a must be a list of strings, as in ["a", "b"], got string`},
		{"prefix = 3", "line 1, column 10: prefix must be a string, got integer"},
		{"wait = 5", `line 1, column 8: wait has no unit; write "5s" or "5m"`},
		{"[inner]\n\twait = 30", `line 2, column 9: inner.wait has no unit; write "30s" or "30m"`},
		{"inner.wait = true", `line 1, column 14: inner.wait must be a duration such as "90s" or "2m"`},
		{"Wait = 5", `line 1, column 8: Wait has no unit; write "5s" or "5m"`},
		{"on = true\ninner = { wait = 30 }", `line 2, column 18: inner.wait has no unit; write "30s" or "30m"`},
		{"tables.a = { inner = { wait = 30 } }", `line 1, column 31: tables.a.inner.wait has no unit; write "30s" or "30m"`},
		{"on = true\nwait = [1]", `line 2, column 1: wait must be a duration such as "90s" or "2m"`},
		{"wait = '5'", `line 1, column 8: "5" is not a duration such as "90s" or "2m"`},
		{"on = true\non = false", "line 2, column 1: key on is already defined; remove one of them"},
		{"[inner]\n[inner]", "line 2, column 2: table inner already exists; put all of it into one"},
		{"prefix = \"x\n", "line 1, column 12: basic strings cannot have new lines; the quote at the end of the text is missing"},
		{"prefix = \"\xe4\"", "line 1, column 11: invalid UTF-8 character in basic string; save the file as UTF-8"},
		{"\xff\xfeo\x00n\x00", "line 1: this is UTF-16; save the file as UTF-8"},
	} {
		if _, err := Read([]byte(tt.text), &sample{}); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestFilesOfOtherEditorsAreRead(t *testing.T) {
	for name, text := range map[string]string{"a mark before the text": "\ufeffon = true\nwiat = '1s'\n", "carriage returns": "on = true\r\nwiat = '1s'\r\n"} {
		var s sample
		warnings, err := Read([]byte(text), &s)
		if got := strings.Join(warnings, "\n"); err != nil || !s.On || got != "line 2: unknown setting wiat, ignored; did you mean wait?" {
			t.Errorf("%s: %+v, %q, %v", name, s, got, err)
		}
	}
}

// What is left of a file with mistakes is read, and no file keeps the reader from an end.
func TestAFileIsReadAroundItsMistakes(t *testing.T) {
	type inner struct {
		On   bool              `toml:"on"`
		Wait humanize.Duration `toml:"wait"`
	}
	type file struct {
		A int              `toml:"a"`
		B []string         `toml:"b"`
		T inner            `toml:"t"`
		M map[string]inner `toml:"m"`
	}
	for _, tt := range []struct {
		name, text string
		want       file
		warnings   []string
	}{
		{"a value", "a = 'x'\nb = ['c']\n", file{B: []string{"c"}}, []string{"line 1, column 5: a must be an integer, got string"}},
		{"a list over lines", "b = [\n 'c',\n 1\n]\na = 1\n", file{A: 1}, []string{"line 3, column 2: b"}},
		{"a part of an inline table", "t = { on = 1, wait = '1s' }\na = 1\n", file{A: 1}, []string{"line 1, column 12: t"}},
		{"a table of no type", "[a]\nx = 1\ny = 2\n[t]\non = true\n", file{T: inner{On: true}}, []string{"line 1, column 2: a must be an integer, got a table"}},
		{"a table that stands twice", "[t]\non = true\n[t]\non = false\n# end\n", file{T: inner{On: true}}, []string{"line 3, column 2: table t already exists"}},
		{"the same in a map of tables", "[m.x]\non = 1\nwait = 2\n[m.y]\non = true\n", file{M: map[string]inner{"x": {}, "y": {On: true}}}, []string{"line 3, column 8: m.x.wait has no unit", "line 2, column 6: m.x.on must be"}},
		{"no quotes", "a = 1\nb = [c]\n[t]\non = 1\n", file{A: 1}, []string{"line 2, column 6: "}},
		{"with the mark of an editor", "\ufeffa = 'x'\r\nb = ['c']\r\n", file{B: []string{"c"}}, []string{"line 1, column 5: a must be an integer"}},
		{"an unknown name, too", "x = 1\na = 'x'\n", file{}, []string{"line 2, column 5: a must be", "line 1: unknown setting x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got file
			warnings, err := ReadAround([]byte(tt.text), &got)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("read %+v, want %+v", got, tt.want)
			}
			if len(warnings) != len(tt.warnings) {
				t.Fatalf("warnings %q, want %q", warnings, tt.warnings)
			}
			for i, want := range tt.warnings {
				if !strings.HasPrefix(warnings[i], want) {
					t.Errorf("warning %q, want %q", warnings[i], want)
				}
			}
		})
	}
}
