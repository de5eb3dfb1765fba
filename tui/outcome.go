package tui

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// About is what a request asks, on one line: of a permission the tool and what it would
// do, else the first question.
func About(r *ask.Request) string {
	d := r.Prompt
	if d == nil || d.Kind != ask.Permission {
		return sanitize.Bare(r.Questions[0].Question)
	}
	return strings.TrimSpace(sanitize.Line(d.Tool) + "  " + sanitize.Line(r.Brief()))
}

// Asker is who asks, and the name of the folder in which it works.
func Asker(r *ask.Request) string {
	s := sanitize.Line(r.Client())
	if project := r.Project(); project != "" {
		s += " " + sanitize.Line(project)
	}
	return s
}

// Twin tells a prompt from the others that ask for exactly the same in the same session, as
// sub-agents do: "twin 1 of 2"; "" where there is no other.
func Twin(s *ask.Snapshot, it *ask.Item) string {
	d := it.Request.Prompt
	if d == nil || d.Kind != ask.Permission {
		return ""
	}
	at, n := 0, 0
	for i := range s.Items {
		o := s.Items[i].Request.Prompt
		if o == nil || !s.Items[i].Waits() || o.Kind != d.Kind || o.Agent != d.Agent || o.Session != d.Session || o.Tool != d.Tool || o.Subject() != d.Subject() || o.Diff != d.Diff {
			continue
		}
		if n++; s.Items[i].ID == it.ID {
			at = n
		}
	}
	if n < 2 || at == 0 {
		return ""
	}
	return fmt.Sprintf("twin %d of %d", at, n)
}
