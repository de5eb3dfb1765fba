package plain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// readFor is how long a question has to be there before a line can be meant for
// it: what comes sooner was typed, or pasted, before it could be read.
const readFor = 800 * time.Millisecond

// open is the request that is being answered, a question at a time.
type open struct {
	item    ask.Item
	at      int
	results []ask.Result
	put     time.Time // when the question was written
	// instead says that it took the place of one that was withdrawn: a line may
	// have been begun for that one.
	instead bool
	form    *filling // of the question, where it is one
}

func (o *open) question() *ask.Question { return &o.item.Request.Questions[o.at] }

// questions tells of new requests and puts the first question of the first one.
func (t *teller) questions() {
	if t.opts.Questions == nil {
		return
	}
	snap := t.opts.Questions.Pending()
	withdrawn := false
	if t.current != nil {
		if it, ok := snap.Item(t.current.item.ID); !ok || !it.Waits() && it.State != ask.Snoozed {
			t.say("question %d is no longer open%s", t.current.item.ID, settled(snap, t.current.item.ID))
			t.current, withdrawn = nil, true
		}
	}
	for _, it := range snap.Items {
		if t.told[it.ID] || !it.Waits() {
			continue
		}
		t.told[it.ID] = true
		n := kind(&it.Request)
		if k := len(it.Request.Questions); k > 1 {
			n = humanize.Count(k, "question")
		}
		t.say("%s asks %s, number %d%s", who(&it.Request), n, it.ID, where(&it.Request))
		if t.opts.In != nil && t.opts.Bell != nil {
			t.opts.Bell()
		}
	}
	if t.current == nil {
		t.next(snap)
		if t.current != nil {
			t.current.instead = withdrawn
		}
	}
}

// who is the asker, and why that is not sure.
func who(r *ask.Request) string {
	if d := r.Doubt(); d != "" && d != r.Client() {
		return r.Client() + " (" + d + ")"
	}
	return r.Client()
}

func where(r *ask.Request) string {
	if r.Cwd() == "" {
		return ""
	}
	return ", folder " + r.Cwd()
}

// next puts the first request that waits.
func (t *teller) next(snap *ask.Snapshot) {
	for _, it := range snap.Items {
		if it.Waits() && it.State != ask.Snoozed && it.State != ask.Sending && !it.Request.InTerminal() {
			t.current = &open{item: it}
			t.put()
			return
		}
	}
}

// put writes the question that is next.
func (t *teller) put() {
	o := t.current
	q := o.question()
	where := ""
	if n := len(o.item.Request.Questions); n > 1 {
		where = fmt.Sprintf(" %d of %d", o.at+1, n)
	}
	o.put = time.Now()
	if !t.putPrompt(&o.item.Request) {
		t.say("Question%s: %s", where, q.Question)
	}
	if o.form == nil {
		o.form = newFilling(q)
	}
	if o.form != nil {
		t.putField(o.form)
		return
	}
	t.lines("  ", q.Description)
	for i, opt := range q.Options {
		line := fmt.Sprintf("  %d. %s", i+1, opt.Label)
		if slices.Contains(q.Recommended, i) && !ask.MarkedRecommended(opt.Label) {
			line += " (recommended)"
		}
		if opt.Description != "" {
			line += ": " + opt.Description
		}
		line += effect(&o.item.Request, i)
		t.say("%s", line)
		t.lines("     | ", opt.Preview)
	}
	if o.item.Request.Decides() && t.opts.In != nil && !t.opts.Watch {
		t.say("Type a number, followed by a note where the option takes one; /help for more.")
		return
	}
	t.say("%s", how(q, t.opts))
}

// lines writes a text of several lines.
func (t *teller) lines(before, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		t.say("%s%s", before, line)
	}
}

// how says how a question is answered.
func how(q *ask.Question, o Options) string {
	switch {
	case o.Watch:
		return "This deck is watch-only; answer elsewhere."
	case o.In == nil:
		return "This deck has no input; answer elsewhere."
	}
	var ways []string
	switch {
	case q.Kind == ask.Confirm:
		ways = append(ways, "y", "n", "a number")
	case len(q.Options) > 0 && q.Multi:
		ways = append(ways, "numbers such as 1 3")
	case len(q.Options) > 0:
		ways = append(ways, "a number")
	}
	if takesWords(q) {
		ways = append(ways, "your own words")
	}
	last := len(ways) - 1
	if last > 0 {
		ways = []string{strings.Join(ways[:last], ", "), ways[last]}
	}
	return "Type " + strings.Join(ways, " or ") + "; /help for more."
}

// line takes a line that was typed: a command with a slash, or an answer.
func (t *teller) line(l string) {
	l = strings.TrimSpace(l)
	word, rest, _ := strings.Cut(l, " ")
	switch word {
	case "":
		if t.current != nil {
			t.current.instead = false
			t.put()
		}
	case "/help":
		t.help()
	case "/quit":
		t.quit = true
	case "/list":
		t.list()
	case "/skip", "/decline", "/later", "/back", "/clarify", "/text":
		t.command(word, strings.TrimSpace(rest))
	default:
		if name, found := strings.CutPrefix(word, "/"); found && !strings.ContainsAny(name, "/.") {
			t.say("unknown command %s; /help lists them, /text %s answers with these words", word, l)
			return
		}
		t.answer(l)
	}
}

// meant reports whether a line can be about the question that is open, and says so
// where it cannot.
func (t *teller) meant() bool {
	o := t.current
	switch {
	case o == nil:
		t.say("no open question; type /help for the commands")
	case t.opts.Watch:
		t.say("this deck only watches")
	case time.Since(o.put) < readFor:
		o.put = time.Now() // what comes in a stream was not typed after reading
		t.say("not accepted: the question just appeared. Type it again")
	case o.instead:
		o.instead = false
		t.say("not accepted: the previous question was withdrawn, and this one is different: %s Type it again to answer this one", o.question().Question)
	default:
		return true
	}
	return false
}

func (t *teller) help() {
	for _, s := range []string{
		"a number chooses an option; any other text is your own answer",
		"an empty line repeats the question",
		"/skip leaves the question unanswered",
		"/clarify TEXT asks back instead of answering",
		"/text WORDS answers with these words, even if they are a number or begin with a slash",
		"/back goes to the previous question",
		"/later snoozes the request; /later 30 snoozes it for 30 minutes",
		"/decline REASON declines the whole request",
		"/list lists open questions",
		"/quit closes the deck",
	} {
		t.say("%s", s)
	}
}

func (t *teller) list() {
	if t.opts.Questions == nil {
		t.say("no open questions")
		return
	}
	n := 0
	for _, it := range t.opts.Questions.Pending().Items {
		if it.Waits() {
			n++
			t.say("number %d from %s: %s", it.ID, it.Request.Client(), about(&it.Request))
		}
	}
	if n == 0 {
		t.say("no open questions")
	}
}

// command acts on the request that is being answered.
func (t *teller) command(word, rest string) {
	if !t.meant() {
		return
	}
	o := t.current
	if f := o.form; f != nil && t.formCommand(f, word, rest) {
		return
	}
	if o.item.Request.Decides() && word != "/later" {
		t.say("type the number of an option, or /later")
		return
	}
	switch word {
	case "/skip":
		t.take(ask.Result{ID: o.question().ID, Skipped: true})
	case "/clarify":
		if rest == "" {
			t.say("type what you want to know after /clarify")
			return
		}
		t.take(ask.Result{ID: o.question().ID, Clarify: rest})
	case "/text":
		t.text(rest)
	case "/back":
		if o.at > 0 {
			o.at--
			o.results = o.results[:o.at]
		}
		t.put()
	case "/later":
		t.later(o.item.ID, rest)
	case "/decline":
		t.end(t.opts.Questions.Decline(o.item.ID, rest), "declined")
	}
}

// later puts a question off, for so many minutes if they are given.
func (t *teller) later(id int, minutes string) {
	n, err := strconv.Atoi(cmp.Or(minutes, "0"))
	if err != nil || n < 0 || n > 24*60 {
		t.say("type /later, or /later with a number of minutes")
		return
	}
	t.end(t.opts.Questions.Snooze(id, time.Duration(n)*time.Minute), "snoozed")
}

// text answers with words as they are, numbers too.
func (t *teller) text(words string) {
	switch q := t.current.question(); {
	case words == "":
		t.say("type your answer after /text")
	case !takesWords(q):
		t.say("type a number from 1 to %d", len(q.Options))
	default:
		t.take(ask.Result{ID: q.ID, SelectedOptions: []string{}, CustomInput: words})
	}
}

// takesWords reports whether q can be answered in the user's own words.
func takesWords(q *ask.Question) bool { return q.HasOther() || len(q.Options) == 0 }

// answer reads an answer to the question that is open.
func (t *teller) answer(l string) {
	if !t.meant() {
		return
	}
	if f := t.current.form; f != nil {
		t.fill(f, l)
		return
	}
	r, err := parse(t.current.question(), l)
	if t.current.item.Request.Decides() {
		r, err = parseGrant(&t.current.item.Request, l)
	}
	if err != nil {
		t.say("%s", err)
		return
	}
	t.take(r)
}

// take keeps the answer to one question, and sends all after the last.
func (t *teller) take(r ask.Result) {
	o := t.current
	o.results = append(o.results[:o.at:o.at], r)
	if o.at+1 < len(o.item.Request.Questions) {
		o.at++
		t.put()
		return
	}
	done := "sent"
	if it, ok := t.opts.Questions.Pending().Item(o.item.ID); ok && it.Absent != ask.Present {
		done = "saved; the agent gets it if it asks again"
	}
	err := t.opts.Questions.Answer(o.item.ID, o.results)
	if err != nil && !errors.Is(err, ask.ErrGone) {
		t.say("not sent: %v", err)
		o.at, o.results = 0, nil
		t.put()
		return
	}
	t.end(err, done)
}

// end closes the request that was being answered, and puts the next.
func (t *teller) end(err error, done string) {
	if err != nil {
		t.say("%v", err)
	} else {
		t.say("%s", done)
	}
	t.current = nil
	t.questions()
}

// parse reads what was typed as an answer to q: numbers of options, y or n, an
// option's own words, or the user's.
func parse(q *ask.Question, l string) (ask.Result, error) {
	r := ask.Result{ID: q.ID, SelectedOptions: []string{}}
	if q.Kind == ask.Confirm && len(q.Options) >= 2 {
		switch strings.ToLower(l) {
		case "y", "yes":
			l = "1"
		case "n", "no":
			l = "2"
		}
	}
	if nums, ok := numbers(l); ok && len(q.Options) > 0 {
		if len(nums) > 1 && !q.Multi {
			return r, errors.New("choose one; type one number")
		}
		for _, n := range nums {
			if n < 1 || n > len(q.Options) {
				return r, fmt.Errorf("no option %d; type a number from 1 to %d", n, len(q.Options))
			}
			r.SelectedOptions = append(r.SelectedOptions, q.Options[n-1].Label)
		}
		return r, nil
	}
	for _, o := range q.Options {
		if strings.EqualFold(strings.TrimSpace(o.Label), l) {
			r.SelectedOptions = []string{o.Label}
			return r, nil
		}
	}
	if !takesWords(q) {
		return r, fmt.Errorf("type a number from 1 to %d", len(q.Options))
	}
	r.CustomInput = l
	return r, nil
}

// numbers reads "2", "2.", "1 3" or "1,3": ascending, each once.
func numbers(l string) ([]int, bool) {
	var out []int
	for _, f := range strings.FieldsFunc(l, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(strings.TrimRight(f, ".)"))
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), len(out) > 0
}
