package ask

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

func TestAnswerArgs(t *testing.T) {
	tests := []struct {
		name    string
		args    []string
		raw, in string
		decline bool
		want    string // of the usage error; "" for none
	}{
		{"list", []string{"3"}, `[{"id":"a","selectedOptions":["x"]}]`, "", false, ""},
		{"one object", []string{"3"}, ` {"id":"a"}`, "", false, ""},
		{"standard input", []string{"3"}, "-", `[{"id":"a"}]`, false, ""},
		{"decline", []string{"3"}, "", "", true, ""},
		{"no id", nil, "[]", "", false, "give the number"},
		{"not a number", []string{"x"}, "[]", "", false, `"x" is not the number`},
		{"zero", []string{"0"}, "[]", "", false, `"0" is not the number`},
		{"no answers", []string{"3"}, "", "", false, "--json, or --decline"},
		{"not JSON", []string{"3"}, "yes", "", false, "not a JSON list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := answerArgs(strings.NewReader(tt.in), tt.args, tt.raw, tt.decline)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.want != "" && (!errors.As(err, new(UsageError)) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestConfigurationOfEachClientParses(t *testing.T) {
	s := Settings{Program: "/opt/mcpdeck"}
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			text, err := c.print(s, "/run/s-1.sock", "payments")
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if c.name == "codex" {
				err = toml.Unmarshal([]byte(text), &m)
			} else {
				err = json.Unmarshal([]byte(text), &m)
			}
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			for _, want := range []string{"/opt/mcpdeck", "ask-server", "/run/s-1.sock", "payments", "mcpdeck"} {
				if !strings.Contains(text, want) {
					t.Errorf("lacks %s: %s", want, text)
				}
			}
			for _, servers := range m {
				if n := len(servers.(map[string]any)); n != 1 {
					t.Errorf("%d servers", n)
				}
			}
		})
	}
}

func TestConfigurationFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(path, "new"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
