package opencode

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// said is what the plugin says of a message, or of a call of a tool.
type said struct {
	At   int64  // in milliseconds
	ID   string `json:"messageID"`
	Text string

	Call   string `json:"callID"`
	Tool   string
	Status string
	Input  json.RawMessage
	Exit   *int
	Error  string
	Lines  int     // of a file that was written
	Over   bool    `json:"overwrote"` // there was one before
	Before *string // its text; nil if it is not said
	Now    string  `json:"content"`
	Files  []struct {
		File                 string
		Additions, Deletions int
		Patch                string // or the beginning of it
	}
}

// said takes in what was asked or said in a session, or what a tool does. Of a sub-agent, only
// what it changes is the session's.
func (s *stream) said(id, what string, m hook.Message) {
	var d said
	if m.TooLarge || json.Unmarshal(m.Raw, &d) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.session(id)
	if x == nil {
		return
	}
	e := record.Event{When: time.UnixMilli(d.At)}
	switch what {
	case "user":
		e.Prompt, e.ID = d.Text, d.ID
	case "assistant":
		e.Said = d.Text
	case "tool":
		d.tool(&e)
		x.tool, x.about = d.Tool, record.Subject(d.Input)
	case "cut": // the plugin does not know all that was done before there was a deck
		root := s.root(x)
		root.record.Skipped()
		s.row(root)
		return
	default:
		return
	}
	root, parts := s.root(x), record.Words|record.Edits
	if root != x {
		parts = record.Edits
	}
	root.record.Take(&e, parts)
	s.row(root)
}

// tool is a call of a tool, and its result when it has ended.
func (d *said) tool(e *record.Event) {
	writes := d.Tool == "bash" && record.Writes(d.Input) || d.Over && d.Before == nil && d.Status == "completed" // by how much that has changed is not said
	e.Calls = []record.Call{{ID: d.Call, Tool: d.Tool, Subject: record.Subject(d.Input), Writes: writes}}
	r := record.Result{Call: d.Call}
	switch d.Status {
	case "completed":
		for _, f := range d.Files {
			r.Files = append(r.Files, snapshot.ChangedFile{Path: f.File, Added: f.Additions, Removed: f.Deletions, Diff: record.Diff(f.File, f.Patch).Diff})
		}
		switch path := record.Subject(d.Input); {
		case d.Tool != "write" || len(r.Files) > 0 || !filepath.IsAbs(path):
		case d.Over && d.Before != nil:
			r.Files = []snapshot.ChangedFile{record.Compared(path, *d.Before, d.Now)}
		case !d.Over && d.Now != "":
			r.Files = []snapshot.ChangedFile{record.Whole(path, d.Now, true)}
		case !d.Over:
			r.Files = []snapshot.ChangedFile{{Path: path, Added: d.Lines}}
		}
		if d.Exit != nil && *d.Exit != 0 {
			r.Failed, r.Outcome = true, "exit "+strconv.Itoa(*d.Exit)
		}
	case "error":
		r.Failed, r.Outcome, r.Denied = true, d.Error, strings.Contains(d.Error, "rejected permission")
	default:
		return
	}
	e.Results = []record.Result{r}
}
