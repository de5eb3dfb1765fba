package rules

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a word of a command may be.
type value struct {
	text    string // what is known of it
	unknown bool   // there may be more, or other words
	many    bool   // it may be several words
	glob    bool   // the names of files take its place
	net     bool   // it comes from the network
	firm    bool   // how it begins is known
}

func (v value) begins() bool { return v.firm || !v.unknown && v.text != "" }

// option reports whether a word that is not known may be an option, or bring some.
func (v value) option() bool { return v.unknown && (v.many || !v.begins() || v.text[0] == '-') }

// mostValues is how many values of a word are told apart.
const mostValues = 64

var (
	digits    = regexp.MustCompile(`^\d+$`)
	quotedEsc = regexp.MustCompile("(?s)\\\\([$`\"\\\\\n])")
	anyName   = regexp.MustCompile(`[*?\[]`)
	splits    = regexp.MustCompile(`[\s*?\[\\]`)
)

// word returns every value that a word may have, and walks what runs to find it.
func (r *reader) word(w *syntax.Word) []value {
	if w == nil {
		return nil
	}
	r.spend(1 + len(w.Parts))
	b := words{r: r, all: []value{{}}}
	b.parts(w.Parts, false)
	if b.braces() {
		for i := range b.all {
			b.all[i].unknown, b.all[i].many = true, true
		}
	}
	return b.all
}

// words builds the values of one word.
type words struct {
	r    *reader
	all  []value
	bare strings.Builder // what is not quoted
}

// braces reports whether bash may make several words of the word.
func (b *words) braces() bool {
	s := strings.ReplaceAll(b.bare.String(), "{}", "")
	from := strings.Index(s, "{")
	return from >= 0 && strings.Contains(s[from:], "}")
}

func (b *words) add(values ...value) {
	var next []value
	for _, a := range b.all {
		for _, v := range values {
			next = append(next, value{
				a.text + v.text, a.unknown || v.unknown, a.many || v.many, a.glob || v.glob, a.net || v.net,
				a.begins() || !a.unknown && v.begins(),
			})
		}
	}
	if len(next) > mostValues || len(next) == 0 {
		next = []value{{unknown: true, many: true}}
	}
	b.all = next
}

func (b *words) parts(all []syntax.WordPart, quoted bool) {
	r := b.r
	for i, p := range all {
		switch p := p.(type) {
		case *syntax.Lit:
			if quoted {
				b.add(value{text: quotedEsc.ReplaceAllStringFunc(p.Value, unescaped)})
			} else {
				b.bareText(p.Value, i == 0)
			}
		case *syntax.SglQuoted:
			b.add(value{text: p.Value, unknown: p.Dollar && strings.Contains(p.Value, `\`)})
		case *syntax.DblQuoted:
			b.parts(p.Parts, true)
		case *syntax.ParamExp:
			b.param(p, quoted)
		case *syntax.CmdSubst, *syntax.ProcSubst:
			from := len(r.out.Segments)
			r.inner(p)
			b.add(value{unknown: true, many: !quoted, net: r.has(Net, from)})
		case *syntax.ArithmExp:
			r.inner(p)
			r.arithmetic(p)
			b.add(value{unknown: true})
		case *syntax.ExtGlob:
			b.add(value{unknown: true, many: true, glob: true})
		default:
			r.fact(Opaque, "a word that is not known")
			b.add(value{unknown: true})
		}
	}
}

func unescaped(s string) string { return strings.TrimPrefix(s[1:], "\n") }

// unquoted is a text without the backslashes that quote in it, and what of it none quotes.
func unquoted(s string) (text, bare string) {
	if !strings.Contains(s, `\`) {
		return s, s
	}
	var all, rest strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			all.WriteByte(s[i])
			rest.WriteByte(s[i])
		} else if i++; s[i] != '\n' {
			all.WriteByte(s[i])
		}
	}
	return all.String(), rest.String()
}

// bareText adds text without quotes.
func (b *words) bareText(s string, first bool) {
	_, plain := unquoted(s)
	b.bare.WriteString(plain)
	if name, rest, is := strings.Cut(s, "=~"); first && is && plainName.MatchString(name) { // of=~/a
		b.add(value{text: name + "="})
		s = "~" + rest
	}
	if first && strings.HasPrefix(s, "~") {
		if rest := s[1:]; b.r.Home != "" && (rest == "" || rest[0] == '/') {
			s = b.r.Home + rest
		} else { // another user's home
			b.add(value{unknown: true})
		}
	}
	text, _ := unquoted(s)
	b.add(value{text: text, glob: anyName.MatchString(plain)})
}

// param adds the value of a variable.
func (b *words) param(p *syntax.ParamExp, quoted bool) {
	r := b.r
	r.inner(p)
	plain := p.Exp == nil && p.Index == nil && p.Slice == nil && p.Repl == nil && !p.Excl && !p.Length && !p.Width && p.Param != nil
	var known []value
	switch {
	case !plain:
	case p.Param.Value == "HOME" && r.sets["HOME"] == 0 && r.Home != "":
		known = []value{{text: r.Home}}
	case p.Param.Value == "PWD" && r.sets["PWD"] == 0:
		for _, d := range r.cwds {
			known = append(known, value{text: d})
		}
	default:
		known = r.vars[p.Param.Value]
	}
	if known == nil {
		number := p.Length || p.Param != nil && strings.Contains("?#$!", p.Param.Value)
		known = []value{{unknown: true, many: !quoted && !number || p.Param != nil && (p.Param.Value == "@" || p.Param.Value == "*")}}
	}
	for i, v := range known {
		if !quoted && splits.MatchString(v.text) { // it becomes several words, or names of files
			known = slices.Clone(known)
			known[i] = value{unknown: true, many: true}
		}
	}
	b.add(known...)
}

// inner walks what is substituted below a node.
func (r *reader) inner(n syntax.Node) {
	syntax.Walk(n, func(x syntax.Node) bool {
		switch x := x.(type) {
		case *syntax.CmdSubst:
			r.apart(func() { r.stmts(x.Stmts) })
			return false
		case *syntax.ProcSubst:
			r.apart(func() { r.stmts(x.Stmts) })
			return false
		case *syntax.ParamExp:
			r.reads(x)
		case *syntax.Lit: // in a regular expression, for example
			if strings.Contains(x.Value, "<(") || strings.Contains(x.Value, ">(") {
				r.fact(Opaque, "a process that the parser takes for text")
			}
		}
		return true
	})
}

// reads judges the use of a variable.
func (r *reader) reads(p *syntax.ParamExp) {
	if p.Param == nil || p.Excl || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps || p.NestedParam != nil || p.Flags != nil {
		r.fact(Opaque, "a variable that is named, or runs, at run time")
		return
	}
	if hides(p) {
		r.fact(Opaque, "what may run in place of a variable")
	}
	if p.Exp != nil && (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull) {
		r.allowed(p.Param.Value)
	}
	if p.Index != nil {
		r.arithmetic(p.Index)
	}
	if p.Slice != nil {
		r.arithmetic(p.Slice.Offset)
		r.arithmetic(p.Slice.Length)
	}
	if name := p.Param.Value; secretName.MatchString(name) && r.vars[name] == nil {
		r.fact(Secret, "$"+name)
	}
}

// plainQuoted is what is the same whether the quotes around it are such.
var plainQuoted = regexp.MustCompile(`^[\w\s.,:/=@%+*?~^-]*$`)

// hides reports whether what takes the place of a variable may run more than the parser finds there: single quotes in
// double quotes and in here-documents, which are plain characters for shells, and <( ), which is none for the parser.
func hides(p *syntax.ParamExp) (more bool) {
	syntax.Walk(p, func(x syntax.Node) bool {
		switch x := x.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.SglQuoted:
			more = more || !plainQuoted.MatchString(x.Value)
		case *syntax.Lit:
			more = more || strings.Contains(x.Value, "(")
		}
		return true
	})
	return more
}

// arithmetic judges what bash evaluates: the value of a name in it is evaluated again, and runs what is
// substituted in a subscript there.
func (r *reader) arithmetic(n syntax.Node) {
	if n == nil {
		return
	}
	_, test := n.(*syntax.TestClause)
	syntax.Walk(n, func(x syntax.Node) bool {
		name := ""
		switch x := x.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			if !test {
				r.fact(Opaque, "arithmetic with a value that is not known")
			}
			return false
		case *syntax.UnaryTest:
			if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
				r.fact(Opaque, "[[ "+x.Op.String()+" ]], which evaluates subscripts")
			}
		case *syntax.BinaryTest:
			if x.Op >= syntax.TsEql && x.Op <= syntax.TsGtr && !(number(x.X) && number(x.Y)) {
				r.fact(Opaque, "[[ "+x.Op.String()+" ]], which evaluates words")
			}
		case *syntax.ParamExp:
			if x.Param != nil {
				name = x.Param.Value
			}
		case *syntax.Lit:
			name = x.Value
		case *syntax.SglQuoted:
			name = x.Value
		}
		if !test && name != "" && !digits.MatchString(name) && !r.numeric(name) {
			r.fact(Opaque, "arithmetic with a value that is not known")
		}
		return true
	})
}

// number reports whether an operand of a test is digits alone.
func number(x syntax.TestExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && digits.MatchString(w.Lit())
}

func (r *reader) numeric(name string) bool {
	values := r.vars[name]
	return len(values) > 0 && !slices.ContainsFunc(values, func(v value) bool { return v.unknown || !digits.MatchString(v.text) })
}

var (
	// secretName are variables that hold what is secret.
	secretName = regexp.MustCompile(`(?i)(TOKEN|SECRET|PASS|_KEY|APIKEY|AUTH|CRED|COOKIE|SESSION|DSN|DATABASE_URL)`)
	// harmlessName are variables that may be set for a program: others choose what it runs or reads.
	harmlessName = regexp.MustCompile(`^(CI|NODE_ENV|RUST_LOG|RUST_BACKTRACE|DEBUG|VERBOSE|NO_COLOR|FORCE_COLOR|CLICOLOR(_FORCE)?|COLUMNS|LINES|TZ|LANG|LC_\w+|GOOS|GOARCH|CGO_ENABLED|RAILS_ENV|RACK_ENV|TERM|PORT|[A-Z]|[a-z]\w*)$`)
	// tellingName are harmless names for bash that are others for zsh, or for programs.
	tellingName = regexp.MustCompile(`^(npm_config_\w*|\w*_proxy|path|fpath|cdpath|mailpath|module_path|fignore)$`)
)

func harmless(name, shell string) bool {
	return harmlessName.MatchString(name) && !(tellingName.MatchString(name) && (shell == "zsh" || strings.Contains(name, "_")))
}

// allowed judges a variable that is set.
func (r *reader) allowed(name string) {
	if !harmless(name, r.Shell) {
		r.fact(Opaque, "another "+name)
	}
}

// set notes the value of a variable, if it has one alone in the text.
func (r *reader) set(name string, values []value) {
	if r.sets["*"] > 0 || r.sets[name] != 1 || values == nil {
		delete(r.vars, name)
		return
	}
	r.vars[name] = values
}

// assign walks an assignment; keep is set if later commands see it.
func (r *reader) assign(a *syntax.Assign, keep bool) {
	if a.Name == nil {
		r.word(a.Value)
		return
	}
	name := a.Name.Value
	if a.Index != nil || a.Array != nil {
		r.inner(a)
		if a.Index != nil || slices.ContainsFunc(a.Array.Elems, func(e *syntax.ArrayElem) bool { return e.Index != nil }) {
			r.fact(Opaque, "a subscript")
		}
	}
	values := r.word(a.Value)
	if !a.Naked {
		r.allowed(name)
	}
	if a.Array != nil && r.Shell == "zsh" {
		r.fact(Opaque, "an array of zsh, which may be its functions")
	}
	if keep && !a.Append && a.Array == nil && a.Index == nil {
		r.set(name, values)
	}
}
