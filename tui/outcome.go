package tui

import (
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// About is what a request asks, on one line: of a permission the tool and what it would
// do, else the first question.
func About(r *ask.Request) string {
	d := r.Prompt
	if d == nil || d.Kind != ask.Permission {
		return plain.Bare(r.Questions[0].Question)
	}
	return strings.TrimSpace(plain.Line(d.Tool) + "  " + plain.Line(d.Subject()))
}

// Asker is who asks, and the name of the folder in which it works.
func Asker(r *ask.Request) string {
	s := plain.Line(r.Client())
	if cwd := r.Cwd(); cwd != "" {
		s += " " + plain.Line(filepath.Base(cwd))
	}
	return s
}
