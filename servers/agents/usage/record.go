package usage

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
)

// takeEvent takes in what a line of a file says of the conversation.
func (s *session) takeEvent(l *Line, at int64, of *tail) {
	e := &l.Event
	if e.When.IsZero() {
		e.When = l.When
	}
	parts := record.Edits
	if !of.Sub && at >= of.From {
		parts |= record.Words
		if e.Prompt != "" && !e.Repeat {
			s.Asked = at
			s.Tool, s.subject, s.call = "", "", "" // of the turn before
		}
		if e.Said != "" {
			s.Said = at
		}
	} else if s.seeks && e.Prompt != "" && !e.Repeat && !of.Sub {
		s.Asked = at
		s.record.Ask(e)
	}
	s.record.Take(e, parts)
	s.Changed = s.record.Changed()
	for _, c := range e.Calls {
		if at >= of.From {
			s.Tool, s.subject, s.call = c.Tool, c.Subject, c.ID
		}
	}
	for _, r := range e.Results {
		if r.Denied && r.Call == s.call { // it never ran
			s.Tool, s.subject, s.call = "", "", ""
		}
	}
}

// recall reads the words of a session again that was kept without them.
func (s *session) recall(root *os.Root) {
	if !s.kept || len(s.Files) == 0 {
		return
	}
	s.kept = false
	s.record.Resume(s.Changed)
	err := s.Files[0].again(root, s.Asked, s.Said, func(text []byte) {
		if l, ok := s.format.Parse(text, false); ok {
			if l.Event.When.IsZero() {
				l.Event.When = l.When
			}
			s.record.Take(&l.Event, record.Words)
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errReplaced) { // these are noticed when it is read on
		slog.Debug("read the end of a conversation again", "session", s.id, "error", err)
	}
}
