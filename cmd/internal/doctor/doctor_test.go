package doctor

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func reported(t *testing.T, findings []finding, asJSON bool) (string, exit.Code) {
	t.Helper()
	var out strings.Builder
	c := &cobra.Command{}
	c.SetOut(&out)
	code, _ := exit.Of(report(c, findings, asJSON))
	return out.String(), code
}

func TestTheReportEndsWithWhatMendsEach(t *testing.T) {
	out, code := reported(t, []finding{
		{"ok", "version", "1", ""},
		{"bad", "token", "it is damaged", "mcpdeck token rotate"},
		{"note", "deck", "not running", "mcpdeck"},
		{"note", "prompts", "no deck takes prompts", "mcpdeck"},
		{"bad", "keys", "refused", ""},
	}, false)
	want := "\n2 things are broken. What to do, and for what:\n  mcpdeck token rotate  token\n  mcpdeck               deck, prompts\n"
	if code != exit.Failed || !strings.HasSuffix(out, want) || !strings.HasPrefix(out, "ok    version  1\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	if out, code = reported(t, []finding{{"note", "deck", "not running", "mcpdeck"}}, false); code != 0 || !strings.Contains(out, "\nNothing is broken. What to do, and for what:\n  mcpdeck  deck\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	if out, code = reported(t, []finding{{"ok", "deck", "running", ""}}, false); code != 0 || !strings.HasSuffix(out, "\nNothing is broken.\n") {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestAPromptThatTheDeckCannotReadIsReportedWithItsField(t *testing.T) {
	found := misread([]sessions.Session{{Agent: "claude"}, {Agent: "opencode", Note: "OpenCode 2: " + snapshot.NotUnderstood + " (permission.asked: field tool missing)"}})
	if len(found) != 1 || found[0].what != "opencode" || !strings.Contains(found[0].text, "field tool missing") || !strings.Contains(found[0].fix, "in its terminal") {
		t.Errorf("found %+v", found)
	}
}

func TestTheReportAsJSONHasTheSameChecks(t *testing.T) {
	out, code := reported(t, []finding{{"note", "deck", "not running", "mcpdeck"}, {"bad", "keys", "refused", ""}}, true)
	var v struct{ Checks []check }
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != exit.Failed || len(v.Checks) != 2 {
		t.Fatalf("%v, exit %d, %s", err, code, out)
	}
	if a, b := v.Checks[0], v.Checks[1]; !a.OK || a.Level != "note" || a.Name != "deck" || a.Detail != "not running" || a.Fix != "mcpdeck" || b.OK || b.Level != "bad" {
		t.Errorf("got %+v", v.Checks)
	}
}

// checked is what doctor finds with a state folder, by what it checked.
func checked(t *testing.T, state string) (all []finding, of map[string]finding) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	c := &cobra.Command{}
	c.SetContext(t.Context())
	all, err := examine(c, &cli.Globals{Flags: config.Flags{Sections: plugin.Sections(), Port: -1, State: state}}, false)
	if err != nil {
		t.Fatal(err)
	}
	of = map[string]finding{}
	for _, f := range all {
		of[f.what] = f
	}
	return all, of
}

func TestEverythingIsCheckedAlsoWithAWrongStateFolder(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(path string) error
		text string
		fix  string // before the path
	}{
		"open to others": {func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o755)) }, "other users can access it (mode 0755)", "chmod 700 "},
		"a file":         {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "it is a link or a file, not a folder", "mv "},
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "my state")
			if err := tt.make(state); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(state); err != nil || info.IsDir() && info.Mode().Perm() != 0o755 {
				t.Skip("no modes here:", err)
			}
			all, of := checked(t, state)
			if f := of["state"]; f.mark != "bad" || !strings.Contains(f.text, tt.text) || !strings.HasPrefix(f.fix, tt.fix+"'"+state+"'") {
				t.Errorf("the state is %+v", f)
			}
			for _, what := range []string{"keys", "clients", "deck", "token", "pencil", "logicstamp", "terminal"} {
				if of[what].text == "" {
					t.Errorf("no check of %s in %+v", what, all)
				}
			}
			if f := of["servers"]; f.what != "" {
				t.Errorf("the servers are %+v", f)
			}
			info, err := os.Stat(state)
			if entries, _ := os.ReadDir(state); err != nil || len(entries) > 0 {
				t.Errorf("%v: %v has %v", err, info, entries)
			}
		})
	}
}

func TestWhatIsWrongHasWhatMendsIt(t *testing.T) {
	all, _ := checked(t, filepath.Join(t.TempDir(), "state"))
	all = append(all, checkCertificates(func() (*x509.CertPool, error) { return nil, errors.New("no such file") })...)
	all = append(all, checkCertificates(func() (*x509.CertPool, error) { return x509.NewCertPool(), nil })...)
	for _, f := range all {
		if f.mark != "ok" && f.fix == "" && f.what != "terminal" {
			t.Errorf("nothing mends %+v", f)
		}
	}
}
