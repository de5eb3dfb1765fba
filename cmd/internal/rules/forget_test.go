package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestThePromptsThatRulesAreLearnedFromAreForgottenOnceTheUserAgrees(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", "")
	p, err := config.Where((&cli.Globals{}).Flags)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(p.Past), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Past, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"forget"}, {"forget", "k1", "--history"}, {"forget", "--history"}} { // no terminal agrees to the last
		if out, err := run(t, args...); err == nil {
			t.Errorf("%q: %s", args, out)
		}
	}
	if b, err := os.ReadFile(p.Past); err != nil || len(b) == 0 {
		t.Fatalf("they are gone, %v", err)
	}
	out, err := run(t, "forget", "--history", "--yes")
	if b, rerr := os.ReadFile(p.Past); err != nil || rerr != nil || len(b) != 0 || !strings.Contains(out, p.Past) {
		t.Errorf("%v, %v: %q is left\n%s", err, rerr, b, out)
	}
}
