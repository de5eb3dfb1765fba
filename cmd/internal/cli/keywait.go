package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// KeyWait is how long a command waits for a key that the user presses in the deck: at a
// terminal without end, unless it says how long, and elsewhere only then. Nobody is there to
// give up in place of a script.
type KeyWait struct{ limit time.Duration }

// Flag gives a command the flag for how long it waits.
func (p *KeyWait) Flag(c *cobra.Command) {
	c.Flags().DurationVar(&p.limit, "timeout", 0, "how long to wait for your key in the deck (default: for ever at a terminal, not at all without one)")
}

var (
	errNobody  = errors.New("nobody pressed the key")
	errNoPlace = errors.New("there is no terminal here to wait at; --timeout 5m waits that long")
)

// Ask sends a request to the running deck and decodes its answer into reply.
func (p *KeyWait) Ask(ctx context.Context, socket, control string, args, reply any) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	say := func(s string) { fmt.Fprintln(console.Err(), s) }
	talk := transport.ControlClient{Prove: proveIfAsked, Note: say, Wait: func(note string) error {
		switch {
		case p.limit > 0:
			time.AfterFunc(p.limit, func() { cancel(errNobody) })
		case !prompt.Terminal():
			what := strings.TrimSuffix(strings.TrimPrefix(note, "Waiting for you: "), " Ctrl+C gives up.")
			return fmt.Errorf("only the user may do this (%s), and %w", strings.TrimSuffix(what, "."), errNoPlace)
		}
		say(note)
		return nil
	}}
	err := talk.Ask(ctx, socket, control, args, reply)
	if errors.Is(context.Cause(ctx), errNobody) {
		return fmt.Errorf("%w within %s; nothing has changed", errNobody, humanize.Took(p.limit))
	}
	return err
}

// proveIfAsked is prompt.Proof, and shows nothing where nobody can be asked: the
// deck then asks on its screen.
func proveIfAsked(method string) (string, error) {
	secret, err := prompt.Proof(method)
	if errors.Is(err, prompt.ErrNoTerminal) {
		return "", nil
	}
	return secret, err
}
