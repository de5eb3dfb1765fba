package help

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
)

// ManCommand returns the command man.
func ManCommand() *cobra.Command {
	dir := ""
	c := &cobra.Command{
		Use: "man", Short: "Print the manual page",
		Example: "  mcpdeck man | man -l -\n  mcpdeck man --dir ~/.local/share/man/man1",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				manPage(c.OutOrStdout(), c.Root())
				return nil
			}
			return ManPages(dir, c.Root())
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "write the pages of all commands to this folder instead")
	return c
}

// ManPages writes a page for each command.
func ManPages(dir string, c *cobra.Command) error {
	var b strings.Builder
	manPage(&b, c)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the manual pages: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ManName(c)+".1"), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write the manual pages: %w", err)
	}
	for _, sub := range inManual(c) {
		if err := ManPages(dir, sub); err != nil {
			return err
		}
	}
	return nil
}

// inManual are the subcommands that have a page: hook is hidden, but also a program.
func inManual(c *cobra.Command) []*cobra.Command {
	var have []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "hook" {
			have = append(have, sub)
		}
	}
	return have
}

// ManName is what the manual page of a command is called.
func ManName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage writes a command's page in the man macros of roff. cobra's own writer goes through
// Markdown, the libraries for it are larger than this, and neither knows variables.
func manPage(w io.Writer, c *cobra.Command) {
	name := ManName(c)
	fmt.Fprintf(w, ".TH %q 1 \"\" %q\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), "mcpdeck "+cli.Version(), roff(name), roff(c.Short))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(c.UseLine()))
	if c.Long != "" {
		fmt.Fprint(w, ".SH DESCRIPTION\n", roffText(c.Long))
	}
	if subs := inManual(c); len(subs) > 0 {
		fmt.Fprint(w, ".SH COMMANDS\n")
		for _, sub := range subs {
			fmt.Fprintf(w, ".TP\n.BR %s (1)\n%s\n", roff(ManName(sub)), roff(sub.Short))
		}
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprint(w, ".SH OPTIONS\n")
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(w, c, f) })
	if c.Example != "" {
		fmt.Fprintf(w, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(c.Example, "\n")))
	}
	if p := c.Parent(); p != nil {
		fmt.Fprintf(w, ".SH SEE ALSO\n.BR %s (1)\n", roff(ManName(p)))
		return
	}
	fmt.Fprint(w, ".SH ENVIRONMENT\nA variable can stand for each flag; it is named with the flag. "+
		"A flag takes precedence over its variable, and that over the configuration file.\n"+
		".SH FILES\n.TP\n.I ~/.config/mcpdeck/config.toml\nconfiguration\n.TP\n.I ~/.local/state/mcpdeck\nstate: sockets, journal, drafts\n"+
		".SH EXIT STATUS\n0: success, 1: failure, 2: wrong usage\n")
}

func manFlag(w io.Writer, c *cobra.Command, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	names := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		names = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + names
	}
	value, usage := pflag.UnquoteUsage(f)
	if value != "" {
		names += ` \fI` + roff(value) + `\fR`
	}
	fmt.Fprintf(w, ".TP\n%s\n%s\n", names, roff(usage))
	if cli.HasVariable(f) {
		fmt.Fprintf(w, ".br\nVariable: %s\n", roff(cli.Variable(c, f)))
	}
}

// roff escapes text.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roffText makes paragraphs of text; lines keep their ends where one is indented.
func roffText(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(part, " ") || strings.Contains(part, "\n ") {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(part))
		} else {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(part))
		}
	}
	return b.String()
}
