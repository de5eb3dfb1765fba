package ask

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/builtin/ask/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// stopWithin is how long the server may take to end.
const stopWithin = 800 * time.Millisecond

func serverCommand(load func() (Settings, error)) *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{
		Use: "ask-server", Short: "Serve the ask tools on standard input and output",
		Long: `Serve the tools ask and ask_wait over MCP, for an agent's configuration.

Questions go to the deck whose socket is named by PI_ASK_SOCKET or MCPDECK_ASK_SOCKET,
or else to the deck that this user is running. mcpdeck ask config prints the
configuration that an agent needs.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := load()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return serve(ctx, s, wait, c.InOrStdin(), console.Bytes(c.OutOrStdout()))
		},
	}
	c.Flags().DurationVar(&wait, "connect-wait", 3*time.Second, "how long to wait for a deck before reporting that none is running")
	return c
}

// serve answers in on out until in ends or ctx does. What is still asked then
// is withdrawn.
func serve(ctx context.Context, s Settings, wait time.Duration, in io.Reader, out io.Writer) error {
	wait = cmp.Or(wait, -1)
	client := questions.NewClient(questions.ClientOptions{Path: s.Socket, Wait: wait, Session: s.Session})
	o := router.Options{
		Version: s.Version, Root: s.Root, Roots: s.Roots, Redact: s.Redact, Servers: []backend.Server{mcpserver.InDeck(mcpserver.Remote(client), s.Version)},
	}
	if s.Journal != nil {
		if err := s.Journal.OpenSpool(); err != nil {
			return err
		}
		o.Recorder = s.Journal
	}
	running, err := router.New(o)
	if err != nil {
		return err
	}
	running.Start()
	view, err := running.View(router.ViewSpec{Servers: []string{"ask"}})
	if err != nil {
		return err
	}
	pid, program := socket.AgentOf(os.Getppid())
	agent := running.Connect(snapshot.Caller{Transport: "stdio", PID: pid, Program: program, Root: s.Root, Hints: s.Hints}, view.Spec.Servers)
	if closer, ok := in.(io.Closer); ok {
		// A signal ends the server as the end of its input does.
		context.AfterFunc(ctx, func() { _ = closer.Close() })
	}
	done := make(chan error, 1)
	recovery.Go("ask server", func() { done <- transport.Serve(ctx, in, out, view, agent) })
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(stopWithin):
		}
	}
	agent.Close()
	client.Close()
	end, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = running.Stop(end) // nothing of it outlives the process
	if s.Journal != nil {
		_ = s.Journal.Close(end) // what the disk did not take in time is lost
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}
