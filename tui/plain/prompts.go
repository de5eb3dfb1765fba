package plain

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	text "github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// kind is what a request asks for.
func kind(r *ask.Request) string {
	if r.Prompt == nil {
		return "a question"
	}
	where := ""
	if r.InTerminal() {
		where = " in its terminal"
	}
	switch r.Prompt.Kind {
	case ask.Permission:
		if r.Prompt.Refused != nil {
			return "whether to let it try again"
		}
		return "for a permission" + where
	case ask.Plan:
		return "for consent to a plan" + where
	default:
		return "a question" + where
	}
}

// about is what a request asks, on one line.
func about(r *ask.Request) string {
	if p := r.Prompt; p != nil && p.Kind == ask.Permission {
		return p.Tool + " " + text.Exact(p.Subject())
	}
	return r.Questions[0].Question
}

// settled is how a request ended that was not answered here, behind a colon.
func settled(s *ask.Snapshot, id int) string {
	for _, r := range s.History {
		if end := r.End(); r.ID == id && (end == ask.EndElsewhere || end == ask.EndGone) {
			return ": " + r.Words("")
		}
	}
	return ""
}

// putPrompt writes what an agent wants permission for: its kind, the agent, the project,
// and all that would be done, before its options are numbered. Nothing is left out, for a
// number gives what stands here. It returns false for anything else.
func (t *teller) putPrompt(r *ask.Request) bool {
	if !r.Decides() {
		return false
	}
	p := r.Prompt
	who := r.Client()
	if p.Subagent != "" {
		who += ", sub-agent " + p.Subagent
	}
	if p.Kind == ask.Plan {
		t.say("Plan of %s%s:", who, where(r))
		if q := &r.Questions[0]; q.Description == "" {
			t.lines("  ", q.Question)
		}
		return true
	}
	if p.Refused != nil {
		t.say("%s%s was %s", who, where(r), p.Refused.Words())
		t.say("It may try again, and is judged again; this allows nothing:")
	} else {
		t.say("Permission for %s%s: %s wants to run", who, where(r), p.Tool)
	}
	if p.Path != "" && p.Path != p.Subject() {
		t.lines("  file: ", text.Exact(p.Path))
	}
	subject := p.Subject()
	if subject == "" && p.Diff == "" {
		subject = r.Questions[0].Question
	}
	t.lines("  | ", text.Exact(strings.TrimSuffix(subject, "\n")))
	if args := string(p.Args); args != subject { // they may change what it does
		t.lines("  with: ", text.Exact(args))
	}
	t.lines("  | ", text.Exact(strings.TrimSuffix(p.Diff, "\n")))
	t.lines("  the agent's own words: ", p.Words)
	for _, m := range slices.Concat(p.Marks, p.Notes) {
		t.say("  note: %s", m)
	}
	if p.Door == ask.Held {
		t.say("  its terminal shows nothing")
	}
	for _, doubt := range p.Doubts() {
		t.say("  %s: %s", doubt.Mark, doubt.Why)
	}
	return true
}

// effect is what option i of a permission does for longer than once, behind a colon.
func effect(r *ask.Request, i int) string {
	if r.Prompt == nil || i >= len(r.Prompt.Grants) || r.Prompt.Grants[i].Effect == "" {
		return ""
	}
	return ": " + text.Exact(r.Prompt.Grants[i].Effect)
}

// parseGrant reads the answer to a permission: the number of an option, and a note where
// the option takes one.
func parseGrant(r *ask.Request, l string) (ask.Result, error) {
	number, note, _ := strings.Cut(l, " ")
	out, err := parse(&r.Questions[0], number)
	if err != nil {
		return parse(&r.Questions[0], l) // an option's own words
	}
	note = strings.TrimSpace(note)
	g, ok := r.Granted([]ask.Result{out})
	switch {
	case ok && g.Note && note == "":
		return out, errors.New("type " + number + " and your message")
	case note != "" && (!ok || !g.Note):
		return out, errors.New("this option takes no note; type its number alone")
	}
	out.Note = note
	return out, nil
}
