// Package clients is the one table of the programs that agents run in: their names,
// where and how they are configured, and how they treat a server.
package clients

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// LimitHint is the variable by which a client's entry says to which limit of one
// call, in milliseconds, the client was set.
const LimitHint = "MCPDECK_CLIENT_TIMEOUT_MS"

// Client is one program. What is zero is as with most of them.
type Client struct {
	ID    string // as commands name it: "claude"
	Title string // as texts name it: "Claude Code"

	// Introduces are the names it gives itself in the handshake, lower case, with
	// * at either end for anything. The first row of the table that fits counts.
	Introduces []string
	Programs   []string // that start it; none when it is no command
	Package    string   // of npm, which has it; "" for none
	// Variables of its environment say which session or project it works on. The
	// relay passes them on.
	Variables []string
	// Session is the member of a call's _meta that holds the ID of the session. "" for none.
	Session string

	// User are the user's own files: the first that exists counts, else the first.
	// nil: where they are is not known, and setup does not offer the client.
	User    func(Folders) []string
	Project []string // the same below a project, with slashes; none when it has no file there
	Grammar Grammar
	Section string // of the file: holds the servers by name
	// PerProject is a section of the user's own file that holds, by folder, what a
	// project's file would hold. "" for none.
	PerProject string
	Form       Form
	Refs       Refs // how its entries refer to variables and the like

	Note        string   // what the user does once the file is written
	ProjectNote string   // the same, when it is a project's file
	Launch      []string // how it is started with one file besides its own, FILE; nil: it cannot be

	// Folder is where its program keeps what it does, such as conversations; nil: that is
	// not known.
	Folder func(Folders) string
	// Daemon is set if its sessions run in a process of their own, without a terminal.
	Daemon bool
	// Silent is set if nothing but the program itself tells of its sessions: one that is not
	// set up is only seen to run.
	Silent bool

	// Agents is the section of an editor's settings that says how it starts agents, which
	// speak the Agent Client Protocol; "" if that is not known.
	Agents string

	Prompts *Prompts // how the deck gets its own prompts; nil: it cannot

	// Searches reports, by the environment of a session, whether it finds tools in a long list
	// by itself; nil: no session does.
	Searches func(env func(name string) string) bool

	// Allowed says how a command runs that the program asks about and that is allowed, if not as others do.
	Allowed    string
	KeepsTools bool          // it lists a server's tools once and does not ask again when they change
	Limit      time.Duration // how long one call may take, as it comes; 0: not known, or as long as it likes
	Extends    bool          // progress starts its limit anew; only Limit, if there is one, still holds
	Background time.Duration // how long it waits for a call before it works on beside it; 0: to the end
}

// Find is the client that a command names, by its ID or by a name that it gives
// itself.
func Find(name string) (Client, bool) {
	return first(func(c Client) bool {
		return c.ID == name || slices.ContainsFunc(c.Introduces, func(p string) bool { return strings.Trim(p, "*") == name })
	})
}

// Of is the client that introduces itself so, in whatever case.
func Of(introduced string) (Client, bool) {
	introduced = strings.ToLower(introduced)
	return first(func(c Client) bool {
		return slices.ContainsFunc(c.Introduces, func(p string) bool { return Match(p, introduced) })
	})
}

// Name is what the user reads of an agent that goes by several names, such as what it
// introduced itself as and its program: the ID of the first one that the table knows, or
// else the first that is not empty.
func Name(names ...string) string {
	for _, name := range names {
		if c, ok := Of(name); ok {
			return c.ID
		}
	}
	return cmp.Or(names...)
}

func first(fits func(Client) bool) (Client, bool) {
	all := All()
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i], true
	}
	return Client{}, false
}

// Match tells whether a name fits a pattern, which may have * at either end.
func Match(pattern, name string) bool {
	tail, anyHead := strings.CutPrefix(pattern, "*")
	part, anyTail := strings.CutSuffix(tail, "*")
	switch {
	case anyHead && anyTail:
		return strings.Contains(name, part)
	case anyHead:
		return strings.HasSuffix(name, part)
	case anyTail:
		return strings.HasPrefix(name, part)
	}
	return name == part
}

// Variables are those of all clients.
func Variables() []string {
	var out []string
	for _, c := range All() {
		out = append(out, c.Variables...)
	}
	return out
}

// IDs are those of the clients for which keep is true, in the table's order.
func IDs(keep func(Client) bool) []string {
	var out []string
	for _, c := range All() {
		if keep(c) {
			out = append(out, c.ID)
		}
	}
	return out
}
