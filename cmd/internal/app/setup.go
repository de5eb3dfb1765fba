package app

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// screenSetup sets clients up from the screen: in the user's own files, since one
// deck is for all projects.
type screenSetup struct{ cfg *config.Config }

func (s screenSetup) entry() setup.Entry {
	e := setupcmd.EntryOf(s.cfg)
	e.User = true
	return e
}

// Clients implements inbox.Setup.
func (s screenSetup) Clients() []inbox.Client {
	written := map[string]string{}
	for _, c := range setupcmd.Surveyed(s.entry()) {
		written[c.Client] = c.Path
	}
	var out []inbox.Client
	for _, c := range setupcmd.Surveyed(setupcmd.EntryOf(s.cfg)) { // set up in the project is set up, too
		if c.State != setup.SetUp && c.State != setup.Differs {
			c.Path = written[c.Client]
		}
		if c.Installed || c.State != setup.NotSetUp {
			out = append(out, inbox.Client{Name: c.Client, Path: c.Path, SetUp: c.State == setup.SetUp || c.State == setup.Differs})
		}
	}
	return out
}

// Plan implements inbox.Setup.
func (s screenSetup) Plan(client string) (inbox.Change, error) {
	change, err := setup.Plan(client, s.entry())
	if err != nil {
		return inbox.Change{}, err
	}
	out := inbox.Change{Path: change.Path, Lines: change.Preview(), Then: strings.Join(change.Notes, " ")}
	if !change.Same() {
		out.Apply = change.Apply
	}
	return out, nil
}

// Snippet implements inbox.Setup.
func (s screenSetup) Snippet() string {
	text, err := setupcmd.Snippet(s.cfg)
	if err != nil {
		return "" // the page leads to mcpdeck setup instead
	}
	return text
}

// AsIs is the flag of mcpdeck mcp with which a card has its tools under the names that
// the server gave them.
const AsIs = "as-is"
