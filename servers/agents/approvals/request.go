package approvals

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// ErrShape is why a prompt cannot be shown that is not as its agent's program was known to
// write it.
var ErrShape = errors.New("its format is unknown")

// Request makes a request of a prompt of a session, without questions.
func Request(s *snapshot.Session, p *ask.Prompt) ask.Request {
	p.Agent, p.Session, p.Mode, p.Unconfirmed = s.Agent, s.ID, s.Mode, !s.Verified
	r := ask.Request{
		From: ask.From{Client: s.Agent, ClientVersion: s.Version, Agent: p.Subagent, Session: s.ID, Cwd: s.Folder, Title: s.Title},
		Peer: ask.Peer{PID: s.PID, Cwd: s.Folder, Key: s.Agent + " " + s.ID, Agent: s.PID}, Prompt: p,
	}
	if s.Verified {
		r.Peer.Program = s.Agent
	}
	return r
}

// OwnQuestions completes an agent's own questions, of which the texts, the options, and
// whether there may be several or other answers are known. It refuses those whose answers
// could not be told apart.
func OwnQuestions(all []ask.Question) ([]ask.Question, error) {
	if len(all) == 0 || len(all) > ask.MaxQuestions {
		return nil, ErrShape
	}
	for i := range all {
		q := &all[i]
		if q.Question == "" || !Answerable(q.Options) {
			return nil, ErrShape
		}
		q.ID, q.Kind, q.Required = cmp.Or(q.ID, "q"+strconv.Itoa(i+1)), ask.Choice, true
		if len(q.Options) == 0 {
			q.Kind, q.AllowOther, q.Multi = ask.Text, false, false
		}
	}
	return all, nil
}

// Offered reports whether all that was selected was offered.
func Offered(all []ask.Question, results []ask.Result) bool {
	for i, r := range results {
		for _, label := range r.SelectedOptions {
			if i >= len(all) || !slices.ContainsFunc(all[i].Options, func(o ask.Option) bool { return o.Label == label }) {
				return false
			}
		}
	}
	return true
}

// ServerForm makes the questions of a form that an agent's MCP server asks to have filled
// in, or of a page that it asks to have opened.
func ServerForm(server, mode, message, page string, schema json.RawMessage) ([]ask.Question, error) {
	if mode != "url" {
		return ask.FormQuestions(message, schema)
	}
	u, err := url.Parse(page)
	if err != nil || u.Host == "" {
		return nil, ErrShape
	}
	return []ask.Question{{
		ID: "url", Question: cmp.Or(message, "Open a page?"), Kind: ask.Choice, Required: true,
		Description: "The server " + server + " asks you to open a page of " + u.Host + ":\n\n    " + u.String() + "\n\nmcpdeck does not open it.",
		Options:     []ask.Option{{Label: "Yes", Description: "I open this page myself"}, {Label: "No"}},
	}}, nil
}

// MarkPath notices that an edit is of a file outside the project.
func MarkPath(p *ask.Prompt, project string) {
	if filepath.IsAbs(p.Path) && !file.Within(project, p.Path) {
		p.Marks = append(p.Marks, Outside)
	}
}
