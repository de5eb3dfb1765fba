// Package usage counts the tokens of agents' sessions in the files in which their programs
// keep the conversations, and knows what they cost.
package usage

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Found is what the files of a session say. What they do not say is zero.
type Found struct {
	Usage   snapshot.Usage
	Cost    snapshot.Cost
	Shared  snapshot.Shared
	Context snapshot.Context

	Title, Mode, Model    string
	Named                 bool   // the user chose Title
	LastTool, LastSubject string // the last call of a tool, and what it was about

	Record *snapshot.Record // another one whenever it differs; nil: nothing is known

	Subagents int  // at work
	Unread    bool // as [Counter.Unread] was told, maybe in another run
}

// Reply counts the tokens of one Reply of a model. A program may write it several times as
// it grows.
type Reply struct {
	In        int64 `json:"i,omitempty"` // without what came from the cache
	Out       int64 `json:"o,omitempty"`
	Read      int64 `json:"r,omitempty"` // from the cache
	Write     int64 `json:"w,omitempty"` // to the cache, for five minutes
	WriteHour int64 `json:"h,omitempty"`
	Reasoning int64 `json:"t,omitempty"` // part of Out
	Searches  int64 `json:"s,omitempty"` // of the web
	Fast      bool  `json:"f,omitempty"`
	Model     int   `json:"m,omitempty"` // index
	Day       int64 `json:"d,omitempty"` // on which it was written, as [dayOf] counts; 0 if unknown
}

// most sets each count to the larger of r's and o's.
func (r *Reply) most(o *Reply) {
	r.In, r.Out, r.Read = max(r.In, o.In), max(r.Out, o.Out), max(r.Read, o.Read)
	r.Write, r.WriteHour = max(r.Write, o.Write), max(r.WriteHour, o.WriteHour)
	r.Reasoning, r.Searches = max(r.Reasoning, o.Reasoning), max(r.Searches, o.Searches)
	r.Fast = r.Fast || o.Fast
	r.Day = max(r.Day, o.Day)
}

// dayOf is the number of the local day of a time, 0 of the zero time.
func dayOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	y, m, d := t.Local().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// Moment is when a line was written. What is no time is none: the line still counts.
type Moment struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (m *Moment) UnmarshalJSON(b []byte) error {
	if m.Time.UnmarshalJSON(b) != nil {
		m.Time = time.Time{}
	}
	return nil
}

// TextOf is the text of a message, whether it is nothing else or in some of its parts.
func TextOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(content, &parts) // another shape says nothing
	var all []string
	for _, p := range parts {
		if p.Text != "" && (p.Type == "" || p.Type == "text") {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// Line is what a line of a conversation's file says that counts.
type Line struct {
	ID    string // of the reply; "" without one
	Reply *Reply
	When  time.Time // the line was written
	Model string    // that made the reply, or is in use

	Total  *Reply // of the conversation so far, where the program counts itself
	Window int64  // of the model's context
	Filled int64  // tokens of the model's context in use

	Title, Mode string
	Named       bool // the user chose Title
	Event       record.Event
	Turn        Turn // of the sub-agent that wrote it
}

// Format is how one agent's program keeps conversations.
type Format struct {
	// Main finds the file of a session below the program's folder; "" if there is none. A near look
	// is only at the place where the file is expected: it is made often, until there is one.
	Main func(look Lookup, id string) string
	// Subagents returns the folder of the files of a session's sub-agents, with the pattern
	// of their names; nil: they have none.
	Subagents func(main, id string) (folder, pattern string)
	// Vendor is who makes the program's models, as the price list has it.
	Vendor string
	// Total is set if the program counts itself: the last count says all.
	Total bool
	// Parse reads a line. sub is set if a sub-agent wrote it.
	Parse func(text []byte, sub bool) (Line, bool)
}

// Claude returns the format of Claude Code's transcripts.
func Claude() *Format {
	return &Format{Vendor: "anthropic", Main: claudeMain, Subagents: claudeSubagents, Parse: claudeLine}
}

// Codex returns the format of Codex's rollouts.
func Codex() *Format {
	return &Format{Vendor: "openai", Main: codexMain, Total: true, Parse: codexLine}
}
