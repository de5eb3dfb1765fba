package book

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Past is what the user has answered before.
type Past struct {
	Request
	Allowed bool
	Cut     bool // not all of it was kept
}

// Proposal is a rule that the user may keep, and what it would have done.
type Proposal struct {
	Rule Rule
	Simulated
}

// Simulated is what rules would have done with what the user has answered before.
type Simulated struct {
	Answered, Asked, Denials int    // of all that were asked: those that rules answer then, and those that the user denied
	Unjudged                 int    // beside those, since not all of them was kept
	Against                  string // what the user denied and a rule would have allowed; "" if none
	Beside                   string // the rule without which it would not have; "" if none
}

// Says says it of a rule, in a sentence.
func (s *Simulated) Says() string {
	if s.Asked < leastPast {
		return "Too few prompts are kept to say what it would have answered."
	}
	say := "It would have answered " + strconv.Itoa(s.Answered) + " of the last " + humanize.Count(s.Asked, "prompt")
	if s.Beside != "" {
		say += " together with " + s.Beside
	}
	if s.Denials > 0 {
		say += ", none of the " + strconv.Itoa(s.Denials) + " that you denied"
	}
	if s.Unjudged > 0 {
		say += "; not kept whole and so not judged: " + strconv.Itoa(s.Unjudged)
	}
	return say + "."
}

const (
	leastPast    = 3
	lasts        = 30 // days of a rule that runs code, reaches the network, deletes or writes elsewhere
	mostParts    = 2  // for which a rule is proposed
	mostExact    = 400
	mostProposed = 4
	mostLearned  = 400 // what was allowed that rules are suggested from: more takes seconds
)

// Simulate returns what rules would have done with the past, beside those of the book.
func (b *Book) Simulate(add []Rule, past []Past) (s Simulated) {
	with := &Book{Rules: slices.Concat(add, b.Rules), Programs: b.Programs}
	for i := range past {
		p := &past[i]
		answers := !(p.Cut && p.Allowed) && b.Decide(p.Request).Verdict != Allow && with.Decide(p.Request).Verdict == Allow
		if answers && !p.Allowed && s.Against == "" {
			s.Against = p.Text()
		}
		if p.Cut {
			s.Unjudged++
			continue
		}
		s.Asked++
		if !p.Allowed {
			s.Denials++
		}
		if answers {
			s.Answered++
		}
	}
	return s
}

// Propose returns at most four rules that would have answered a request, the narrowest first, each as it would be kept.
// One that would have allowed what the user has denied is not among them, but among the refused.
func (b *Book) Propose(q *Request, past []Past) (all, refused []Proposal) {
	if b.Decide(*q).Verdict != "" {
		return nil, nil // there is a rule about it
	}
	for _, r := range b.learned(q, past) {
		p := Proposal{Rule: r, Simulated: b.Simulate([]Rule{r}, past)}
		if p.Against != "" {
			refused = append(refused, p)
		} else if len(all) < mostProposed {
			all = append(all, p)
		}
	}
	return all, refused
}

// Suggest returns the rules that together would have answered the most of the past, the best first. What was allowed
// in several projects, or to several agents, is proposed for all projects, or for these agents, too. Two rules that
// answer only together follow each other.
func (b *Book) Suggest(past []Past, most int) (all []Proposal) {
	recent := recentOf(past)
	candidates := b.candidates(recent)
	with := &Book{Rules: slices.Clone(b.Rules), Programs: b.Programs}
	for len(all) < most {
		var best []Rule
		var does Simulated
		for _, set := range candidates {
			if len(all)+len(set) > most {
				continue
			}
			set = with.named(set)
			s := with.Simulate(set, recent)
			if s.Against == "" && s.Answered*max(len(best), 1) > does.Answered*len(set) {
				best, does = set, s
			}
		}
		if best == nil {
			break
		}
		does = with.Simulate(best, past)
		for i, r := range best {
			p := Proposal{Rule: r, Simulated: does}
			if len(best) > 1 {
				p.Beside = best[1-i].ID
			}
			all = append(all, p)
		}
		with.Rules = append(with.Rules, best...)
	}
	return all
}

// recentOf is the newest of what was allowed, and all that was denied.
func recentOf(past []Past) (out []Past) {
	left := mostLearned
	for i := range slices.Backward(past) {
		if past[i].Allowed {
			if left--; left < 0 {
				continue
			}
		}
		out = append(out, past[i])
	}
	slices.Reverse(out)
	return out
}

// Reads is the rule that allows agents what only reads inside the project, by an ID that no other has.
func (b *Book) Reads(agents []string) Rule { return OnlyReads(b.free("m"), agents...) }

// named gives rules IDs that are free.
func (b *Book) named(set []Rule) []Rule {
	with := &Book{Rules: slices.Clone(b.Rules)}
	for _, r := range set {
		r.ID = with.free(idOf(&r))
		with.Rules = append(with.Rules, r)
	}
	return with.Rules[len(b.Rules):]
}

// candidates are sets of one or two rules, each of which may answer something of the past.
func (b *Book) candidates(past []Past) (all [][]Rule) {
	seen := map[string]bool{}
	add := func(set ...Rule) {
		key := ""
		for i := range set {
			set[i].Say = set[i].Words()
			key += set[i].Say + "\n"
		}
		if !seen[key] {
			seen[key] = true
			all = append(all, set)
		}
	}
	for i := range past {
		p := &past[i]
		if !p.Allowed || p.Cut || p.Kind() == "" || b.Decide(p.Request).Verdict != "" {
			continue
		}
		learned := slices.DeleteFunc(b.learned(&p.Request, past), func(r Rule) bool {
			return r.Command != nil && r.Command.Exact != "" || r.isWhole(&p.Request)
		})
		for _, wide := range []bool{false, true} {
			var parts []Rule
			for _, r := range learned {
				if wide {
					r = wider(r, past)
				}
				add(r)
				if r.Command != nil && len(r.Command.Words) > 0 {
					parts = append(parts, r)
				}
			}
			if len(parts) == 2 {
				add(parts...)
			}
		}
	}
	return all
}

// wider is a rule for all agents to which the user has allowed the same, and if that was in several projects for all,
// with the options of all that.
func wider(r Rule, past []Past) Rule {
	if r.Command == nil {
		return r.anywhere(past)
	}
	c := *r.Command
	c.Options = slices.Clone(c.Options)
	agents, projects := slices.Clone(r.Agent), map[string]bool{}
	for i := range past {
		p := &past[i]
		if !p.Allowed || p.Reading == nil || !c.meant(&p.Request) {
			continue
		}
		c.widen(&p.Request, p.Reading)
		projects[p.Project] = true
		if !slices.Contains(agents, p.Agent) {
			agents = append(agents, p.Agent)
		}
	}
	slices.Sort(agents)
	slices.Sort(c.Options)
	r.Agent, r.Command = agents, &c
	if len(projects) > 1 {
		r.Project, c.Pin, c.stands = "", "", "" // a name stands for something else in each
	}
	return r
}

// meant reports whether a command has a part that a rule is about, whatever its options.
func (c *Command) meant(q *Request) bool {
	return slices.ContainsFunc(q.Reading.Segments, func(s rules.Segment) bool {
		if len(c.Only) > 0 {
			return len(s.Facts) > 0 && c.coversPart(q, &s)
		}
		return len(s.Words) >= len(c.Words) && c.begun(s.Words) && !slices.ContainsFunc(s.Facts, func(f rules.Fact) bool { return !c.permits(q, f) })
	})
}

// learned are the rules that may be made of a command: exactly it, its parts by their words, and all that only reads;
// or of what else is asked, by [toolRules].
func (b *Book) learned(q *Request, past []Past) (all []Rule) {
	r := q.Reading
	if q.Project == "" || q.Agent == "" || r != nil && (r.Downloads || r.Class() == "never") {
		return nil
	}
	project := q.Project
	if q.Home != "" && below(q.Home, project) {
		project = "~" + strings.TrimPrefix(project, q.Home)
	}
	add := func(one Rule) {
		one.Verdict, one.Agent, one.Project = Allow, []string{q.Agent}, project
		one.ID = b.free(idOf(&one))
		if one.ends() {
			y, m, d := q.Now.Date()
			one.Until = time.Date(y, m, d+lasts, 0, 0, 0, 0, time.UTC)
		}
		one.Say = one.Words()
		if one.check() == nil && !slices.ContainsFunc(append(slices.Clone(b.Rules), all...), func(o Rule) bool { return o.Words() == one.Say && !one.renews(&o) }) {
			all = append(all, one)
		}
	}
	if r == nil {
		for _, one := range toolRules(q) {
			one.Verdict = Allow
			if (&Book{Rules: []Rule{one}}).Decide(*q).Verdict == Allow { // else it may do what no rule allows
				add(one)
			}
		}
		return all
	}
	if r.Class() != "starter" && len(r.Text) <= mostExact && !runsFile(r) && below(q.Project, r.Cwd) {
		c := &Command{Exact: r.Text, In: strings.TrimPrefix(strings.TrimPrefix(r.Cwd, q.Project), "/"), May: r.Effects()}
		c.pins(q, r.Segments)
		add(Rule{Command: c})
	}
	n := 0
	for i := range r.Segments {
		if c := partOf(&r.Segments[i], q, past); c != nil && n < mostParts {
			n++
			add(Rule{Command: c})
		}
	}
	if r.Class() == "starter" || n > 0 {
		add(Rule{Command: &Command{Only: []rules.Effect{rules.Reads}}})
	}
	return all
}

func idOf(r *Rule) string {
	if r.Command != nil && len(r.Command.Only) > 0 {
		return "m"
	}
	return "k"
}

// ends reports whether a rule that is proposed ends by itself.
func (r *Rule) ends() bool {
	switch {
	case r.Edit != nil:
		return false
	case r.Command != nil:
		return slices.ContainsFunc(r.Command.May, func(e rules.Effect) bool { return e != rules.Reads && e != rules.WriteIn && e != rules.ReadOut })
	}
	return true // nobody knows what a page or a tool is the next time
}

// free is an ID that no rule has.
func (b *Book) free(letter string) string {
	for n := 1; ; n++ {
		id := letter + strconv.Itoa(n)
		if !slices.ContainsFunc(b.Rules, func(r Rule) bool { return r.ID == id }) {
			return id
		}
	}
}

// byName reports whether the code that a part runs is that of a program, or what a program runs by its name, and no file.
func byName(s *rules.Segment, f rules.Fact) bool {
	return f.At == "" && (f.What == s.Name || f.What == s.Runs)
}

// runsFile reports whether a file is run by its path: it may be another the next time.
func runsFile(r *rules.Reading) bool {
	for _, s := range r.Segments {
		for _, f := range s.Facts {
			if f.Effect == rules.Code && !byName(&s, f) {
				return true
			}
		}
	}
	return len(r.Rest) > 0
}

var (
	plainWord = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9:_-]*$`)
	onceWord  = regexp.MustCompile(`^[0-9a-f]{7,}$`) // such as the name of a commit
)

// runners are programs that run what their next word says.
func runners() []string {
	return []string{
		"npm run", "pnpm run", "yarn run", "bun run", "uv run", "poetry run", "pipenv run", "rye run", "pdm run", "hatch run",
		"bundle exec", "stack exec", "cabal exec", "tox exec", "npx", "bunx", "make", "just",
	}
}

// filesOnly are programs that take only files after their name, so that the next word is no part of what they do.
func filesOnly() []string {
	return strings.Fields("pytest mypy pyright tsc yamllint ansible-lint shellcheck flake8 cat head tail wc sort rm mkdir cp mv touch curl wget")
}

// unoffered are programs for which no rule by words is proposed: they run what they are told to.
func unoffered() []string {
	return strings.Fields("bash sh dash zsh ksh env xargs eval source . python python3 node deno ruby perl php sudo doas ssh find awk git npm pnpm yarn npx bunx docker kubectl")
}

// partOf is the rule by words for a part of a command, with the options that the user has allowed it with; nil if none
// is proposed.
func partOf(s *rules.Segment, q *Request, past []Past) *Command {
	if s.Name == "" || len(s.Words) == 0 || strings.Contains(s.Words[0], "/") {
		return nil
	}
	c := &Command{}
	worst := rules.Reads
	for _, f := range s.Facts {
		switch {
		case f.Effect == rules.Code && !byName(s, f):
			return nil // a file that is run
		case f.Effect == rules.Net && !strings.ContainsAny(f.What, ".:"):
			return nil // nobody can tell which host
		case f.Effect == rules.Net && !slices.Contains(c.Hosts, f.What):
			c.Hosts = append(c.Hosts, f.What)
		case slices.Contains(elsewhere(), f.Effect) && f.At == "":
			return nil
		case slices.Contains(elsewhere(), f.Effect) && !slices.Contains(c.Paths, path.Dir(f.At)):
			c.Paths = append(c.Paths, path.Dir(f.At))
		}
		if !slices.Contains(c.May, f.Effect) {
			c.May = append(c.May, f.Effect)
		}
		if f.Effect != rules.Reads {
			worst = f.Effect
		}
	}
	if worst == rules.Reads || len(c.Paths) > 0 { // a folder outside, or what is deleted, is no habit
		return nil
	}
	if c.Words = wordsOf(s); c.Words == nil || !c.begun(s.Words) {
		return nil
	}
	for _, w := range s.Words[1:] {
		c.option(w)
	}
	for i := range past {
		if p := &past[i]; p.Allowed && p.Reading != nil && p.Agent == q.Agent && p.Project == q.Project {
			c.widen(q, p.Reading)
		}
	}
	slices.Sort(c.Options)
	if !c.calls(s) {
		return nil
	}
	c.pins(q, []rules.Segment{*s})
	return c
}

func (c *Command) begun(words []string) bool {
	return words[0] == c.Words[0] && c.begins(words) == sure
}

func (c *Command) option(w string) {
	if name, _, _ := strings.Cut(w, "="); len(name) > 1 && name[0] == '-' && name != "--" && !slices.Contains(c.Options, name) {
		c.Options = append(c.Options, name)
	}
}

// widen takes the options of what the user has allowed with the same words and the same effects.
func (c *Command) widen(q *Request, r *rules.Reading) {
	if len(c.Only) > 0 {
		return
	}
	for i := range r.Segments {
		s := &r.Segments[i]
		if len(s.Words) < len(c.Words) || !c.begun(s.Words) || slices.ContainsFunc(s.Facts, func(f rules.Fact) bool { return !c.permits(q, f) }) {
			continue
		}
		for _, w := range s.Words[1:] {
			c.option(w)
		}
	}
}

// wordsOf are the words that say what a part does: its name in the table of programs, and the next word where that is
// no file. Nil: it is not told by them.
func wordsOf(s *rules.Segment) []string {
	name := strings.Fields(s.Name)
	if slices.Contains(unoffered(), s.Name) && s.Name != "npx" {
		return nil
	}
	if s.Runs != "" {
		if first, _, _ := strings.Cut(s.Runs, " "); slices.Contains(slices.Concat(runners(), eachWord(), unoffered()), first) || slices.Contains(runners(), s.Runs) {
			return nil // it does what its next word says
		}
		within := wordsOf(&rules.Segment{Name: s.Runs, Words: s.Told})
		if within == nil {
			return nil
		}
		return append(name, within...)
	}
	next := ""
	for _, w := range s.Words[len(name):] {
		if w == "" || w[0] != '-' {
			next = w
			break
		}
	}
	runs := slices.Contains(runners(), s.Name)
	switch {
	case len(name) > 1 && !runs, slices.Contains(filesOnly(), s.Name):
		return name
	case plainWord.MatchString(next) && !onceWord.MatchString(next):
		return append(name, next)
	case runs || next != "":
		return nil
	}
	return name
}
