// Package record makes what a session shows of its conversation out of what its program
// recorded: what the user asked, what the agent said, which files it changed, and its steps.
package record

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Limits of what is kept of a session.
const (
	mostText    = 2 << 10 // bytes of a prompt and of a message
	mostRead    = 8 << 10 // bytes of these in which secrets are looked for
	mostSteps   = 40
	mostFiles   = 200
	mostDiffs   = 12       // files of which a diff is kept
	mostDiff    = 16 << 10 // bytes of one
	mostPending = 1000     // calls that may have written and have not ended
	mostOutcome = 60       // cells
)

// Event is what a program recorded at some time. What it says nothing of is zero.
type Event struct {
	When    time.Time
	Prompt  string // what the user sent
	ID      string // of Prompt, if it is recorded again as it grows
	New     string // path of a file that the next call makes, or the end of that path
	Repeat  bool   // Prompt repeats what may have been recorded before
	Said    string // a message of the agent
	Calls   []Call
	Results []Result
}

// Call is a call of a tool. One that is recorded again replaces what was known of it.
type Call struct {
	ID, Tool, Subject string
	Writes            bool // it may change files, which its result does not tell
	// Files are what it changes if it ends well, where its result does not tell. What a file that
	// is written as a whole has lost is not known, unless it is new.
	Files []snapshot.ChangedFile
}

// Result is the end of a call.
type Result struct {
	Call    string // its ID
	Failed  bool
	Denied  bool // it never ran
	Outcome string
	Files   []snapshot.ChangedFile // that it changed
	Took    time.Duration          // 0 if unknown
}

// Part is a part of what events say.
type Part uint8

// The parts of events.
const (
	Words Part = 1 << iota // what was asked, said, and done since
	Edits                  // what was changed
)

// Builder makes a session's record. The zero Builder is ready.
type Builder struct {
	Redact redact.Rules // by which secrets are removed

	prompt, said text
	id           string // of the prompt
	repeated     bool
	asked, spoke time.Time
	steps        []step
	changed      snapshot.Changed
	diffs        []fileDiff         // the last changed one last
	pending      map[string]pending // calls that may write
	fresh        []string           // ends of the paths of files that are about to be made
	folder       string
	made         *snapshot.Record // nil if something has changed since
}

// pending is what a call changes that has not ended.
type pending struct {
	writes bool // it may change more than files
	files  []snapshot.ChangedFile
}

// step is a step with what is not shown of it.
type step struct {
	snapshot.Step
	id      string
	counted bool // what it changed
	clean   bool // its secrets are removed
}

// text is a text whose secrets are removed once it is shown.
type text struct {
	words string
	clean bool
}

// fileDiff is how a file was changed.
type fileDiff struct {
	path  string
	words string
	clean bool
}

func newText(words string) text {
	return text{words: cut(strings.TrimSpace(words), mostRead)}
}

func (t *text) shown(by redact.Rules) string {
	if !t.clean {
		t.words, t.clean = cut(by.Text(t.words), mostText), true
	}
	return t.words
}

// Shown returns what the record of a session shows of a prompt.
func Shown(prompt string, by redact.Rules) string {
	t := newText(prompt)
	return t.shown(by)
}

// cut keeps the first bytes of a text, as whole runes. The memory of the rest is freed.
func cut(words string, most int) string {
	if len(words) <= most {
		return strings.ToValidUTF8(words, "�")
	}
	return strings.Clone(strings.ToValidUTF8(words[:most], "")) + "…"
}

// Resume begins with what was changed before.
func (b *Builder) Resume(changed snapshot.Changed) { b.changed, b.made = changed, nil }

// Skipped notes that some of what was recorded is not read, which may have changed more.
func (b *Builder) Skipped() {
	if !b.changed.Partial {
		b.changed.Partial, b.made = true, nil
	}
}

// Changed returns what was changed, with absolute paths.
func (b *Builder) Changed() snapshot.Changed { return b.changed }

// Ask notes what the user asked before what is known already.
func (b *Builder) Ask(e *Event) {
	b.prompt, b.id, b.asked, b.repeated, b.made = newText(e.Prompt), e.ID, e.When, false, nil
}

// Take takes in parts of an event.
func (b *Builder) Take(e *Event, parts Part) {
	if e.New != "" && len(b.fresh) < mostFiles {
		b.fresh = append(b.fresh, string(filepath.Separator)+e.New)
	}
	if e.Prompt == "" && e.Said == "" && len(e.Calls) == 0 && len(e.Results) == 0 {
		return
	}
	b.made = nil
	if parts&Words != 0 {
		b.take(e)
	}
	for _, c := range e.Calls {
		b.await(&c)
		if parts&Words != 0 {
			b.begin(c, e.When)
		}
	}
	for _, r := range e.Results {
		p := b.pending[r.Call]
		if delete(b.pending, r.Call); !r.Failed && !r.Denied && r.Files == nil {
			r.Files = p.files
		}
		if parts&Words != 0 && b.end(&r, e.When) {
			continue
		}
		if !r.Failed && !r.Denied {
			b.keepDiffs(r.Files)
		}
		if parts&Edits != 0 {
			b.change(&r, p.writes)
		}
	}
}

// await keeps what a call changes until it has ended.
func (b *Builder) await(c *Call) {
	p := pending{c.Writes, c.Files}
	for _, f := range c.Files {
		if !strings.HasPrefix(f.Diff, wholeNew) {
			continue
		}
		n := len(b.fresh)
		b.fresh = slices.DeleteFunc(b.fresh, func(end string) bool { return strings.HasSuffix(f.Path, end) })
		known := slices.ContainsFunc(b.changed.Files, func(o snapshot.ChangedFile) bool { return o.Path == f.Path })
		p.writes = p.writes || len(b.fresh) == n && !known
	}
	if c.ID == "" || len(b.pending) >= mostPending || !p.writes && p.files == nil {
		return
	}
	if b.pending == nil {
		b.pending = map[string]pending{}
	}
	b.pending[c.ID] = p
}

func (b *Builder) take(e *Event) {
	switch {
	case e.Prompt == "", e.Repeat && b.prompt.words != "" && !b.repeated:
	case e.ID != "" && e.ID == b.id:
		b.prompt = newText(e.Prompt)
	default:
		if !e.Repeat {
			b.steps = nil
		}
		b.prompt, b.id, b.asked, b.repeated = newText(e.Prompt), e.ID, e.When, e.Repeat
	}
	if e.Said != "" {
		b.said, b.spoke = newText(e.Said), e.When
	}
}

// begin adds a step, or has it say what is known now.
func (b *Builder) begin(c Call, when time.Time) {
	now := step{id: c.ID, Step: snapshot.Step{Tool: c.Tool, Subject: cut(c.Subject, mostText), Began: when, Running: true}}
	if i := b.find(c.ID); i >= 0 {
		if s := &b.steps[i]; s.Running {
			s.Tool, s.Subject, s.clean = now.Tool, now.Subject, false
		}
		return
	}
	if len(b.steps) == mostSteps {
		b.steps = slices.Delete(b.steps, 0, 1)
	}
	b.steps = append(b.steps, now)
}

func (b *Builder) find(id string) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(b.steps, func(s step) bool { return s.id == id })
}

// end ends a step. It reports whether what that changed is counted already.
func (b *Builder) end(r *Result, when time.Time) (counted bool) {
	i := b.find(r.Call)
	if i < 0 {
		return false
	}
	s := &b.steps[i]
	if counted = s.counted; !s.Running && (counted || len(r.Files) == 0) {
		return true
	}
	s.counted = len(r.Files) > 0
	s.Running, s.Failed, s.Took, s.clean = false, r.Failed || r.Denied, r.Took, false
	if s.Took == 0 && when.After(s.Began) && !s.Began.IsZero() {
		s.Took = when.Sub(s.Began)
	}
	switch s.Outcome = r.Outcome; {
	case r.Denied:
		s.Outcome = "denied"
	case s.Outcome == "" && !r.Failed:
		s.Outcome = Lines(r.Files)
	}
	return counted
}

// change counts what a call has changed.
func (b *Builder) change(r *Result, writes bool) {
	if r.Denied {
		return
	}
	b.changed.Partial = b.changed.Partial || writes
	if r.Failed {
		return
	}
	c := &b.changed
	for _, f := range r.Files {
		i := slices.IndexFunc(c.Files, func(o snapshot.ChangedFile) bool { return o.Path == f.Path })
		if i < 0 {
			if len(c.Files) == mostFiles {
				c.Added, c.Removed = c.Added+f.Added, c.Removed+f.Removed
				continue
			}
			i, c.Files = len(c.Files), append(c.Files, snapshot.ChangedFile{Path: f.Path, Runs: []int{0}})
		}
		to := &c.Files[i]
		if len(to.Runs) > 1 && strings.HasPrefix(f.Diff, wholeNew) { // written anew: nothing of what was there is left
			c.Partial = c.Partial || len(to.Runs) != 2 || to.Runs[0] != 0 // but of a file that is all the session's own
			c.Added, c.Removed = c.Added-to.Added, c.Removed-to.Removed
			to.Added, to.Removed, to.Runs = 0, 0, []int{0}
		}
		runs, added, removed, exact := net(to.Runs, f.Diff, f.Added, f.Removed)
		if n := len(to.Runs); !exact && n == 2 && to.Runs[0] == 0 { // all of it is the session's own, wherever in it the change is
			added, removed, exact = f.Added-f.Removed, 0, true
			runs = []int{0, to.Runs[1] + added}
		}
		if to.Runs == nil || !exact {
			runs, added, removed = nil, f.Added, f.Removed
		}
		to.Runs, to.Added, to.Removed = runs, to.Added+added, to.Removed+removed
		c.Added, c.Removed = c.Added+added, c.Removed+removed
		if runs != nil && to.Added == 0 && to.Removed == 0 { // made and removed again
			c.Files = slices.Delete(c.Files, i, i+1)
		}
	}
}

// keepDiffs keeps how files were changed, the last hunks of each.
func (b *Builder) keepDiffs(files []snapshot.ChangedFile) {
	for _, f := range files {
		if f.Diff == "" {
			continue
		}
		d := fileDiff{path: f.Path}
		if i := slices.IndexFunc(b.diffs, func(o fileDiff) bool { return o.path == f.Path }); i >= 0 {
			d.words = b.diffs[i].words
			b.diffs = slices.Delete(b.diffs, i, i+1)
		} else if len(b.diffs) == mostDiffs {
			b.diffs = slices.Delete(b.diffs, 0, 1)
		}
		if d.words += strings.TrimSuffix(f.Diff, "\n") + "\n"; len(d.words) > mostDiff {
			d.words = f.Diff // its beginning: a secret is known by how it begins
		}
		d.words = strings.Clone(cut(d.words, mostDiff))
		b.diffs = append(b.diffs, d)
	}
}

// diff returns how a file was changed, without secrets.
func (b *Builder) diff(path string) string {
	i := slices.IndexFunc(b.diffs, func(d fileDiff) bool { return d.path == path })
	if i < 0 {
		return ""
	}
	d := &b.diffs[i]
	if !d.clean {
		d.words, d.clean = b.Redact.Text(d.words), true
	}
	return d.words
}

// Rest ends the steps that have begun before a time at which nothing was at work any more.
func (b *Builder) Rest(since time.Time) {
	for i := range b.steps {
		if s := &b.steps[i]; s.Running && s.Began.Before(since) {
			s.Running, b.made = false, nil
		}
	}
}

// Record returns the record of a session that works in a folder; nil if there is none. It is
// another one whenever something has changed, and never changes itself.
func (b *Builder) Record(folder string) *snapshot.Record {
	if b.prompt.words == "" && b.said.words == "" && len(b.steps) == 0 && len(b.changed.Files) == 0 && !b.changed.Partial {
		return nil
	}
	if b.made != nil && b.folder == folder {
		return b.made
	}
	r := &snapshot.Record{Prompt: b.prompt.shown(b.Redact), Asked: b.asked, Said: b.said.shown(b.Redact), SaidAt: b.spoke, Changed: b.changed}
	r.Changed.Files = slices.Clone(b.changed.Files)
	for i := range r.Changed.Files {
		f := &r.Changed.Files[i]
		f.Path, f.Diff = Within(folder, f.Path), b.diff(f.Path)
	}
	for i := range b.steps {
		s := &b.steps[i]
		if !s.clean {
			s.Subject, s.Outcome, s.clean = b.Redact.Text(s.Subject), short(b.Redact.Text(s.Outcome)), true
		}
		r.Steps = append(r.Steps, s.Step)
		r.Steps[i].Subject = Within(folder, s.Subject)
	}
	b.made, b.folder = r, folder
	return r
}

// short is the first line of a text, or the beginning of that.
func short(words string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	return sanitize.Cut(sanitize.Line(line), mostOutcome)
}

// Within names a path as seen from a folder, if it lies there.
func Within(folder, path string) string {
	if folder == "" || !filepath.IsAbs(path) || strings.ContainsAny(path, "\n ") {
		return path
	}
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// Lines writes how many lines files have gained and lost: "+22 −9"; "" for none.
func Lines(files []snapshot.ChangedFile) string {
	added, removed := 0, 0
	for _, f := range files {
		added += f.Added
		removed += f.Removed
	}
	switch {
	case added > 0 && removed > 0:
		return fmt.Sprintf("+%d −%d", added, removed)
	case added > 0:
		return fmt.Sprintf("+%d", added)
	case removed > 0:
		return fmt.Sprintf("−%d", removed)
	}
	return ""
}
