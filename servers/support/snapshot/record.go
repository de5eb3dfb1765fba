package snapshot

import "time"

// Record is what an agent's program recorded of a session's conversation: what the user
// asked, what the agent said, and what it did. Secrets are removed as in the log. What a
// program does not record is empty.
type Record struct {
	Prompt  string    // what the user last sent
	Asked   time.Time // when
	Said    string    // the agent's last message, as Markdown: its first 2 KiB
	SaidAt  time.Time
	Changed Changed
	Steps   []Step // calls of tools since Prompt, oldest first; of many, the last ones
}

// Changed counts what a session's own edits changed in files.
type Changed struct {
	Files          []ChangedFile // in the order in which they were first changed
	Added, Removed int           // lines, in all
	Partial        bool          // it also ran commands, which may have changed more
}

// ChangedFile is a file that a session edited.
type ChangedFile struct {
	Path           string // below the session's folder if it is there, else absolute
	Added, Removed int    // lines
	// Runs are how many lines are as they were before the session, and how many are not, in
	// turns: what to count a line by that is changed again. nil: it is not known.
	Runs []int
	// Diff has the last hunks of a unified diff; "" where the client records none. It is for
	// the screen, and not kept.
	Diff string `json:"-"`
}

// Step is a call of a tool, as the agent's program recorded it.
type Step struct {
	Tool, Subject string
	Outcome       string // in a few words, such as "+22 −9" or "exit 1"; "" if there is nothing to say
	Began         time.Time
	Took          time.Duration // 0 while it runs, or if unknown
	Running       bool
	Failed        bool
}
