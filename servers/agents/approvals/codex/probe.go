package codex

import (
	"context"
	"fmt"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// nobody takes no prompts and keeps no sessions.
type nobody struct{}

func (nobody) Open(ask.Request) (*ask.Call, error) { return nil, ask.ErrUnavailable }
func (nobody) Refused(ask.Request, ask.Refusal)    {}
func (nobody) Notice(string)                       {}
func (nobody) Report(snapshot.Session)             {}
func (nobody) Gone(string, string)                 {}
func (nobody) MarkRead(string, string)             {}

// probe connects once to the daemon, as the adapter does, and says its version and how many
// sessions it has loaded.
func probe(ctx context.Context, d approvals.Deps) (string, error) {
	d.Queue, d.Roster = nobody{}, nobody{}
	l, err := New(Options{Deps: d}).connect(ctx, d.Folder)
	if err != nil {
		return "", fmt.Errorf("connect to its daemon: %w", err)
	}
	defer l.close()
	return fmt.Sprintf("its daemon %s has %s", l.version, humanize.Count(len(l.loaded), "session")), nil
}
