// Package acp implements the command that an editor starts in place of an agent.
package acp

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/acp"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// leftover is how long an agent that has ended may be outlived by what holds its output.
const leftover = time.Second

// Command returns the command acp.
func Command(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "acp -- AGENT [ARG...]",
		Short: "Run an agent for an editor, and show in the deck what it asks there",
		Long: `Run an agent for an editor that speaks the Agent Client Protocol. Have the editor start this in
place of the agent: everything passes through, and the editor shows what it always shows.

If a deck is running, it also shows the permissions and forms for which the agent asks the editor. You
can answer in either; the first answer counts. Without a deck, the editor alone asks.`,
		Example: "  mcpdeck acp -- opencode acp\n  mcpdeck setup zed --acp \"opencode acp\"   # has Zed start that",
		Args:    cli.Args(1, cli.Any, "name the agent: mcpdeck acp -- AGENT [ARG...]"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.Load()
			if err != nil { // which keeps no agent from its editor
				fmt.Fprintf(console.Err(), "mcpdeck: %v\n", err)
				without := a.Flags
				without.Alone = true
				if cfg, err = config.Load(without); err != nil {
					return err
				}
			}
			return run(cfg, args)
		},
	}
	c.Flags().SetInterspersed(false)
	return c
}

func run(cfg *config.Config, line []string) error {
	path, err := process.Find(line[0])
	if err != nil {
		return fmt.Errorf("start %s: %s", line[0], process.StartReason(line[0], err))
	}
	c := process.Command{Program: path, Args: line[1:], Own: cfg.Environ, Extra: []string{hook.Mirrored + "=1"}}
	errOut := console.Bytes(console.Err())
	if config.Env(hook.Mirrored) != "" { // another mcpdeck acp mirrors it
		out, _ := console.Bytes(console.Out()).(*os.File)
		d, err := process.StartDirect(c, os.Stdin, out, errOut)
		return end(d, err, line[0], nil)
	}
	in, toAgent, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe: %w", err)
	}
	fromAgent, out, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open a pipe: %w", err)
	}
	d, err := process.StartDirect(c, in, out, errOut)
	_, _ = in.Close(), out.Close() // they are the agent's
	done := make(chan struct{})
	if err == nil {
		recovery.Go("acp", func() {
			defer close(done)
			acp.Run(context.Background(), acp.Between{
				EditorIn: os.Stdin, Editor: console.Bytes(console.Out()), AgentOut: fromAgent, Agent: toAgent,
				Command: line, PID: d.PID, Folder: cfg.Dir, Socket: cfg.Paths.Prompts,
			})
		})
	}
	return end(d, err, line[0], done)
}

// end waits for an agent's end, and ends like it.
func end(d *process.Direct, err error, name string, done <-chan struct{}) error {
	if err != nil {
		return fmt.Errorf("start %s: %s", name, process.StartReason(name, err))
	}
	code := d.Wait()
	if done != nil {
		select {
		case <-done:
		case <-time.After(leftover):
		}
	}
	if code != 0 {
		return exit.Code(code)
	}
	return nil
}
