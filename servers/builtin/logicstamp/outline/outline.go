// Package outline reads what a TypeScript source declares, exports and imports. The
// contracts of the stamp command record this only in part: it reports a single
// export just as "named", and does not report "export *", enum members, type
// parameters or parameter types at all. Package outline reads tokens, not a grammar,
// and skips what it does not understand. The parser that comes with the command would need
// node for every list of sources, also where only kept snapshots are read, and loads in
// the time in which this package reads a hundred large sources.
package outline

import (
	"slices"
	"strings"
)

// Version changes with what Read makes of a source.
const Version = 1

// Limits of what is kept of a source.
const (
	maxHead    = 400 // bytes; of a line, too
	maxEntries = 2000
	maxLines   = 30 // of one declaration
)

// Decl is a declaration at the top of a source.
type Decl struct {
	Name string `json:"name"`
	// Kind is function, class, interface, type, enum, namespace or const.
	Kind string `json:"kind"`
	Line int    `json:"line"`
	// End is the line on which the head ends.
	End int `json:"end,omitempty"`
	// Head is its text without bodies and values; of an interface, a type or an
	// enum it is without the members, if it has any.
	Head string `json:"head,omitempty"`
	// Generic are its type parameters with their brackets.
	Generic string   `json:"generic,omitempty"`
	Members []Member `json:"members,omitempty"`
}

// Member is one member of an interface, an object type, an enum or a class.
type Member struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Line int    `json:"line"`
	End  int    `json:"end,omitempty"`
}

// Export is a name that others can import.
type Export struct {
	// Name is "default" for the default and "*" for all of another source.
	Name string `json:"name"`
	// Local is the name here or in From, which is "" for a declaration of this
	// source.
	Local string `json:"local,omitempty"`
	From  string `json:"from,omitempty"`
	Line  int    `json:"line"`
}

// Key tells exports apart: two "*" differ by their source.
func (e Export) Key() string {
	if e.Name == "*" {
		return "* from " + e.From
	}
	return e.Name
}

// Import is what a source takes from another.
type Import struct {
	From string `json:"from"`
	// Names are those of the other source, "default" and "*" among them; none
	// for an import for its effects.
	Names []string `json:"names,omitempty"`
	Line  int      `json:"line"`
}

// Outline is what a source declares, exports and imports.
type Outline struct {
	Decls   []Decl   `json:"decls,omitempty"`
	Exports []Export `json:"exports,omitempty"`
	Imports []Import `json:"imports,omitempty"`
	// Lines are those on which something is declared or exported, by number, as
	// the source has them, except that long ones are cut.
	Lines map[int]string `json:"lines,omitempty"`
}

// Text is what stands on the lines from first to last, as far as it is known.
func (o *Outline) Text(first, last int) string {
	var out []string
	for n := first; n <= max(first, last); n++ {
		line, ok := o.Lines[n]
		if !ok {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// Decl finds a declaration by its name; of several with one name, such as
// overloads, the first.
func (o *Outline) Decl(name string) (Decl, bool) {
	i := slices.IndexFunc(o.Decls, func(d Decl) bool { return d.Name == name })
	if i < 0 {
		return Decl{}, false
	}
	return o.Decls[i], true
}

// Read reads a source.
func Read(src []byte) *Outline {
	p := parser{tokens: lex(string(src)), out: &Outline{}}
	for p.at < len(p.tokens) && len(p.out.Decls)+len(p.out.Exports)+len(p.out.Imports) < maxEntries {
		p.statement()
	}
	p.out.keepLines(string(src))
	return p.out
}

func (o *Outline) keepLines(src string) {
	all := strings.Split(src, "\n")
	o.Lines = map[int]string{}
	keep := func(first, last int) {
		for n := max(first, 1); n <= min(max(first, last), first+maxLines-1, len(all)); n++ {
			line := strings.TrimSuffix(all[n-1], "\r")
			if len(line) > maxHead {
				line = strings.ToValidUTF8(line[:maxHead], "") + "…"
			}
			o.Lines[n] = line
		}
	}
	for _, d := range o.Decls {
		keep(d.Line, d.End)
		for _, m := range d.Members {
			keep(m.Line, m.End)
		}
	}
	for _, e := range o.Exports {
		keep(e.Line, e.Line)
	}
}

type parser struct {
	tokens []token
	at     int
	out    *Outline
}

func (p *parser) peek(n int) string {
	if p.at+n < len(p.tokens) {
		return p.tokens[p.at+n].text
	}
	return ""
}

func (p *parser) line() int {
	if p.at < len(p.tokens) {
		return p.tokens[p.at].line
	}
	return 0
}

// lastLine is the line of the token before this one.
func (p *parser) lastLine() int {
	if n := min(p.at, len(p.tokens)); n > 0 {
		return p.tokens[n-1].line
	}
	return 0
}

// take gives the token and moves on.
func (p *parser) take() string {
	text := p.peek(0)
	p.at++
	return text
}

func (p *parser) accept(text string) bool {
	if p.peek(0) == text {
		p.at++
		return true
	}
	return false
}

// statement reads one statement at the top.
func (p *parser) statement() {
	line := p.line()
	switch p.peek(0) {
	case "import":
		if next := p.peek(1); next != "(" && next != "." {
			p.at++
			p.importing(line)
			return
		}
	case "export":
		p.at++
		p.exporting(line)
		return
	}
	if !p.declaration(line) {
		p.skipStatement()
	}
}

// skipGroup moves past a bracket and what it holds. A declaration at the start
// of a line ends it, so that a bracket in the text of a tag costs one statement.
func (p *parser) skipGroup() {
	depth := 0
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		if depth > 0 && t.first && opensStatement(t.text) {
			return
		}
		p.at++
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth <= 0 {
			return
		}
	}
}

func opensStatement(word string) bool {
	switch word {
	case "export", "import", "interface", "enum", "const", "function", "class", "declare":
		return true
	}
	return false
}

// skipStatement moves to the next statement: past a semicolon or a block, or to
// a line that begins one.
func (p *parser) skipStatement() {
	start := p.at
	p.skip(false, func(t token) bool { return p.at > start && (t.first && t.word || p.tokens[p.at-1].text == ";") })
}

// skip moves to a token at which to stop, past brackets with what they hold, and with
// types past type parameters.
func (p *parser) skip(types bool, stop func(t token) bool) {
	for p.at < len(p.tokens) && !stop(p.tokens[p.at]) {
		switch t := p.peek(0); {
		case t == "(" || t == "[" || t == "{":
			p.skipGroup()
		case t == "<" && types:
			p.generic()
		default:
			p.at++
		}
	}
}

// breaks reports whether a token begins a line that does not go on with the one before.
func (p *parser) breaks(t token) bool {
	last := p.tokens[max(p.at-1, 0)]
	return t.line > last.line && !goesOn(last.text, t.text)
}

// importing reads an import after its first word.
func (p *parser) importing(line int) {
	in := Import{Line: line}
	if p.peek(0) == "type" && p.peek(1) != "from" && p.peek(1) != "," {
		p.at++
	}
	for p.at < len(p.tokens) {
		switch t := p.take(); {
		case isText(t):
			in.From = unquote(t)
			p.out.Imports = append(p.out.Imports, in)
			p.accept(";")
			return
		case t == "*":
			in.Names = append(in.Names, "*")
			p.accept("as")
			p.at++
		case t == "{":
			for _, e := range p.names() {
				in.Names = append(in.Names, e.Local)
			}
		case t == "," || t == "from":
		case t == "=" || t == ";":
			p.skipStatement() // import x = require("y")
			return
		default:
			in.Names = append(in.Names, "default")
		}
	}
}

// since are the tokens from start to here.
func (p *parser) since(start int) []token {
	end := min(p.at, len(p.tokens))
	return p.tokens[min(start, end):end]
}

func isText(t string) bool { return len(t) > 1 && (t[0] == '\'' || t[0] == '"') }

func unquote(t string) string { return t[1 : len(t)-1] }

// names reads "a, type b as c }" after its brace.
func (p *parser) names() []Export {
	var out []Export
	for p.at < len(p.tokens) && !p.accept("}") {
		line := p.line()
		if p.peek(0) == "type" && p.peek(1) != "," && p.peek(1) != "}" && p.peek(1) != "as" {
			p.at++
		}
		name := p.take()
		if name == "," {
			continue
		}
		e := Export{Name: name, Local: name, Line: line}
		if p.accept("as") {
			e.Name = p.take()
		}
		out = append(out, e)
	}
	return out
}

// exporting reads an export after its first word.
func (p *parser) exporting(line int) {
	if p.peek(0) == "type" && (p.peek(1) == "{" || p.peek(1) == "*") {
		p.at++
	}
	var list []Export
	switch {
	case p.accept("*"):
		e := Export{Name: "*", Line: line}
		if p.accept("as") {
			e.Name, e.Local = p.take(), "*"
		}
		list = []Export{e}
	case p.accept("{"):
		list = p.names()
	case p.accept("default"):
		e := Export{Name: "default", Line: line}
		if n := len(p.out.Decls); p.declaration(line) && len(p.out.Decls) > n {
			e.Local = p.out.Decls[n].Name
		} else {
			e.Local = p.peek(0)
			p.skipStatement()
		}
		p.out.Exports = append(p.out.Exports, e)
		return
	default:
		n := len(p.out.Decls)
		if !p.declaration(line) {
			p.skipStatement()
		}
		for _, d := range p.out.Decls[n:] {
			if !slices.ContainsFunc(p.out.Exports, func(e Export) bool { return e.Name == d.Name }) {
				p.out.Exports = append(p.out.Exports, Export{Name: d.Name, Local: d.Name, Line: line})
			}
		}
		return
	}
	if p.accept("from") && isText(p.peek(0)) {
		from := unquote(p.take())
		names := []string{}
		for i := range list {
			list[i].From = from
			if list[i].Name == "*" || list[i].Local == "*" {
				names = append(names, "*")
			} else {
				names = append(names, list[i].Local)
			}
		}
		p.out.Imports = append(p.out.Imports, Import{From: from, Names: names, Line: line})
	}
	p.accept(";")
	p.out.Exports = append(p.out.Exports, list...)
}

// text writes tokens as one line, in one way however they were laid out.
func text(tokens []token) string {
	var b strings.Builder
	last := token{}
	for i, t := range tokens {
		if (t.text == "," || t.text == ";") && i+1 < len(tokens) && strings.Contains(")]}>", tokens[i+1].text) {
			continue // a trailing one
		}
		if i > 0 && spaced(last, t) {
			b.WriteByte(' ')
		}
		last = t
		b.WriteString(t.text)
		if b.Len() > maxHead {
			return b.String()[:maxHead] + "…"
		}
	}
	return strings.TrimSpace(b.String())
}

func spaced(a, b token) bool {
	switch {
	case a.word && b.word, a.text == ",", a.text == ";", a.text == ":":
		return true
	case a.text == "=>" || b.text == "=>" || a.text == "|" || b.text == "|" || a.text == "&" || b.text == "&" || a.text == "=" || b.text == "=":
		return true
	case a.text == "{" || b.text == "}":
		return a.text != "{" || b.text != "}"
	case a.text == ">" && b.word:
		return true
	case b.text == "{":
		return a.word || a.text == ")" || a.text == ">"
	case a.word && isText(b.text), isText(a.text) && b.word:
		return true
	}
	return false
}
