package tui

// Setup connects the agents' clients on this machine to the deck. Its methods read and write
// files.
type Setup interface {
	// Clients returns those that were found.
	Clients() []SetupClient
	// Plan returns what connects some of them, and writes nothing.
	Plan(clients []string) (SetupPlan, error)
	// Snippet is the configuration that connects any other client.
	Snippet() string
}

// SetupClient is a client that was found.
type SetupClient struct {
	Name  string   // "claude"
	Files []string // that would change, or that have mcpdeck; ~ stands for the home
	SetUp bool     // there is nothing to change
	Apart bool     // its own prompts stay in its terminal, and could come here
}

// SetupPlan is what would change.
type SetupPlan struct {
	Files    []SetupFile
	Remarks  []string // what is left as it is, and why
	Question string   // "Apply 5 changes to 3 files?"
	// Apply changes all files, or none. The servers that it imports are counted meanwhile.
	Apply func() (SetupDone, error)
}

// SetupFile is what becomes of one file.
type SetupFile struct {
	Path  string   // ~ stands for the home
	Does  []string // "adds mcpdeck to Claude Code"
	Lines []string // with + and - before those that change; secrets are hidden
}

// SetupDone is what was changed.
type SetupDone struct {
	Then []string // what the user does now, a line a client
	Undo func() error
}
