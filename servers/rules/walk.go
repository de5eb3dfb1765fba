package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is read; beyond them a command is opaque.
const (
	mostText     = 16 << 10
	mostBrackets = 200
	mostDepth    = 32 // of the syntax
	mostShells   = 6  // one in the text of another
	mostSegments = 64
	mostMarks    = 1024 // that end a command
	mostWork     = 4096 // statements, words and paths judged, since functions are walked where they are called
)

// reader walks a command. Each construct that may run or may not, or in a process of its own, is walked
// as if it ran; what it would change of the folder and of variables is then not known.
type reader struct {
	Place
	out *Reading
	at  int // of the segment that facts are of; -1: none

	cwds    []string // where it may be
	visited []string // where it went since the statement began
	moved   bool     // it has left the folder in which it began

	vars    map[string][]value // whose values are known
	sets    map[string]int     // how often the text may set a variable
	guarded []string           // variables that are set only if a list gets that far
	funcs   map[string][]body
	calling []string
	links   map[string]bool // names that the command makes links of

	stdin  bool // fed by a pipe or a file
	net    bool // what feeds it comes from the network
	quiet  bool // segments are known
	depth  int
	shells int
	budget int
}

// body is that of a function.
type body struct {
	stmt  *syntax.Stmt
	maybe bool // it is defined only if a branch runs
}

// tooMuch ends a reading that costs more than a decision may.
type tooMuch struct{}

func (r *reader) spend(n int) {
	if r.budget -= n; r.budget < 0 {
		panic(tooMuch{})
	}
}

// fact notes what the present segment may do.
func (r *reader) fact(e Effect, what string) { r.factAt(e, what, "") }

func (r *reader) factAt(e Effect, what, at string) {
	to := &r.out.Rest
	if r.at >= 0 {
		to = &r.out.Segments[r.at].Facts
	}
	if f := (Fact{e, what, at}); !slices.Contains(*to, f) {
		*to = append(*to, f)
	}
}

func (r *reader) has(e Effect, from int) bool {
	for _, s := range r.out.Segments[from:] {
		if slices.ContainsFunc(s.Facts, func(f Fact) bool { return f.Effect == e }) {
			return true
		}
	}
	return false
}

func (r *reader) stmts(all []*syntax.Stmt) {
	for _, s := range all {
		before, seen := r.cwds, r.visited
		r.visited = nil
		r.stmt(s)
		if r.visited != nil { // a cd that failed is followed by the next statement all the same
			r.cwds = union(before, r.visited)
		}
		r.visited = append(seen, r.visited...)
		r.forget()
	}
}

// forget drops the variables that a list sets only if it gets that far.
func (r *reader) forget() {
	for _, name := range r.guarded {
		delete(r.vars, name)
	}
	r.guarded = nil
}

func (r *reader) stmt(s *syntax.Stmt) {
	r.spend(1)
	if r.depth > mostDepth {
		r.fact(Opaque, "a command that is too deep")
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	if s.Coprocess || s.Disown {
		r.fact(Opaque, "a coprocess")
	}
	at, in, net, before := r.at, r.stdin, r.net, r.cwds
	if !r.quiet {
		r.at = -1
	}
	own := len(r.out.Rest)
	for _, d := range s.Redirs {
		r.redirect(d)
	}
	defer r.attach(s, own, len(r.out.Rest), len(r.out.Segments))
	if s.Background {
		r.apart(func() { r.command(s.Cmd) })
	} else {
		r.command(s.Cmd)
	}
	if s.Negated { // what follows by && does so if it failed
		r.cwds = union(before, r.cwds)
	}
	r.at, r.stdin, r.net = at, in, net
}

// attach gives what the redirections of a simple command do, Rest[from:to], to its segment, the next after n.
func (r *reader) attach(s *syntax.Stmt, from, to, n int) {
	if _, simple := s.Cmd.(*syntax.CallExpr); !simple || from == to || n == len(r.out.Segments) {
		return
	}
	of := &r.out.Segments[n]
	for _, f := range r.out.Rest[from:to] {
		if !slices.Contains(of.Facts, f) {
			of.Facts = append(of.Facts, f)
		}
	}
	r.out.Rest = slices.Delete(r.out.Rest, from, to)
}

var descriptor = regexp.MustCompile(`^(\d+-?|-)$`)

func (r *reader) redirect(d *syntax.Redirect) {
	if d.N != nil && strings.HasPrefix(d.N.Value, "{") {
		r.fact(Opaque, "a descriptor in a variable")
	}
	if d.Hdoc != nil {
		r.word(d.Hdoc)
	}
	values := r.word(d.Word)
	switch d.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		r.stdin = true
		return
	case syntax.RdrIn:
		r.stdin = true
	default:
	}
	for _, v := range values {
		switch d.Op {
		case syntax.DplIn, syntax.DplOut:
			if strings.HasPrefix(v.text, "-") && v.text != "-" { // a shell closes the descriptor, and runs the rest
				r.fact(Opaque, "what follows >&-")
			}
			if v.unknown || !descriptor.MatchString(v.text) || r.Shell == "zsh" && len(v.text) > 1 && strings.HasSuffix(v.text, "-") { // 1- is a file for zsh
				r.file(v, 'w')
			}
		case syntax.RdrIn:
			r.file(v, 'r')
		default:
			r.file(v, 'w')
		}
	}
}

// apart walks what runs in a process of its own.
func (r *reader) apart(run func()) {
	cwds, visited, vars, funcs := r.cwds, r.visited, maps.Clone(r.vars), maps.Clone(r.funcs)
	run()
	r.cwds, r.visited, r.vars, r.funcs = cwds, visited, vars, funcs
}

// perhaps walks what may run or may not, here.
func (r *reader) perhaps(run func()) {
	before, n := r.cwds, map[string]int{}
	for name, bodies := range r.funcs {
		n[name] = len(bodies)
	}
	run()
	r.cwds = union(before, r.cwds)
	for name, bodies := range r.funcs {
		for i := n[name]; i < len(bodies); i++ {
			bodies[i].maybe = true
		}
	}
}

// branch walks a part of a command that may run or may not; what it sets is not known after it.
func (r *reader) branch(all []*syntax.Stmt) {
	vars := maps.Clone(r.vars)
	r.perhaps(func() { r.stmts(all) })
	r.vars = vars
}

// loop walks what may run any number of times.
func (r *reader) loop(all ...[]*syntax.Stmt) {
	for _, body := range all {
		for _, s := range body {
			syntax.Walk(s, func(x syntax.Node) bool {
				if c, ok := x.(*syntax.CallExpr); ok && slices.ContainsFunc(called(c), r.moves) {
					r.lose()
				}
				return true
			})
		}
	}
	for _, body := range all {
		r.branch(body)
	}
}

// moves reports whether a word may be the name of what changes the folder.
func (r *reader) moves(word string) bool {
	return slices.Contains(moves, word) || slices.Contains(runners, word) || len(r.funcs[word]) > 0 && r.sets["/cd"]+r.sets["*"] > 0
}

func (r *reader) command(n syntax.Command) {
	switch n := n.(type) {
	case nil:
	case *syntax.CallExpr:
		r.call(n)
	case *syntax.BinaryCmd:
		r.list(n)
	case *syntax.Block:
		r.stmts(n.Stmts)
	case *syntax.Subshell:
		r.apart(func() { r.stmts(n.Stmts) })
	case *syntax.IfClause:
		for i := n; i != nil; i = i.Else {
			r.branch(i.Cond)
			r.branch(i.Then)
		}
	case *syntax.WhileClause:
		r.loop(n.Cond, n.Do)
	case *syntax.ForClause:
		r.forClause(n)
	case *syntax.CaseClause:
		r.word(n.Word)
		for _, i := range n.Items {
			for _, p := range i.Patterns {
				r.word(p)
			}
			r.branch(i.Stmts)
		}
	case *syntax.FuncDecl:
		if n.Name == nil {
			r.fact(Opaque, "a function without a name")
			return
		}
		if _, pipe := n.Body.Cmd.(*syntax.BinaryCmd); pipe { // of which bash takes only the first part for the body
			r.fact(Opaque, "a function in a pipe")
		}
		r.apart(func() { r.stmt(n.Body) })
		r.funcs[n.Name.Value] = append(slices.Clone(r.funcs[n.Name.Value]), body{stmt: n.Body})
	case *syntax.TimeClause:
		if n.Stmt != nil {
			r.stmt(n.Stmt)
		}
	case *syntax.DeclClause:
		for _, a := range n.Args {
			if a.Name == nil && a.Value != nil && !slices.Contains([]string{"-x", "-r", "-g", "-gx"}, a.Value.Lit()) {
				r.fact(Opaque, n.Variant.Value+" with an option")
			}
			r.assign(a, false)
		}
		if !slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Name != nil }) {
			r.fact(Secret, "the environment")
		}
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		r.inner(n)
		r.arithmetic(n)
	default:
		r.fact(Opaque, "a syntax that is not known")
	}
}

// list walks a pipe, or two commands of which the second may run.
func (r *reader) list(n *syntax.BinaryCmd) {
	before, vars := r.cwds, map[string][]value{}
	switch n.Op {
	case syntax.Pipe, syntax.PipeAll:
		from, in, net := len(r.out.Segments), r.stdin, r.net
		if _, program := n.Y.Cmd.(*syntax.TimeClause); program { // of that name, with options of its own
			r.fact(Opaque, "time in a pipe")
		}
		r.apart(func() { r.stmt(n.X) })
		r.stdin, r.net = true, r.net || r.has(Net, from)
		if r.Shell == "zsh" { // runs the last of a pipe itself
			r.stmt(n.Y)
		} else {
			r.apart(func() { r.stmt(n.Y) })
		}
		r.stdin, r.net = in, net
	case syntax.AndStmt:
		r.stmt(n.X)
		maps.Copy(vars, r.vars)
		at := r.cwds
		r.perhaps(func() { r.stmt(n.Y); at = r.cwds })
		r.cwds = at // where what follows runs
		for name := range r.vars {
			if _, before := vars[name]; !before {
				r.guarded = append(r.guarded, name)
			}
		}
	default:
		r.stmt(n.X)
		r.forget()
		r.cwds = union(before, r.visited)
		maps.Copy(vars, r.vars)
		r.perhaps(func() { r.stmt(n.Y) })
		r.vars, r.cwds = vars, union(before, r.visited)
	}
}

func (r *reader) forClause(n *syntax.ForClause) {
	switch l := n.Loop.(type) {
	case *syntax.WordIter:
		var all []value
		for _, w := range l.Items {
			all = append(all, r.word(w)...)
		}
		vars := maps.Clone(r.vars)
		r.allowed(l.Name.Value)
		r.set(l.Name.Value, all)
		r.loop(n.Do)
		r.vars = vars
		return
	case *syntax.CStyleLoop:
		r.inner(l)
		r.arithmetic(l)
	default:
		r.fact(Opaque, "a loop that is not known")
	}
	r.loop(n.Do)
}

// call walks a simple command.
func (r *reader) call(n *syntax.CallExpr) {
	r.spend(len(n.Assigns) + len(n.Args))
	for _, a := range n.Assigns {
		r.assign(a, len(n.Args) == 0)
	}
	if len(n.Args) == 0 {
		return
	}
	const most = 16 // combinations of what its words may be
	words := [][]value{nil}
	for _, w := range n.Args {
		values, next := r.word(w), [][]value{}
		if slices.ContainsFunc(values, func(v value) bool { return changes(w, v) }) {
			r.fact(Opaque, "a builtin named when it runs")
		}
		if len(values)*len(words) > most {
			values = []value{{unknown: true, many: true}}
		}
		for _, before := range words {
			for _, v := range values {
				if len(values) > 1 {
					before = slices.Clone(before)
				}
				next = append(next, append(before, v))
			}
		}
		words = next
	}
	quiet := r.quiet
	for i, w := range words {
		r.quiet = quiet || i > 0
		if from := len(r.out.Segments); i == 0 {
			r.run(w)
			if len(words) > 1 {
				open(r.out.Segments[from:], words)
			}
		} else {
			r.apart(func() { r.run(w) })
		}
	}
	r.quiet = quiet
}

// open takes out of the words of segments what is another in some of the ways in which a command may run: that is only
// known when it runs.
func open(segments []Segment, ways [][]value) {
	var differ []string
	for i, w := range ways[0] {
		if slices.ContainsFunc(ways[1:], func(o []value) bool { return i >= len(o) || o[i].text != w.text }) {
			differ = append(differ, w.text)
		}
	}
	for i := range segments {
		s, found := &segments[i], false
		for j, w := range s.Words {
			if slices.Contains(differ, w) {
				s.Words[j], found = "", true
			}
		}
		for j, w := range s.Told {
			if slices.Contains(differ, w) {
				s.Told[j] = ""
			}
		}
		if !found || slices.ContainsFunc(ways[1:], func(o []value) bool { return len(o) != len(ways[0]) }) {
			s.Words, s.Name = []string{""}, ""
		}
	}
}

// segment begins a segment, and returns what ends it.
func (r *reader) segment(words []value) func() {
	at := r.at
	if !r.quiet {
		if len(r.out.Segments) == mostSegments {
			r.fact(Opaque, "more than 64 commands")
		} else if len(r.out.Segments) < mostSegments {
			r.out.Segments = append(r.out.Segments, Segment{Text: line(words), Words: known(words), In: only(r.cwds)})
			r.at = len(r.out.Segments) - 1
		}
	} else {
		for i := range r.out.Segments { // one of them runs again, maybe in another folder
			r.out.Segments[i].In = ""
		}
	}
	return func() { r.at = at }
}

// only is the folder that is certain; "" if there may be several.
func only(cwds []string) string {
	if len(cwds) != 1 || within(anywhere, cwds[0]) {
		return ""
	}
	return cwds[0]
}

// known are the texts of words; one that is not sure is empty.
func known(words []value) (all []string) {
	for _, w := range words {
		if w.unknown || w.many || w.glob && w.text != "[" {
			w.text = ""
		}
		all = append(all, w.text)
	}
	return all
}

// line shows words as one text.
func line(words []value) string {
	var all []string
	for _, w := range words {
		if w.unknown {
			w.text += "…"
		}
		all = append(all, w.text)
	}
	return strings.Join(all, " ")
}
