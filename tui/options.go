package tui

import (
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Options are what a screen is made of.
type Options struct {
	Deck    Deck
	Pages   []Page // in the order of their tabs; the first is home
	Widgets []Widget
	Feeds   []Feed // of messages for all pages, beside the pages' own

	Theme      theme.Options       // Dark is what holds until the terminal answers; a Scheme without a name is what the user picked
	Themes     []theme.Scheme      // to pick from, the default first
	Background string              // "dark" or "light"; else the terminal is asked
	Keys       map[string][]string // of actions by ID, instead of the default ones
	KeysFile   string              // where Keys are written
	KeyLines   map[string]int      // the line of each there
	NoMouse    bool
	Still      bool          // what runs has a mark that does not turn
	KeyRest    time.Duration // how long a key that did something rests; 0 is [KeyRest]
	Watch      bool          // nothing can be changed
	Start      string        // page to show first; "" is where the user left
	Pictures   picture.Mode  // how to show pictures; Auto asks the terminal
	Store      Store         // nil forgets
	Guide      Guide         // nil: the user is left alone

	// Demo is what plays the demo in the terminal and ends; nil where there is none.
	Demo func() tea.ExecCommand

	// KeepTheme writes down that the user has picked a theme, and returns the file. It may
	// take a while; nil forgets.
	KeepTheme func(name string) (file string, err error)

	// Settings brings other colours, keys and mouse while the screen is up; nil
	// keeps what is.
	Settings <-chan Settings

	Output io.Writer // the terminal
	// Colors is how many colours Output shows. Unknown finds out, for which it may
	// run tmux.
	Colors colorprofile.Profile

	// For tests and for a terminal that is not the process's own.
	Input   io.Reader
	Environ []string
	Program []tea.ProgramOption
}

// Deck is what the screen shows. Its methods return at once.
type Deck interface {
	// Snapshot is the newest version of all but the calls' bodies.
	Snapshot() *snapshot.Snapshot
	// Subscribe hints, on a channel of one slot, that Snapshot or Calls differ.
	Subscribe() (hint <-chan struct{}, cancel func())
	// Calls are those that changed since a version, oldest first, and the version
	// to ask with next time.
	Calls(since uint64) ([]snapshot.Call, uint64)
}

// Store keeps a few words between runs. Get is called before the first frame,
// Put off the update loop.
type Store interface {
	Get(key string) string
	Put(key, value string) error
}

// DeckMsg is the deck as it is now. Calls are those that changed since the
// last DeckMsg, oldest first; a call changes when it ends.
type DeckMsg struct {
	Snapshot *snapshot.Snapshot
	Calls    []snapshot.Call
}

// LookMsg asks the page of pictures to show those in the result of a call.
type LookMsg struct{ Call uint64 }

// deckFeed loads DeckMsg.
func deckFeed(d Deck) Feed {
	hint, cancel := d.Subscribe()
	var since uint64
	return Feed{Hint: hint, Stop: cancel, Load: func() tea.Msg {
		msg := DeckMsg{Snapshot: d.Snapshot()}
		msg.Calls, since = d.Calls(since)
		return msg
	}}
}
