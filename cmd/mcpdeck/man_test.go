package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/help"
)

func TestEveryCommandHasAManualPage(t *testing.T) {
	dir, root := t.TempDir(), newRoot()
	if err := help.ManPages(dir, root); err != nil {
		t.Fatal(err)
	}
	var pages []string
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		path := filepath.Join(dir, help.ManName(c)+".1")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		pages = append(pages, path)
		page := strings.ReplaceAll(string(b), `\-`, "-")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if cli.HasVariable(f) && (!strings.Contains(page, `\fB--`+f.Name+`\fR`) || !strings.Contains(page, cli.Variable(c, f))) {
				t.Errorf("%s: no --%s, or no variable for it", path, f.Name)
			}
		})
		for _, sub := range c.Commands() {
			if !sub.Hidden && sub.Name() != "help" {
				check(sub)
			}
		}
	}
	check(root)
	if len(pages) < 30 {
		t.Errorf("only %d pages", len(pages))
	}
	if _, err := os.Stat(filepath.Join(dir, "mcpdeck-hook.1")); err != nil {
		t.Error(err)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not here to read the pages")
	}
	if out, err := exec.Command(groff, append([]string{"-man", "-ww", "-z", "-Kutf8"}, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
