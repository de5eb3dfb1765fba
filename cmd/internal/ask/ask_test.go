package ask

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/clients"
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
	for _, name := range ClientNames() {
		t.Run(name, func(t *testing.T) {
			c, _ := clients.Find(name)
			text, err := setup.Snippet(c, entry(s, "/run/s-1.sock", "payments"))
			if err != nil {
				t.Fatal(err)
			}
			m, err := c.Grammar.Decode([]byte(text))
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
			// A limit that nothing raises is said, and the server is not told of another.
			told, raised := strings.Contains(text, clients.LimitHint), c.Form.Timeout != ""
			said := strings.Contains(strings.Join(notes(c), "\n"), "has no setting to raise that")
			if told != raised || said != (!raised && c.Limit > 0) {
				t.Errorf("limit %v, raised %v: told %v, said %v", c.Limit, raised, told, said)
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
