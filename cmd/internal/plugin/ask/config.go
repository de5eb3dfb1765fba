package ask

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// aDay is the limit that agents are given for one call.
const aDay = 24 * time.Hour

// clientNames are the agents' programs that a configuration can be printed for.
func clientNames() []string {
	return clients.IDs(func(c clients.Client) bool { return c.Section != "" })
}

func configCommand(load func() (Settings, error)) *cobra.Command {
	var name, label, output string
	names := clientNames()
	c := &cobra.Command{
		Use: "config", Short: "Print an agent's configuration, with its own socket",
		Long:    "Ask the running deck for a socket for one session of an agent, and print the agent's\nconfiguration for it. Agents: " + strings.Join(names, ", ") + ".",
		Example: "  mcpdeck ask config --client claude --session payments --write ask.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, ok := clients.Find(name)
			if !ok || client.Section == "" {
				return exit.Usagef("--client must be one of %s", strings.Join(names, ", "))
			}
			s, err := load()
			if err != nil {
				return err
			}
			socket, err := questions.NewClient(questions.ClientOptions{Path: s.Socket}).OpenSession(label)
			if err != nil {
				return noDeck(err)
			}
			text, err := setup.Snippet(client, entry(s, socket, label))
			if err != nil {
				return err
			}
			if output == "" {
				fmt.Fprintln(c.OutOrStdout(), text)
			} else if err := write(output, text+"\n"); err != nil {
				return err
			}
			for _, n := range notes(client) {
				if output != "" {
					n = strings.ReplaceAll(n, "FILE", output)
				}
				fmt.Fprintln(c.ErrOrStderr(), n)
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "client", names[0], "the agent's program")
	_ = c.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(clientNames(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	c.Flags().StringVar(&label, "session", "", "the session's name, shown with its questions")
	c.Flags().StringVar(&output, "write", "", "write to this file instead, readable only by you; an existing file is replaced")
	return c
}

// write replaces a file in one step.
func write(path, text string) error {
	if err := file.Write(path, []byte(text), file.Options{}); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// entry starts the server of one session, with all the time that the client gives.
func entry(s Settings, socket, label string) clients.Server {
	env := map[string]string{"PI_ASK_SOCKET": socket}
	if label != "" {
		env["MCPDECK_SESSION"] = label
	}
	return clients.Server{Command: s.Program, Args: []string{"ask-server"}, Env: env, Limit: aDay}
}

// notes say what the file alone cannot do.
func notes(c clients.Client) []string {
	out := c.Launch
	if out == nil {
		where := "its configuration"
		switch {
		case c.Project != nil:
			where = c.Project[0]
		case c.User != nil:
			where = filepath.ToSlash(c.User(clients.Folders{Home: "~"})[0])
		}
		out = []string{"merge this into " + where}
	}
	if c.Form.Timeout == "" && c.Limit > 0 {
		out = append(out, fmt.Sprintf("%s ends a tool call after about %.0f s and has no setting to raise that; mcpdeck returns status pending in time, and the agent calls ask_wait",
			c.Title, c.Limit.Seconds()))
	}
	return out
}
