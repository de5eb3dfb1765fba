package config

import (
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

// File is the configuration file. Its zero value is not the default; see
// defaults. The comments of its fields, and of those of the structs in it, are
// what the schema and the list of options say.
type File struct {
	// Write more to the log.
	Debug bool `toml:"debug"`
	// Folders that agents may use besides their project. Never /, your home folder, system folders or folders with secrets.
	AllowDirs []string `toml:"allow_dirs"`

	// The endpoint for agents that connect over HTTP.
	HTTP HTTP `toml:"http"`
	// The screen.
	UI UI `toml:"ui"`
	// The log of calls.
	Journal Journal `toml:"journal"`
	// Questions of agents.
	Ask Ask `toml:"ask"`
	// What is shown beyond the screen.
	Notify Notify `toml:"notify"`
	// What agents' programs ask in their own terminals.
	Prompts Prompts `toml:"prompts"`
	// What agents' programs deny without asking you.
	Denied Denied `toml:"denied"`
	// The list of agents' sessions.
	Sessions Sessions `toml:"sessions"`
	// What tokens cost.
	Prices Prices `toml:"prices"`

	// MCP servers that you have added, by name, beside those with a file in servers.d.
	Server map[string]settings.Card `toml:"server"`
	// What some agents have of the servers that are on, by name.
	Profile map[string]Profile `toml:"profile"`

	// Keys of actions, instead of their own: "calls.copy" = ["ctrl+y"]. mcpdeck config keys lists the actions.
	Keys map[string][]string `toml:"keys"`
	// Colours.
	Theme Theme `toml:"theme"`
}

// Theme is the colours of the screen.
type Theme struct {
	// Name of the colours: auto (dark or light, as the terminal is), dark, light, high-contrast, high-contrast-dark, high-contrast-light, or that of a file themes/NAME.toml. Not set, it is what you picked on the screen.
	Name string `toml:"name"`
	// Colours to change in the dark theme.
	Dark theme.Palette `toml:"dark"`
	// Colours to change in the light theme.
	Light theme.Palette `toml:"light"`
}

// HTTP is the streamable HTTP endpoint.
type HTTP struct {
	// Serve HTTP, on this machine only.
	Enabled bool `toml:"enabled"`
	// Port of the endpoint; 0 picks a free one.
	Port int `toml:"port"`
}

// UI is the screen.
type UI struct {
	// Let the mouse act on the screen. Off, the terminal selects text.
	Mouse bool `toml:"mouse"`
	// Let the marks of what runs turn.
	Motion bool `toml:"motion"`
	// How long a key that did something has to rest before it does something again, unless another key is pressed or the terminal tells that it is let go.
	KeyRest humanize.Duration `toml:"key_rest"`
	// Background of the terminal; empty asks the terminal.
	Background string `toml:"background"`
	// Draw with ASCII only.
	ASCII bool `toml:"ascii"`
	// How to show pictures; auto finds out what the terminal can do.
	Pictures string `toml:"pictures"`
	// Page to show first; empty is the one you left.
	Start string `toml:"start"`
	// Show the Inbox when something new waits, for a screen that nobody types at.
	FollowInbox bool `toml:"follow_inbox"`
}

// Journal is the log of calls.
type Journal struct {
	// Keep calls across restarts.
	Enabled bool `toml:"enabled"`
	// Keep keys and sizes of arguments and results, but no values.
	ShapeOnly bool `toml:"shape_only"`
	// Calls to keep.
	MaxCalls int `toml:"max_calls"`
	// Days to keep a call.
	MaxDays int `toml:"max_days"`
}

// Ask is how questions are put.
type Ask struct {
	// Questions time out after this; "0s" leaves it to the agent.
	Timeout humanize.Duration `toml:"timeout"`
	// How many seconds an answer can be undone; 0 sends at once.
	UndoSeconds int `toml:"undo_seconds"`
	// How long a question is snoozed by the first choice of z.
	Snooze humanize.Duration `toml:"snooze"`
	// deadline puts questions first whose client times out within a minute; empty keeps the order of arrival.
	Sort string `toml:"sort"`
	// Send an answer of the last 15 minutes again when the same agent asks the same.
	AutoDeliverParked bool `toml:"auto_deliver_parked"`
	// What mcpdeck ask answer must show to answer from a shell.
	CLIAnswers Proof `toml:"cli_answers"`
	// Keep drafts and open questions across restarts.
	Persist string `toml:"persist"`
	// Keep the last 200 questions.
	History string `toml:"history"`
}

// Notify is how the deck makes itself known beyond its screen.
type Notify struct {
	// How something that needs you makes itself known.
	Waiting string `toml:"waiting"`
	// Notify you of a turn of a minute or more that has ended, unless mcpdeck's window has the focus.
	Done bool `toml:"done"`
	// Leave texts of questions and prompts out of notifications.
	Private bool `toml:"private"`
	// Program that shows notifications, and its arguments; the text is appended.
	Command []string `toml:"command"`
	// How long something must wait before you are notified.
	After humanize.Duration `toml:"after"`
	// Notify you also of what waits in the window that you look at.
	Here bool `toml:"here"`
	// What waits while nobody is at the deck goes to your phone.
	Away Away `toml:"away"`
}

// Away is where what waits goes while nobody is at the deck.
type Away struct {
	// Topic of an ntfy server, such as https://ntfy.sh/TOPIC. 2.16 or newer takes back what waits no longer.
	Ntfy string `toml:"ntfy"`
	// Address that gets each event as JSON.
	Webhook string `toml:"webhook"`
	// Program that gets each event as JSON on its standard input, and its arguments.
	Command []string `toml:"command"`
	// Token for the server, such as "${env:NTFY_TOKEN}".
	Token string `toml:"token"`
	// You are away after this long without a key or a click in the deck, and without its window getting or losing the focus; "0s": always.
	After humanize.Duration `toml:"after"`
	// When to notify you again of what still waits; "0s": never.
	Again humanize.Duration `toml:"again"`
	// Send also what is asked. Off, only who asks and of what kind.
	Text bool `toml:"text"`
}

// Proof is what a shell must show before it may answer.
type Proof string

// UnmarshalText implements encoding.TextUnmarshaler, also for true and false.
func (p *Proof) UnmarshalText(b []byte) error {
	*p = Proof(b)
	return nil
}

// Method is the way to prove that p names; what is not one proves nothing.
func (p Proof) Method() userauth.Method {
	switch m := userauth.Method(p); {
	case p == "true":
		return userauth.Pair
	case slices.Contains(userauth.Methods(), string(m)):
		return m
	}
	return userauth.Off
}

func defaults() File {
	return File{
		HTTP:    HTTP{Enabled: true, Port: 7337},
		UI:      UI{Mouse: true, Motion: true, KeyRest: humanize.Duration(tui.KeyRest), Pictures: "auto"},
		Journal: Journal{Enabled: true, MaxCalls: 100_000, MaxDays: 30},
		Ask:     Ask{UndoSeconds: 2, Snooze: humanize.Duration(10 * time.Minute), CLIAnswers: Proof(userauth.Off), Persist: "on", History: "on"},
		Notify:  Notify{Waiting: "all", Done: true, After: humanize.Duration(1500 * time.Millisecond), Away: Away{After: humanize.Duration(2 * time.Minute), Again: humanize.Duration(15 * time.Minute)}},
		Prompts: defaultPrompts(), Sessions: Sessions{Keep: humanize.Duration(time.Hour), Reply: "ask"},
		Theme: Theme{Name: theme.Follows, Dark: theme.Dark(), Light: theme.Light()},
	}
}
