package ask

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Prompt is what a request has beside its questions if an agent's own program makes it: a
// permission, a question of its own, a plan, a form of one of its servers. What it says
// comes from the agent and is hostile text until it is cleaned for the screen.
type Prompt struct {
	Kind PromptKind `json:"kind"`
	// ID identifies the prompt within the session, as the agent's program does.
	ID       string `json:"id"`
	Agent    string `json:"agent"`              // ID in the table of clients: "claude"
	Session  string `json:"session"`            // the agent's ID of its session
	Subagent string `json:"subagent,omitempty"` // which one asks; "" for the session itself
	Mode     string `json:"mode,omitempty"`     // of permissions, in the agent's word

	Tool    string          `json:"tool,omitempty"`    // that wants to run, as the agent names it
	Words   string          `json:"words,omitempty"`   // the agent's own description of what it wants
	Command string          `json:"command,omitempty"` // whole, of a tool that runs one
	Begins  string          `json:"begins,omitempty"`  // how the command begins of which Command is the size and hash, in the history
	Path    string          `json:"path,omitempty"`    // of the file that a tool edits
	Diff    string          `json:"diff,omitempty"`    // unified, of that edit, or of what a command runs since a rule was kept for it
	Args    json.RawMessage `json:"args,omitempty"`    // of any other tool
	Shell   string          `json:"shell,omitempty"`   // that reads the command: "sh" or "zsh"; "" is bash
	Dir     string          `json:"dir,omitempty"`     // in which the command runs; "": that of the session
	Marks   []string        `json:"marks,omitempty"`   // what the deck noticed: "outside the project"
	Notes   []string        `json:"notes,omitempty"`   // what else the command may do: "deletes build"

	Door   Door    `json:"door"`
	Grants []Grant `json:"grants,omitempty"` // of a permission or a plan: what each option of its one question does
	// Unconfirmed is set if nothing but the asker's word says that the agent asks this.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Misread says how the prompt is not as its agent's program was known to write it; "" if it is.
	// It can only be answered in its terminal.
	Misread string `json:"misread,omitempty"`
	// Runs says, of the programs that the command names, why something else may run, or be decided, by such a name; ""
	// if nothing else is. Without it, no rule allows the command.
	Runs func(programs []string) string `json:"-"`
	// Does is what a tool is about to do that runs no command, for rules; nil: it is not known.
	Does *Does `json:"-"`
	// Unwatched is set while nothing tells whether the prompt was answered in its terminal.
	Unwatched bool `json:"unwatched,omitempty"`
	// Refused is set of a call that the agent's program has refused already. The user can let the agent try it
	// again, which allows nothing.
	Refused *Refusal `json:"refused,omitempty"`
}

// Does is what a tool is about to do: to change files, read a page, or call a tool of an MCP server.
type Does struct {
	Files   []ChangedFile `json:"files,omitempty"`
	Partial bool          `json:"partial,omitempty"` // it changes others, too, which are not known
	Page    string        `json:"page,omitempty"`    // its address

	Server string          `json:"server,omitempty"`
	Tool   string          `json:"tool,omitempty"` // by its own name
	Args   json.RawMessage `json:"-"`
}

// ChangedFile is a file that a tool is about to change.
type ChangedFile struct {
	Path   string `json:"path"`
	Delete bool   `json:"delete,omitempty"`
	Make   bool   `json:"make,omitempty"` // there was no such file when it asked, if that is known
}

// Doubt is a reason to look twice at a prompt.
type Doubt struct {
	Mark string // a word or two
	Why  string // the reason, as a clause
}

// Doubts returns what is not sure about the prompt.
func (p *Prompt) Doubts() []Doubt {
	var all []Doubt
	if p.Unconfirmed {
		all = append(all, Doubt{"unconfirmed", "the agent's records do not show that it asks this"})
	}
	if p.Unwatched {
		all = append(all, Doubt{"may be settled", "nothing tells when its terminal answers"})
	}
	return all
}

// PromptKind is what an agent's program waits for.
type PromptKind string

// The kinds of prompts.
const (
	Permission  PromptKind = "permission"
	OwnQuestion PromptKind = "question"
	Plan        PromptKind = "plan"
	ServerForm  PromptKind = "form"
)

// Door is who can answer a prompt.
type Door string

// A Shared prompt can be answered in the agent's terminal as well; the first answer
// counts. Of a Held prompt the terminal shows nothing until the deck lets it go. One that
// is only InTerminal can be shown here but not answered. One that is only Here waits in the deck: its agent is told
// to come back for the answer, and gets it once.
const (
	Shared     Door = "shared"
	Held       Door = "held"
	InTerminal Door = "terminal"
	Here       Door = "here"
)

// Scope is how long a permission lasts.
type Scope string

// The scopes of permissions.
const (
	Once       Scope = "once"
	ForSession Scope = "session"
	Always     Scope = "always"
)

// Grant is what an option of a permission or of a plan does.
type Grant struct {
	Allow  bool   `json:"allow"`
	Scope  Scope  `json:"scope"`
	Effect string `json:"effect,omitempty"` // exact, of one that lasts: the rule, the folder, where it is written
	Note   bool   `json:"note,omitempty"`   // of a denial: the user's text goes with it
	Stop   bool   `json:"stop,omitempty"`   // of a denial: it ends the agent's turn
	Again  bool   `json:"again,omitempty"`  // of what was refused already: the agent may try it again
}

// permission returns the prompt of a request for permission, or for consent to a plan, or
// nil.
func (r *Request) permission() *Prompt {
	if p := r.Prompt; p != nil && (p.Kind == Permission || p.Kind == Plan) {
		return p
	}
	return nil
}

// here reports whether the request is for a permission that its agent comes back for.
func (r *Request) here() bool { return r.permission() != nil && r.Prompt.Door == Here }

// Decides reports whether one option of its one question answers the request at once, and
// nothing else does: a permission, or consent to a plan.
func (r *Request) Decides() bool {
	return r.permission() != nil && len(r.Questions) == 1 && len(r.Questions[0].Options) > 0
}

// Lasts reports whether the option allows something for longer than once.
func (g Grant) Lasts() bool { return g.Allow && g.Scope != Once }

// Offers reports whether an option can be given. What may not be the agent's own question
// is not allowed for longer than once.
func (p *Prompt) Offers(option int) bool {
	return option >= len(p.Grants) || !p.Unconfirmed || !p.Grants[option].Lasts()
}

// Subject returns what a permission is about, whole and as the agent wrote it: the
// command, the file, or the arguments.
func (p *Prompt) Subject() string {
	if p.Begins != "" {
		return p.Begins + "…\n" + p.Command
	}
	return cmp.Or(p.Command, p.Path, string(p.Args))
}

// Brief is the subject where the folder in which the agent works is named beside it: a file in that, by its path
// from there.
func (r *Request) Brief() string {
	p, in := r.Prompt, strings.TrimSuffix(r.Cwd(), "/")
	if rest, ok := strings.CutPrefix(p.Path, in+"/"); ok && in != "" && p.Command == "" && !slices.Contains(strings.Split(rest, "/"), "..") {
		return rest
	}
	return p.Subject()
}

// InTerminal reports whether only the agent's terminal can answer the request.
func (r *Request) InTerminal() bool { return r.Prompt != nil && r.Prompt.Door == InTerminal }

// Granted returns what an answer to a permission does: the grant of the chosen option. It
// returns false for anything else, and while nothing is chosen.
func (r *Request) Granted(results []Result) (Grant, bool) {
	p := r.permission()
	if p == nil || len(results) != 1 || len(results[0].SelectedOptions) != 1 || len(r.Questions) != 1 {
		return Grant{}, false
	}
	i := slices.IndexFunc(r.Questions[0].Options, func(o Option) bool { return o.Label == results[0].SelectedOptions[0] })
	if i < 0 || i >= len(p.Grants) {
		return Grant{}, false
	}
	return p.Grants[i], true
}

// subject identifies what a permission is about: the next request for the same, of the
// same session, has the same.
func (r *Request) subject() string {
	p := r.Prompt
	return digest("subject", p.Agent, p.Session, p.Tool, p.Command, p.Path, p.Args, p.Diff)
}

// keepNote keeps what the user noted on a permission, for when the same is asked again: the
// agent may not have got it, or not have heeded it. The decision is not kept.
func (q *Queue) keepNote(it *item) {
	notes := it.draft.Answers[0].Notes
	if len(notes) == 0 {
		return
	}
	print := it.req.subject()
	q.drafts = slices.DeleteFunc(q.drafts, func(d savedDraft) bool { return d.Print == print })
	q.drafts = append(q.drafts, savedDraft{Print: print, Draft: Draft{Answers: []AnswerDraft{{Notes: notes}}}, At: time.Now(), Note: true})
}

// NextDrafts are the drafts of sessions' next prompts. They are kept with those of answers.
type NextDrafts struct{ Queue *Queue }

// NextDraft returns what the user has typed as the next prompt of an agent's session, and the
// session has not taken; "" if there is nothing.
func (n NextDrafts) NextDraft(agent, session string) string {
	q := n.Queue
	q.mu.Lock()
	defer q.mu.Unlock()
	print := digest("next", agent, session)
	for _, d := range q.drafts {
		if d.Print == print {
			return d.Text
		}
	}
	return ""
}

// SetNextDraft keeps it, as long as the draft of an answer; "" forgets it.
func (n NextDrafts) SetNextDraft(agent, session, text string) {
	q := n.Queue
	q.mu.Lock()
	defer q.mu.Unlock()
	print := digest("next", agent, session)
	q.drafts = slices.DeleteFunc(q.drafts, func(d savedDraft) bool { return d.Print == print })
	if text != "" {
		q.drafts = append(q.drafts, savedDraft{Print: print, Text: text, At: time.Now()})
	}
	q.Save()
}

// Settled tells the queue that the prompt was answered elsewhere, by the agent's own record,
// and how: "answered in its terminal: allowed". It leaves at once, also from the screen; only
// a question with a draft stays. The user's answer, if there is one, did not count.
func (c *Call) Settled(how string) { c.q.settled(c, Elsewhere, how) }

// Gone tells the queue that nobody asks any more, and why if that is known: nothing shows
// that the prompt was answered. It leaves like one that is settled.
func (c *Call) Gone(why string) { c.q.settled(c, Withdrawn, why) }

func (q *Queue) settled(c *Call, d Delivery, how string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(c.id)
	if it == nil {
		if q.became(c.id, d, how) {
			q.changed(true)
		}
		return
	}
	if !slices.Contains(it.calls, c) {
		return
	}
	it.end(Reply{}, ErrWithdrawn)
	q.history.record(it, d, Reply{}, how)
	if it.req.permission() == nil && it.typed() {
		it.absent, it.why, it.left = Gone, how, time.Now()
		q.changed(true)
		return
	}
	q.keepDraft(it)
	q.remove(it)
	q.changed(true)
}

// Doubted marks the prompt as one for which there is nothing but the asker's word.
func (c *Call) Doubted() { c.mark(func(p *Prompt) { p.Unconfirmed = true }) }

// Watched says whether anything tells when the prompt is answered in its terminal.
func (c *Call) Watched(is bool) { c.mark(func(p *Prompt) { p.Unwatched = !is }) }

// mark changes what is known of the prompt.
func (c *Call) mark(set func(*Prompt)) {
	c.with(func(it *item) {
		if it.req.Prompt != nil {
			p := *it.req.Prompt // snapshots share the old one
			set(&p)
			it.req.Prompt = &p
			c.q.changed(true)
		}
	})
}

// LetGo releases a held prompt that the user is neither looking at nor has entered
// anything for, and reports whether nothing holds it any more.
func (c *Call) LetGo() bool {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(c.id)
	if it == nil || it.req.Prompt == nil || it.req.Prompt.Door != Held {
		return true
	}
	if it.id == q.onScreen || it.state == Sending || !it.draft.Empty() {
		return false
	}
	q.release(it)
	return true
}

// Released returns a channel that is closed when the user lets a held prompt go to its
// terminal.
func (c *Call) Released() <-chan struct{} { return c.released }

// Release lets a held prompt go: its agent's terminal then asks as well.
func (q *Queue) Release(id int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(id)
	if it == nil || it.req.Prompt == nil || it.req.Prompt.Door != Held {
		return ErrGone
	}
	q.release(it)
	return nil
}

func (q *Queue) release(it *item) {
	p := *it.req.Prompt // snapshots share the old one
	p.Door = InTerminal
	it.req.Prompt = &p
	for _, c := range it.calls {
		c.release.Do(func() { close(c.released) })
	}
	q.changed(true)
}
