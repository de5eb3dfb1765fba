package outline

import "strings"

// declaration reads one declaration; false where there is none.
func (p *parser) declaration(line int) bool {
	start := p.at
	for {
		switch p.peek(0) {
		case "declare", "abstract", "async":
			if p.at+1 < len(p.tokens) && p.tokens[p.at+1].word {
				p.at++
				continue
			}
		case "const":
			if p.peek(1) == "enum" {
				p.at++
			}
		}
		break
	}
	kind := p.peek(0)
	switch kind {
	case "function", "class":
		p.at++
		p.accept("*")
		d := Decl{Kind: kind, Line: line, Name: "default"}
		if p.at < len(p.tokens) && p.tokens[p.at].word && p.peek(0) != "extends" && p.peek(0) != "implements" {
			d.Name = p.take()
		}
		if kind == "class" {
			p.class(d)
		} else {
			p.function(d)
		}
		return true
	case "interface", "enum", "namespace", "module", "type":
		if p.at+1 < len(p.tokens) && p.tokens[p.at+1].word {
			p.at++
			p.typed(Decl{Kind: kind, Line: line, Name: p.take()})
			return true
		}
	case "const", "let", "var":
		p.at++
		p.variable(line)
		return true
	}
	p.at = start
	return false
}

// generic reads type parameters with their brackets, if any.
func (p *parser) generic() string {
	if p.peek(0) != "<" {
		return ""
	}
	start, depth := p.at, 0
	for p.at < len(p.tokens) {
		switch p.take() {
		case "<":
			depth++
		case ">":
			depth--
		case "(", "[", "{":
			p.at--
			p.skipGroup()
		}
		if depth == 0 {
			break
		}
	}
	return text(p.since(start))
}

// function reads a function after its name: its head up to the body.
func (p *parser) function(d Decl) {
	start := p.at
	d.Generic = p.generic()
	if p.peek(0) == "(" {
		p.skipGroup()
	}
	p.returnType()
	d.Head, d.End = d.Name+text(p.since(start)), p.lastLine()
	if p.peek(0) == "{" {
		p.skipGroup()
	}
	p.accept(";")
	p.out.Decls = append(p.out.Decls, d)
}

// returnType moves past a type after a colon.
func (p *parser) returnType() {
	if !p.accept(":") {
		return
	}
	expect := true // a type, so that a brace opens one
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		switch {
		case t.text == "(" || t.text == "[" || t.text == "{" && expect:
			p.skipGroup()
			expect = false
			continue
		case t.text == "{", t.text == ";", t.text == "=", t.text == "=>" && expect:
			return
		case t.first && opensStatement(t.text):
			return
		case t.text == "=>" && p.tokens[p.at-1].text != ")":
			return
		}
		expect = strings.Contains("|&<,?:", t.text) || t.text == "=>" || t.text == "extends" || t.text == "keyof" || t.text == "is" || t.text == "readonly"
		p.at++
	}
}

// variable reads a declared variable: its name, its type, and the head of a
// function that is its value.
func (p *parser) variable(line int) {
	if p.at >= len(p.tokens) || !p.tokens[p.at].word {
		p.skipStatement()
		return
	}
	d := Decl{Kind: "const", Line: line, Name: p.take()}
	start := p.at
	p.returnType()
	if p.accept("=") {
		p.value(&d)
	}
	if d.Head == "" {
		end := p.at
		if end > start && end <= len(p.tokens) && p.tokens[end-1].text == "=" {
			end--
		}
		d.Head = d.Name + text(p.tokens[start:min(end, len(p.tokens))])
	}
	if d.End == 0 {
		d.End = p.lastLine()
	}
	p.out.Decls = append(p.out.Decls, d)
	begin := p.at
	p.skip(false, func(t token) bool { return t.text == ";" || t.text == "," || p.at > begin && t.first && t.word })
	if !p.accept(";") && p.accept(",") {
		p.variable(p.line())
	}
}

// value reads the head of a function, or of a call that wraps one.
func (p *parser) value(d *Decl) {
	start := p.at
	p.accept("async")
	if p.accept("function") {
		for p.at < len(p.tokens) && p.tokens[p.at].word {
			p.at++
		}
	}
	d.Generic = p.generic()
	if p.peek(0) == "(" {
		p.skipGroup()
		p.returnType()
		if p.peek(0) == "=>" || p.peek(0) == "{" {
			d.Head = d.Name + " = " + text(p.since(start))
			return
		}
	}
	p.at, d.Generic = start, ""
	if p.peek(0) == "{" {
		p.object(d, start)
		return
	}
	for p.at < len(p.tokens) && (p.tokens[p.at].word || p.peek(0) == ".") && !p.tokens[p.at].first {
		p.at++
	}
	if p.at > start && p.peek(0) == "<" {
		p.generic()
		if p.peek(0) == "(" {
			d.Head = d.Name + " = " + text(p.since(start))
			return
		}
	}
	p.at = start
}

// object reads the keys of an object, and the values that are constants.
func (p *parser) object(d *Decl, start int) {
	d.End = p.line()
	list := p.members(true)
	frozen := p.peek(0) == "as" && p.peek(1) == "const"
	for i, m := range list {
		if !frozen && !strings.HasSuffix(m.Text, "as const") {
			list[i].Text = m.Name
		}
	}
	d.Members = list
	if d.Head == "" && p.tokens[max(start-2, 0)].text == d.Name {
		d.Head = d.Name
	}
}

// typed reads an interface, a type, an enum or a namespace after its name.
func (p *parser) typed(d Decl) {
	start := p.at
	d.Generic = p.generic()
	if d.Kind == "namespace" || d.Kind == "module" {
		d.Kind, d.Head, d.End = "namespace", d.Name, p.lastLine()
		p.skipStatement()
		p.out.Decls = append(p.out.Decls, d)
		return
	}
	if d.Kind == "type" {
		p.accept("=")
		from := p.at
		p.accept("|")
		if p.peek(0) == "{" && p.alone() {
			d.End = p.line()
			d.Members = p.members(false)
			d.Head = d.Name + d.Generic
		} else {
			p.typeEnd()
			d.Head = d.Name + d.Generic + " = " + strings.TrimSpace(strings.TrimPrefix(text(p.since(from)), "|"))
			d.End = p.lastLine()
		}
		p.accept(";")
		p.out.Decls = append(p.out.Decls, d)
		return
	}
	p.skip(true, func(t token) bool { return t.text == "{" || t.first })
	d.Head, d.End = d.Name+text(p.since(start)), p.lastLine()
	if start < p.at && start < len(p.tokens) && p.tokens[start].word {
		d.Head = d.Name + " " + text(p.since(start))
	}
	if p.peek(0) == "{" {
		d.Members = p.members(d.Kind == "enum")
	}
	p.out.Decls = append(p.out.Decls, d)
}

// alone reports whether the braces here are the whole type.
func (p *parser) alone() bool {
	at := p.at
	p.skipGroup()
	next := p.peek(0)
	p.at = at
	return next != "&" && next != "|" && next != "["
}

// typeEnd moves past the text of a type.
func (p *parser) typeEnd() {
	start := p.at
	p.skip(false, func(t token) bool { return t.text == ";" || p.at > start && t.first && t.word })
}

// members reads the members between braces. An enum's have values.
func (p *parser) members(enum bool) []Member {
	p.at++
	var out []Member
	for p.at < len(p.tokens) && p.peek(0) != "}" {
		start := p.at
		p.skip(true, func(t token) bool {
			return t.text == ";" || t.text == "," || t.text == "}" || !enum && p.at > start && p.breaks(t)
		})
		if m := member(p.since(start)); m.Name != "" {
			out = append(out, m)
		}
		if p.peek(0) == ";" || p.peek(0) == "," || p.at == start {
			p.at++
		}
	}
	p.at++
	return out
}

// goesOn reports whether a member that has come to the end of a line goes on.
func goesOn(last, next string) bool {
	return strings.Contains("|&:=<,?", last) || last == "=>" || strings.Contains("|&:=>?.", next) || next == "=>" || next == "extends"
}

func member(tokens []token) Member {
	i := 0
	for i+1 < len(tokens) && tokens[i+1].word && (tokens[i].text == "readonly" || tokens[i].text == "get" || tokens[i].text == "set" || tokens[i].text == "public" || tokens[i].text == "static" || tokens[i].text == "async" || tokens[i].text == "override" || tokens[i].text == "abstract") {
		i++
	}
	if i >= len(tokens) {
		return Member{}
	}
	name := tokens[i].text
	switch {
	case isText(name):
		name = unquote(name)
	case name == "[" || name == "(":
		name = text(tokens)
	case !tokens[i].word:
		return Member{}
	}
	return Member{Name: name, Text: text(tokens), Line: tokens[0].line, End: tokens[len(tokens)-1].line}
}

// class reads a class after its name: its head, and the heads of what is not
// private.
func (p *parser) class(d Decl) {
	start := p.at
	d.Generic = p.generic()
	p.skip(true, func(t token) bool { return t.text == "{" || t.text == ";" })
	d.Head = strings.TrimSpace(d.Name + d.Generic + " " + strings.TrimSpace(strings.TrimPrefix(text(p.since(start)), d.Generic)))
	d.End = p.lastLine()
	p.accept("{")
	for p.at < len(p.tokens) && p.peek(0) != "}" {
		if p.tokens[p.at].first && opensStatement(p.peek(0)) {
			break
		}
		p.classMember(&d)
	}
	p.accept("}")
	p.out.Decls = append(p.out.Decls, d)
}

func (p *parser) classMember(d *Decl) {
	for p.peek(0) == "@" { // a decorator
		p.at += 2
		for p.peek(0) == "." {
			p.at += 2
		}
		if p.peek(0) == "(" {
			p.skipGroup()
		}
	}
	start := p.at
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		if t.text == ";" || t.text == "=" || t.text == "{" || t.text == "}" || p.at > start && p.breaks(t) {
			break
		}
		switch t.text {
		case "(", "[":
			p.skipGroup()
		case "<":
			p.generic()
		case ":":
			p.returnType()
		default:
			p.at++
		}
	}
	head := p.since(start)
	hidden := len(head) > 0 && (head[0].text == "private" || head[0].text == "protected" || strings.HasPrefix(head[0].text, "#"))
	if m := member(head); m.Name != "" && !hidden {
		d.Members = append(d.Members, m)
	}
	switch p.peek(0) {
	case "{":
		p.skipGroup()
	case "=":
		p.skip(false, func(t token) bool { return t.text == ";" || t.text == "}" || t.word && p.breaks(t) })
	case "}":
		return
	}
	if !p.accept(";") && p.at == start {
		p.at++
	}
}
