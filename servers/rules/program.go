package rules

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed programs.txt
var programs string

// row is what the table says of a program.
type row struct {
	operands []byte // kinds
	star     int    // which of them is any number; -1: none
	folder   bool   // without operands it is about the folder
	options  map[string]option
	effects  []Effect
	words    map[string]bool
}

// option is one that a program is known to have.
type option struct {
	kind   byte // of its value
	value  byte // ':' if it has one, '?' if it may have one attached; 0: none
	effect Effect
}

// here is in the place of an effect where a file is written in the folder.
const here Effect = "here"

// table holds the rows by name.
var table = sync.OnceValue(func() map[string]*row {
	all := map[string]*row{}
	for line := range strings.Lines(programs) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.Index(line, ": ")
		names, rest := line[:i], strings.Fields(line[i+2:])
		r := parseRow(rest)
		for name := range strings.SplitSeq(names, ", ") {
			all[name] = r
		}
	}
	return all
})

func parseRow(fields []string) *row {
	r := &row{star: -1, options: map[string]option{}, words: map[string]bool{}}
	for kind := range strings.SplitSeq(fields[0], ",") {
		if strings.Contains(kind, "*") {
			r.star, r.folder = len(r.operands), strings.HasSuffix(kind, ".")
		}
		r.operands = append(r.operands, kind[0])
	}
	for _, f := range fields[1:] {
		switch {
		case f[0] == '+':
			r.effects = append(r.effects, Effect(f[1:]))
		case f[0] != '-':
			r.words[f] = true
		default:
			name, effect, _ := strings.Cut(f, "=")
			o, end := option{kind: 't', effect: Effect(effect)}, len(name)
			if i := strings.IndexAny(name, ":?"); i > 0 {
				if o.value, end = name[i], i; i+1 < len(name) {
					o.kind = name[i+1]
				}
			}
			name = name[:end]
			if strings.HasPrefix(name, "--") || o.value != 0 || slices.Contains(fields, "long") {
				r.options[name] = o
				continue
			}
			for _, letter := range name[1:] {
				r.options["-"+string(letter)] = o
			}
		}
	}
	return r
}

// taught is the row of a program that its user has described.
func (r *reader) taught(words []value) (*row, int) {
	for _, p := range r.Programs {
		if p.Name != words[0].text || words[0].unknown || len(words) == 1 && len(p.Sub) > 0 {
			continue
		}
		n := 1
		if len(p.Sub) > 0 {
			if words[1].unknown || !slices.Contains(p.Sub, words[1].text) {
				continue
			}
			n = 2
		}
		w := &row{operands: []byte{'N'}, options: map[string]option{}, words: map[string]bool{"exact": true}, effects: p.Effects}
		for _, o := range p.Options {
			w.options[o] = option{kind: 't'}
		}
		return w, n
	}
	return nil, 0
}

// lookup finds the row that fits the most of the first words, and how many those are.
func (r *reader) lookup(words []value) (*row, int) {
	name, best, n := "", (*row)(nil), 0
	for i, w := range words[:min(len(words), 4)] {
		if w.unknown || w.glob && w.text != "[" {
			break
		}
		if i > 0 {
			name += " "
		}
		name += w.text
		if w := table()[name]; w != nil {
			best, n = w, i+1
		}
	}
	if best == nil {
		return r.taught(words)
	}
	return best, n
}

// use is one program with its words, as its row has them understood.
type use struct {
	*reader
	row      *row
	name     string
	operands []value
	given    map[byte]bool // kinds of options that take the place of an operand
	write    bool          // what is read is written
	wrong    bool          // an option is not known
}

// apply judges a program by its row.
func (r *reader) apply(w *row, name string, args []value) {
	u := &use{reader: r, row: w, name: name, given: map[byte]bool{}}
	ended := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case ended || !strings.HasPrefix(a.text, "-") || a.text == "-":
			if w.words["plus"] && strings.HasPrefix(a.text, "+") {
				u.unknown(a)
			}
			if calm := ended || w.words["calm"] || w.words["any"]; !calm && (a.option() || a.glob && anyName.MatchString(a.text[:1])) {
				r.fact(Opaque, name+" with options known only when it runs")
			}
			u.operands = append(u.operands, a)
			ended = ended || w.words["first"]
		case a.text == "--" && !a.unknown:
			ended = true
			u.effect(w.options["--"].effect)
		case w.words["any"]:
		case a.unknown:
			r.fact(Opaque, name+" "+a.text+"…")
		case w.words["num"] && digits.MatchString(a.text[1:]):
		default:
			i += u.option(a, args[i+1:])
			if u.wrong && w.operands[0] == 'f' { // what follows may be no file
				return
			}
		}
		if len(w.operands) > 0 && w.operands[len(w.operands)-1] == 'c' && len(u.operands) == len(w.operands) {
			u.operands = append(u.operands, args[i+1:]...)
			break
		}
	}
	if !r.quiet && r.at >= 0 {
		r.out.Segments[r.at].Told = known(u.operands)
	}
	u.judge()
	host := false
	for _, e := range w.effects {
		if host = e == Net && u.given['h'] && !u.given['?'] && !w.words["sent"]; !host {
			u.effect(e)
		}
	}
}

// effect adds what the program does.
func (u *use) effect(e Effect) {
	switch e {
	case "":
	case here:
		u.file(value{text: "what it downloads"}, 'w')
	case Delete:
		u.fact(e, "what "+u.name+" removes")
	case WriteIn, WriteOut:
		if strays(u.reader) {
			e = WriteOut
		}
		u.fact(e, "what "+u.name+" changes")
	case Reads:
		if strays(u.reader) {
			e = ReadOut
		}
		u.fact(e, u.name)
	case Code:
		if strays(u.reader) {
			u.fact(Opaque, u.name+" in another folder")
		}
		u.fact(e, u.name)
	default:
		u.fact(e, u.name)
	}
}

// option judges an option, and returns how many of the next words are its value.
func (u *use) option(a value, next []value) (used int) {
	if name, attached, has := strings.Cut(a.text, "="); strings.HasPrefix(a.text, "--") || u.row.words["long"] || u.row.words["exact"] {
		if u.row.words["long"] && strings.HasPrefix(name, "--") {
			name = name[1:]
		}
		o, known := u.row.options[name]
		if !known || has && o.value == 0 {
			u.unknown(a)
			return 0
		}
		u.effect(o.effect)
		switch {
		case has:
			u.valued(o.kind, value{text: attached, glob: a.glob, net: a.net})
		case o.value == ':':
			return u.values(o, next)
		case o.kind == 'I':
			u.write = true
		}
		return 0
	}
	letters := []rune(a.text[1:])
	for i, letter := range letters {
		o, known := u.row.options["-"+string(letter)]
		if !known {
			u.unknown(a)
			return 0
		}
		u.effect(o.effect)
		attached := value{text: string(letters[i+1:]), glob: a.glob, net: a.net}
		switch {
		case o.value == '?':
			u.valued(o.kind, attached)
			return 0
		case o.value == ':' && attached.text != "":
			u.valued(o.kind, attached)
			return 0
		case o.value == ':':
			return u.values(o, next)
		}
	}
	return 0
}

// valued judges the value of an option, of which "-" is what it prints.
func (u *use) valued(kind byte, v value) {
	if v.text != "-" || v.unknown {
		u.take(kind, v)
	}
}

// values takes the next words as the value of an option.
func (u *use) values(o option, next []value) int {
	n := 1
	if o.kind == '2' {
		n = 2
	}
	for _, v := range next[:min(n, len(next))] {
		u.valued(o.kind, v)
		if v.many {
			u.fact(Opaque, u.name+" with options known only when it runs")
		}
	}
	return n
}

// unknown judges an option that the table does not have.
func (u *use) unknown(a value) {
	name, v, _ := strings.Cut(a.text, "=")
	if u.row.words["loose"] && !strings.Contains(name, "/") && u.own(v) {
		return // the project's code may do as much
	}
	u.wrong = true
	u.fact(Opaque, u.name+" "+a.text)
}

// judge has each operand judged by its kind.
func (u *use) judge() {
	w := u.row
	kinds, star := w.operands, w.star
	if len(kinds) > 0 && u.given[kinds[0]] && (kinds[0] == 'e' || kinds[0] == 's') {
		kinds, star = kinds[1:], star-1
	}
	n := len(u.operands)
	if n == 0 {
		switch {
		case w.folder:
			u.take(kinds[len(kinds)-1], value{text: "."})
		case len(kinds) > 0 && kinds[0] == 'f':
			u.fact(Opaque, u.name+" runs what it reads")
			u.out.Downloads = u.out.Downloads || u.net
		}
		return
	}
	if n <= len(kinds)-1 && w.folder { // a pattern alone
		u.take(kinds[len(kinds)-1], value{text: "."})
	}
	if kinds[len(kinds)-1] == 'c' {
		if n >= len(kinds) {
			words := u.operands[len(kinds)-1:]
			if w.words["within"] {
				u.runs(words)
			} else if u.name == "command" || u.name == "builtin" {
				u.program(words)
			} else {
				u.apart(func() { u.program(words) })
			}
		}
		return
	}
	for i, v := range u.operands {
		at := i
		if star >= 0 && i >= star {
			after := len(kinds) - 1 - star
			at = max(star, len(kinds)-(n-i))
			if n-i > after {
				at = star
			}
		}
		if at >= len(kinds) {
			u.fact(Opaque, u.name+" with more words than it takes")
			return
		}
		u.take(kinds[at], v)
		if v.many || v.glob && i == n-1 { // it may be several
			for _, k := range kinds[min(at+1, len(kinds)):] {
				u.take(k, v)
			}
		}
	}
}

// runs walks a command that a program runs in the environment of the project, which may have other programs.
func (u *use) runs(words []value) {
	shell := u.name == "hatch run" // it takes its words for a text
	if shell && !words[0].unknown {
		words = slices.Clone(words)
		words[0].text = words[0].text[strings.LastIndex(words[0].text, ":")+1:]
	}
	switch name := words[0]; {
	case name.unknown, name.text == "-", strings.Contains(name.text, "://"),
		shell && (strings.Contains(name.text, "=") || slices.ContainsFunc(words, func(v value) bool { return !plainWord.MatchString(v.text) })):
		u.fact(Opaque, u.name+" "+name.text)
		u.out.Downloads = u.out.Downloads || name.net
	case u.isKnown(name.text), strings.Contains(name.text, "/"):
		if w, n := u.lookup(words); w != nil && !u.quiet && u.at >= 0 {
			u.out.Segments[u.at].Runs = line(words[:n])
		}
		quiet, find, programs := u.quiet, u.Find, u.out.Programs
		u.quiet, u.Find = true, nil
		u.apart(func() { u.program(words) })
		u.quiet, u.Find, u.out.Programs = quiet, find, programs
	case slices.ContainsFunc(words, func(v value) bool { return v.unknown || !u.ownValue(v.text) }):
		u.fact(Opaque, line(words))
	case strings.Contains(name.text, "."): // a file, which may name what is downloaded for it
		u.script(name)
	}
}

// isKnown reports whether something is known of a program.
func (u *use) isKnown(name string) bool {
	if slices.Contains(builtins, name) || name == "tar" || name == "bsdtar" {
		return true
	}
	for row := range table() {
		if first, _, _ := strings.Cut(row, " "); first == name {
			return true
		}
	}
	return slices.ContainsFunc(u.Programs, func(p Program) bool { return p.Name == name })
}

// ownValue is own for a word that may be an option with a value, or have one after =.
func (u *use) ownValue(s string) bool {
	if name, is, has := strings.Cut(s, "="); has && !u.own(is) || strings.HasPrefix(s, "-") && strings.Contains(name, "/") {
		return false
	}
	return u.own(s)
}

// plainWord has no character that a shell takes for more than a part of a word.
var plainWord = regexp.MustCompile(`^[\w./=:@%+,-]+$`)
