// Package help explains the command line: in the terminal, as manual pages, and by its version.
package help

import (
	"cmp"
	"io"
	"regexp"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Print prints what cobra would, and how to set the flags by variables; on a terminal that
// shows colours, with the names in them.
func Print(c *cobra.Command, _ []string) {
	about := strings.TrimSpace(cmp.Or(c.Long, c.Short))
	usage := c.UsageString() + variablesHelp(c)
	out := c.OutOrStdout()
	colors := console.ColorsOf(out)
	if colors > colorprofile.NoTTY && config.Env("NO_COLOR") == "" {
		out = &colorprofile.Writer{Forward: console.Bytes(out), Profile: colors}
		about, usage = sanitize.Output(about), paint(sanitize.Output(usage))
	}
	_, _ = io.WriteString(out, console.Fold(c.OutOrStdout(), about+"\n\n"+usage)) // nobody is left to be told
}

// variablesHelp shows by one of a command's own flags and by one of all commands how
// variables stand for them.
func variablesHelp(c *cobra.Command) string {
	examples := []string{"--name by " + cli.Variable(c, c.Root().PersistentFlags().Lookup("name"))}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if len(examples) < 2 && cli.HasVariable(f) {
			examples = append(examples, "--"+f.Name+" by "+cli.Variable(c, f))
		}
	})
	return "\nEnvironment:\n  Each flag can be set by a variable: " + strings.Join(examples, ", ") +
		".\n  A flag takes precedence over its variable, and that over config.toml.\n"
}

// groups are the sections of the help and their commands; the first is for newcomers.
func groups() []struct{ title, commands string } {
	return []struct{ title, commands string }{
		{"To start", "demo setup doctor"},
		{plugin.GroupQuestions, "call log notify rules sessions status tools"},
		{plugin.GroupServers, "accept add import lazy list off on remove restart server"},
		{plugin.GroupPictures, ""},
		{plugin.GroupStarted, "acp mcp remote-end serve"},
		{"Housekeeping", "completion config help hub join man remote token undo version"},
	}
}

// Group puts the commands into the sections of the help.
func Group(root *cobra.Command) {
	of := map[string]string{}
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, name := range strings.Fields(g.commands) {
			of[name] = g.title
		}
	}
	for _, c := range root.Commands() {
		c.GroupID = of[c.Name()]
	}
	root.SetHelpCommandGroupID(of["help"])
	root.SetCompletionCommandGroupID(of["completion"])
	root.InitDefaultHelpCmd() // of which cobra says little
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short, c.Long = "Explain a command", "Explain a command and its flags: mcpdeck help ask answer. Without a command, list all."
		case "completion":
			c.Short, c.Long = "Print the completion script of a shell", "Print the script with which a shell completes mcpdeck's commands, flags and values. The help of\neach says how to load it."
		}
	}
}

// paint colours a usage: its headings, and at the beginnings of its rows the names of
// commands and flags.
func paint(usage string) string {
	heading, name, faint := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Foreground(lipgloss.Cyan), lipgloss.NewStyle().Faint(true)
	row := regexp.MustCompile(`^( +)((?:-\w, )?--[\w-]+|[\w-]+)( \w+)?( {2,}.*)?$`)
	section := ""
	lines := strings.Split(usage, "\n")
	for i, line := range lines {
		switch part := row.FindStringSubmatch(line); {
		case strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " "):
			section, lines[i] = line, heading.Render(line)
		case part != nil && section != "Usage:" && section != "Examples:":
			lines[i] = part[1] + name.Render(part[2]) + faint.Render(part[3]) + part[4]
		}
	}
	return strings.Join(lines, "\n")
}
