package approvals

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// How many answers rules give. Beyond them the user is asked.
const (
	ruledInMinute = 30
	ruledInSecond = 5
	ruledDenials  = 3                     // of one rule in a row
	ruledWithin   = 20 * time.Millisecond // or it is tried again
	ruledTries    = 3                     // or the user is asked
)

// settledFor is how long links and folders have not changed.
const settledFor = 2 * time.Second

// Answering is the part of [ask.Queue] that takes the answers of rules.
type Answering interface {
	Queue
	OpenAnswered(r ask.Request, by ask.ByRule, results []ask.Result, still func() bool) (*ask.Call, error)
	Pending() *ask.Snapshot
	Resume(key, owner string, peer ask.Peer) (*ask.Call, error)
}

// Ruled returns a queue in which the user's rules answer what they cover, once the user has turned them on. All
// else is asked. Only a permission to run a command is answered, and only once; what may be something else than
// it seems is never allowed, nor is what may has not.
func Ruled(q Answering, b *book.Store, home string, may book.Allowed) *ByRules {
	return &ByRules{Answering: q, book: b, home: home, may: may, settled: settledFor, sessions: map[string]*ruledSession{}}
}

// ByRules is a queue in which the user's rules answer. Make one with [Ruled].
type ByRules struct {
	Answering
	book    *book.Store
	home    string
	may     book.Allowed
	settled time.Duration // how long links and folders have not changed

	mu       sync.Mutex
	told     string // what the user was last told of the book
	sessions map[string]*ruledSession
}

// ruledSession is what rules have done for a session.
type ruledSession struct {
	allowed []time.Time // in the last minute
	denied  string      // the rule that denied last
	row     int         // how often, with nothing else between
}

// Open asks the user, or has a rule of theirs answer.
func (r *ByRules) Open(req ask.Request) (*ask.Call, error) {
	p := req.Prompt
	if p == nil || p.Kind != ask.Permission || p.Refused != nil || p.Command == "" && p.Does == nil {
		return r.Answering.Open(req)
	}
	now := r.book.Now()
	if !now.Enabled {
		return r.Answering.Open(req)
	}
	r.tell(&now)
	d := r.decide(&now, &req)
	if why := r.tired(&req, &d); why != "" {
		d = book.Decision{Why: why}
	}
	if d.Verdict == book.Allow || d.Verdict == book.Deny {
		results := answerOf(&req, &d)
		still := func() bool {
			now := r.book.Now()
			again := r.decide(&now, &req)
			return again.Verdict == d.Verdict && again.Rule.ID == d.Rule.ID && slices.EqualFunc(results, answerOf(&req, &again), sameResult)
		}
		if call, err := r.OpenAnswered(req, ask.ByRule{ID: d.Rule.ID, Say: d.Says()}, results, still); err == nil {
			r.count(&req, &d)
			return call, nil
		}
	}
	r.count(&req, &book.Decision{})
	if d.Rule != nil || d.Why != "" && d.Why != book.NoRule {
		asked := *p
		asked.Notes = append(slices.Clip(p.Notes), "asked: "+d.Why)
		asked.Diff += d.Changed.Diff()
		req.Prompt = &asked
	}
	return r.Answering.Open(req)
}

func sameResult(a, b ask.Result) bool {
	return slices.Equal(a.SelectedOptions, b.SelectedOptions) && a.Note == b.Note
}

// answerOf is the option that does what a rule says, once, and what its agent is told.
func answerOf(req *ask.Request, d *book.Decision) []ask.Result {
	allow := d.Verdict == book.Allow
	for i, g := range req.Prompt.Grants {
		if g.Allow != allow || g.Scope != ask.Once || g.Stop || g.Note == allow || len(req.Questions) != 1 || i >= len(req.Questions[0].Options) {
			continue
		}
		r := ask.Result{ID: req.Questions[0].ID, SelectedOptions: []string{req.Questions[0].Options[i].Label}}
		if !allow {
			r.Note = cmp.Or(d.Rule.Tell, "A rule of the user does not allow this: "+d.Rule.Words())
		}
		return []ask.Result{r}
	}
	return nil
}

// Look tells the user, once, if the book is not as they have accepted it.
func (r *ByRules) Look() {
	if now := r.book.Now(); now.Enabled {
		r.tell(&now)
	}
}

// tell says once that the book is not as the user has accepted it.
func (r *ByRules) tell(now *book.Standing) {
	say := ""
	switch {
	case now.Fault != "":
		say = "The book of rules is off: " + now.Fault + ". Nothing is allowed by it; what it denied stays denied"
	case now.Edited:
		say = "The book of rules was changed outside this screen. Nothing is allowed by it until you accept it: H, then v"
	}
	r.mu.Lock()
	news := say != r.told
	r.told = say
	r.mu.Unlock()
	if news && say != "" {
		r.Notice(say)
	}
}

// decide returns what the rules say of a request. Without a verdict it is asked. What takes too long is decided
// again: it may be the machine that was busy.
func (r *ByRules) decide(now *book.Standing, req *ask.Request) book.Decision {
	for range ruledTries {
		began := time.Now()
		if d := r.try(now, req); d.Verdict != book.Allow || time.Since(began) <= ruledWithin {
			return d
		}
	}
	return book.Decision{Why: "it took too long to decide"}
}

func (r *ByRules) try(now *book.Standing, req *ask.Request) book.Decision {
	p := req.Prompt
	if p.Unconfirmed || p.Misread != "" || p.Door != ask.Shared && p.Door != ask.Here || p.Agent == "" || p.Session == "" {
		return book.Decision{Why: book.NoRule}
	}
	in, fresh := now.Place(req, r.home), false
	link := in.Link
	in.Link = func(path string) (string, bool) {
		to, is := link(path)
		if info, err := os.Lstat(filepath.FromSlash(path)); is && (err != nil || r.justChanged(file.VersionOf(info))) {
			fresh = true
		}
		return to, is
	}
	q := book.Request{Now: time.Now()}
	q.Asks(p, in)
	if q.Edits != nil { // which files there are now, not when it was asked
		for i := range q.Edits.Files {
			f := &q.Edits.Files[i]
			_, err := os.Lstat(filepath.FromSlash(f.Path))
			f.Make = err != nil
		}
	}
	d := now.Decide(q)
	bar := ""
	switch {
	case d.Verdict != book.Allow:
		return d
	case fresh:
		bar = "a link in it has just changed"
	default:
		bar = r.bars(req, &q)
	}
	if bar != "" {
		d = book.Decision{Why: bar}
	}
	return d
}

// justChanged goes by the time that nobody can set as well.
func (r *ByRules) justChanged(v file.Version) bool {
	return time.Since(time.Unix(0, max(v.Modified, v.Changed))).Abs() < r.settled
}

// bars says why no rule may allow now what a prompt is about, which is q.
func (r *ByRules) bars(req *ask.Request, q *book.Request) string {
	p := req.Prompt
	switch {
	case p.Door == ask.Here && !req.Verified():
		return "it is not certain which agent it is"
	case p.Door == ask.Here:
		return ""
	case p.Runs == nil, !r.may.Has(p.Agent, q.Kind()):
		return "its agent has it asked, or is not one whose prompts rules allow"
	}
	reading := q.Reading
	if reading == nil {
		reading = &rules.Reading{}
	}
	for _, it := range r.Pending().Items {
		if o := it.Request.Prompt; o != nil && o.Agent == p.Agent && o.Session == p.Session {
			return "its session asks something else as well"
		}
	}
	for _, h := range r.Pending().History { // what moves to another folder, and may not have ended
		if o := h.Request.Prompt; o != nil && o.Agent == p.Agent && o.Session == p.Session && o.ID != p.ID &&
			strings.Contains(o.Command, "cd") && (h.Delivery == ask.Sent || time.Since(h.Ended) < r.settled) {
			return "its session may change to another folder"
		}
	}
	return p.Runs(slices.Compact(slices.Sorted(slices.Values(reading.Programs))))
}

// tired says why rules answer no more for now.
func (r *ByRules) tired(req *ask.Request, d *book.Decision) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.sessions[req.Prompt.Agent+" "+req.Prompt.Session]
	switch {
	case all == nil:
	case d.Verdict == book.Deny && all.denied == d.Rule.ID && all.row >= ruledDenials:
		return "rule " + d.Rule.ID + " has denied three times in a row"
	case d.Verdict == book.Allow:
		now, n := time.Now(), len(all.allowed)
		if n >= ruledInMinute && now.Sub(all.allowed[n-ruledInMinute]) < time.Minute || n >= ruledInSecond && now.Sub(all.allowed[n-ruledInSecond]) < time.Second {
			return "rules have allowed much at once"
		}
	}
	return ""
}

// count notes an answer of a rule, or that the user is asked.
func (r *ByRules) count(req *ask.Request, d *book.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const most = 256
	if len(r.sessions) >= most {
		clear(r.sessions)
	}
	key := req.Prompt.Agent + " " + req.Prompt.Session
	all := r.sessions[key]
	if all == nil {
		all = &ruledSession{}
		r.sessions[key] = all
	}
	if d.Verdict == book.Deny {
		if all.denied != d.Rule.ID {
			all.row = 0
		}
		all.denied, all.row = d.Rule.ID, all.row+1
		return
	}
	all.denied, all.row = "", 0
	if d.Verdict != book.Allow {
		return
	}
	all.allowed = append(all.allowed, time.Now())
	all.allowed = all.allowed[max(0, len(all.allowed)-ruledInMinute):]
}
