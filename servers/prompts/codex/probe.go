package codex

import (
	"context"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
)

// nobody takes no prompts and keeps no sessions.
type nobody struct{}

func (nobody) Open(ask.Request) (*ask.Call, error) { return nil, ask.ErrUnavailable }
func (nobody) Notice(string)                       {}
func (nobody) Report(deck.Session)                 {}
func (nobody) Gone(string, string)                 {}

// Probe connects once to the daemon of a folder, as the adapter does, and returns its
// version and how many sessions it has loaded. The error is os.ErrNotExist if no daemon
// runs. Of the options, only Frames and Version are used.
func Probe(ctx context.Context, o Options, home string) (version string, sessions int, err error) {
	o.Queue, o.Roster = nobody{}, nobody{}
	l, err := New(o).connect(ctx, home)
	if err != nil {
		return "", 0, err
	}
	defer l.close()
	return l.version, len(l.loaded), nil
}
