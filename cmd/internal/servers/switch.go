package servers

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
)

// SwitchCommands turn a server of the running deck on and off.
func SwitchCommands(a *cli.Globals) []*cobra.Command {
	verb := func(use, verb, short, long string) *cobra.Command {
		var lazy bool
		var wait cli.KeyWait
		c := &cobra.Command{
			Use: use + map[bool]string{true: " NAME...", false: " NAME"}[verb == "on" || verb == "off" || verb == app.LazyWord], Short: short, Long: long,
			Args: func(_ *cobra.Command, args []string) error {
				several := verb == "on" || verb == "off" || verb == app.LazyWord
				if len(args) == 0 || len(args) > 1 && !several {
					return exit.Usagef("name one server; mcpdeck list shows them")
				}
				return nil
			},
			RunE: func(c *cobra.Command, args []string) error {
				if lazy {
					verb = app.LazyWord
				}
				var failed []error // one that stays off keeps no other from being turned on
				for _, name := range args {
					failed = append(failed, askCard(c, a, &wait, app.CardRequest{Name: name, Request: upstream.Request{Verb: verb}}))
				}
				return errors.Join(failed...)
			},
		}
		most := 0
		if strings.HasSuffix(c.Use, " NAME") {
			most = 1
		}
		c.ValidArgsFunction = cli.CompleteServers(a, plugin.Names(), most)
		switch verb {
		case app.LazyWord:
			wait.Flag(c)
		case "on":
			wait.Flag(c)
			c.Flags().BoolVar(&lazy, "lazy", false, "on demand, as mcpdeck lazy does")
		}
		return c
	}
	return []*cobra.Command{
		verb("on", "on", "Turn a server on: agents get its tools", "Turn a server of the running deck on: one of mcpdeck's own, or one that was added with\n"+
			"mcpdeck add. Agents get its tools. The program of an added one is started when it is\nfirst needed. The deck remembers that the server is on.\n\n"+
			"Only you can turn a server on. The command asks for the proof that\nask.cli_answers names (a pairing code or a passphrase), or waits until you press\nspace on the server on the Servers page, and y where you have not agreed to what it runs."),
		verb("lazy", app.LazyWord, "Have agents search for a server's tools instead of listing them", "Turn a server of the running deck on without filling agents' context with its tools. For\n"+
			"all servers that are on demand, agents list two tools, find_tools and call_tool. A search\nreturns the tools that fit best, and a call is the same as a direct one.\n\n"+
			"Clients that search long lists of tools by themselves, such as Claude Code, get the\nwhole list. mcpdeck on NAME has all agents list the tools again."),
		verb("off", "off", "Turn a server off: agents see nothing of it", "Turn a server of the running deck off. Agents see nothing of it, and its program ends.\nQuestions that are open can still be answered."),
		verb("restart", "reconnect", "Restart a server's program", "Restart the program of a server of the running deck."),
		acceptCommand(a),
	}
}

func acceptCommand(a *cli.Globals) *cobra.Command {
	var wait cli.KeyWait
	c := &cobra.Command{
		Use: "accept NAME [TOOL...]", Short: "Offer tools of a server that are new or whose definition changed",
		Long: "A tool that is new, or whose description or schema changed since you last accepted it,\n" +
			"stays hidden until you accept the change: agents act on such texts. mcpdeck status NAME --long shows what changed.\n" +
			"Without names of tools, all changes are accepted.\n\n" +
			"Only you can accept. This command asks for the proof that ask.cli_answers\n" +
			"names (a pairing code or a passphrase).",
		Args: cli.Args(1, cli.Any, "name a server; mcpdeck list shows them"),
		RunE: func(c *cobra.Command, args []string) error {
			return askCard(c, a, &wait, app.CardRequest{Name: args[0], Request: upstream.Request{Verb: "accept", Tools: args[1:]}})
		},
	}
	c.ValidArgsFunction = cli.CompleteServers(a, switched(), 1)
	wait.Flag(c)
	return c
}

// switched are the servers of mcpdeck's own of which definitions may be held.
func switched() (names []string) {
	for _, p := range plugin.All() {
		if p.HasSwitch {
			names = append(names, p.Name())
		}
	}
	return names
}

// askCard sends a request to the running deck and prints the answer.
func askCard(c *cobra.Command, a *cli.Globals, wait *cli.KeyWait, r app.CardRequest) error {
	cfg, err := a.Load()
	if err != nil {
		return err
	}
	var reply upstream.Reply
	if err := wait.Ask(c.Context(), cfg.Paths.Socket, "card", r, &reply); err != nil {
		return err
	}
	c.Println(strings.TrimSuffix(reply.Text, "\n"))
	return nil
}
