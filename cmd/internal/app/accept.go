package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// acceptFor accepts held definitions for a command that shows a proof, and else
// waits until the user does it on the screen.
func (w *Switches) acceptFor(ctx context.Context, from transport.Requester, c *upstream.Card, names []string) (any, error) {
	if from.Agent != "" {
		return nil, w.refused(from, fmt.Errorf("%s accept: only the user may accept definitions, and this request came from %s; accept on the Servers page", c.Name(), from.Agent))
	}
	shown, err := c.Status().HeldBy(names)
	if err != nil {
		return nil, err
	}
	if len(shown) == 0 {
		return upstream.Reply{Text: "Nothing waits to be accepted."}, nil
	}
	ok, why, err := w.proved(ctx, from)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s accept: %w", c.Name(), err)
	case ok:
		return c.AcceptShown(shown)
	}
	if !w.gate.Screen() {
		return nil, w.refused(from, fmt.Errorf("%s accept: %w", c.Name(), why))
	}
	if err := from.Wait("Waiting for you: press y on " + c.Options().Title + " on the Servers page to accept. Ctrl+C gives up."); err != nil {
		return nil, err
	}
	return c.WaitAccepted(ctx, behind(from).String(), shown)
}

// proved asks for a proof that the user is behind a command. Without one, why says
// what is missing; a wrong one is an error.
func (w *Switches) proved(ctx context.Context, from transport.Requester) (ok bool, why, err error) {
	method, why := w.gate.Ready()
	if why != nil {
		return false, why, nil
	}
	secret, err := from.Prove(ctx, string(method))
	if err != nil {
		return false, nil, err
	}
	if secret == "" {
		return false, errors.New("there is no terminal to ask on for a proof"), nil
	}
	err = w.gate.Try(behind(from), secret)
	return err == nil, nil, err
}

// refused has the screen show that a command was refused, and returns why.
func (w *Switches) refused(from transport.Requester, why error) error {
	if w.gate != nil {
		w.gate.Refused(behind(from), why)
	}
	return why
}

// behind is who gave a command.
func behind(from transport.Requester) userauth.Who {
	who := userauth.Who{Folder: socket.Folder(from.PID)}
	who.PID, who.Program = socket.Behind(from.PID)
	return who
}
