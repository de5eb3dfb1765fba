package rules

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	shellFlags = regexp.MustCompile(`^[-+][befhlmnptuvxCETc]+$`)
	setFlags   = regexp.MustCompile(`^[-+][euxfvCnb]+$`)
	setOptions = regexp.MustCompile(`^(pipefail|errexit|nounset|xtrace|noglob|noclobber|verbose)$`)
	gitQuiet   = regexp.MustCompile(`^(color\.\w+|core\.quotepath|user\.(name|email)|diff\.(noprefix|context)|log\.\w+|advice\.\w+)=[\w.@ -]*$`)
)

// run walks a command of known words: a function of the text, or a program.
func (r *reader) run(words []value) {
	name := words[0]
	if as, is := r.Aliases[name.text]; is && !name.unknown && !r.same(name.text, as) {
		r.fact(Opaque, name.text+", which the shell has another meaning for")
	}
	if name.unknown || name.glob && name.text != "[" || len(r.funcs[name.text]) == 0 {
		r.program(words)
		return
	}
	if slices.Contains(r.calling, name.text) {
		r.fact(Opaque, "a function that calls itself")
		return
	}
	defer r.segment(words)()
	sure := false
	quiet, vars := r.quiet, maps.Clone(r.vars)
	r.quiet, r.calling = true, append(r.calling, name.text)
	for _, b := range r.funcs[name.text] {
		sure = sure || !b.maybe
		r.perhaps(func() { r.stmt(b.stmt) }) // it may return before its end
	}
	if !sure || r.sets["/unset"]+r.sets["*"] > 0 {
		r.program(words)
	}
	r.quiet, r.calling, r.vars = quiet, r.calling[:len(r.calling)-1], vars
}

// program walks a command that is no function.
func (r *reader) program(words []value) {
	r.spend(len(words))
	name := words[0]
	r.out.Programs = append(r.out.Programs, known(words[:1])...)
	if name.unknown || name.glob && name.text != "[" || name.text == "" {
		defer r.segment(words)()
		r.fact(Opaque, "a program known only when it runs")
		r.out.Downloads = r.out.Downloads || name.net
		return
	}
	if strings.Contains(name.text, "/") {
		if d := path.Dir(name.text); d != "/bin" && d != "/usr/bin" {
			defer r.segment(words)()
			for _, p := range r.absolute(name.text) {
				r.code(p)
			}
			return
		}
		base := slices.Clone(words)
		base[0].text = path.Base(name.text)
		handled := false
		r.apart(func() { handled = r.named(base, words) })
		if handled {
			return
		}
		words = base
	} else if r.elsewhere(name.text); r.named(words, words) {
		return
	}
	w, n := r.lookup(words)
	if w == nil {
		defer r.segment(words)()
		what := words[0].text
		if len(words) > 1 && !strings.HasPrefix(words[1].text, "-") && !words[1].unknown && plainName.MatchString(words[1].text) && table()[what] == nil {
			what += " " + words[1].text
		}
		r.fact(Opaque, what)
		return
	}
	if !w.words["silent"] {
		defer r.segment(append([]value{name}, words[1:]...))()
		if !r.quiet {
			r.out.calls(r.at, line(words[:n]))
		}
	}
	r.apply(w, line(words[:n]), words[n:])
}

// calls gives a segment the name of what it runs.
func (r *Reading) calls(at int, name string) {
	if at >= 0 {
		r.Segments[at].Name = name
	}
}

// named walks the programs whose words the table cannot tell; written are the words as they are there.
func (r *reader) named(words, written []value) bool {
	args := words[1:]
	switch name := words[0].text; name {
	case "bash", "sh", "dash", "zsh", "ksh":
		return r.shell(words, written)
	case "eval", "trap":
		defer r.segment(written)()
		r.again(name, args)
	case "cd", "pushd", "popd":
		defer r.segment(written)()
		if name != "cd" {
			args = nil
		}
		r.enter(args)
	case "set":
		defer r.segment(written)()
		r.setShell(args)
	case "printenv":
		defer r.segment(written)()
		if len(args) == 0 || slices.ContainsFunc(args, func(v value) bool { return v.unknown || secretName.MatchString(v.text) }) {
			r.fact(Secret, "the environment")
		}
	case "test", "[":
		r.unclear(name, args)
		return false
	case "env":
		return r.env(words, written)
	case "xargs":
		r.xargs(args)
	case "find":
		defer r.segment(written)()
		r.find(args)
	case "tar", "bsdtar":
		defer r.segment(written)()
		r.tar(args)
	case "git":
		defer r.segment(written)()
		r.git(args)
	default:
		return false
	}
	return true
}

// shell walks the text of a shell's -c. It returns false if the shell is to run a file.
func (r *reader) shell(words, written []value) bool {
	args, text := words[1:], false
	for len(args) > 0 && !args[0].unknown && (strings.HasPrefix(args[0].text, "-") || strings.HasPrefix(args[0].text, "+")) {
		a := args[0].text
		switch {
		case slices.Contains([]string{"--norc", "--noprofile", "--login", "--posix"}, a):
		case shellFlags.MatchString(a):
			text = text || a[0] == '-' && strings.Contains(a, "c")
		case (a == "-o" || a == "+o" || a == "-eo" || a == "-euo" || a == "-euxo") && len(args) > 1 && setOptions.MatchString(args[1].text):
			args = args[1:]
		default:
			return false
		}
		args = args[1:]
	}
	if !text {
		if len(args) == 0 {
			return false
		}
		defer r.segment(written)()
		r.apply(table()[words[0].text], words[0].text, args)
		return true
	}
	defer r.segment(written)()
	if len(args) == 0 || args[0].unknown || args[0].glob {
		r.fact(Opaque, words[0].text+" -c of a text known only when it runs")
		r.out.Downloads = r.out.Downloads || len(args) > 0 && args[0].net
		return true
	}
	r.inShell(words[0].text, args[0].text)
	return true
}

// again walks a text that the shell itself runs.
func (r *reader) again(name string, args []value) {
	if name == "trap" {
		if len(args) < 2 || args[0].text == "-" || args[0].text == "" && !args[0].unknown {
			if len(args) > 0 && strings.HasPrefix(args[0].text, "-") && len(args[0].text) > 1 && args[0].text != "-p" && args[0].text != "-l" {
				r.fact(Opaque, "trap "+args[0].text)
			}
			return
		}
		args = args[:1]
	}
	if len(args) == 0 || slices.ContainsFunc(args, func(v value) bool { return v.unknown || v.glob }) {
		r.fact(Opaque, name+" of a text known only when it runs")
		r.out.Downloads = r.out.Downloads || slices.ContainsFunc(args, func(v value) bool { return v.net })
		return
	}
	if name == "trap" { // it runs later, wherever that is
		r.apart(func() {
			if r.sets["/cd"] > 0 {
				r.lose()
			}
			r.visited = nil
			if r.text(args[0].text); r.visited != nil {
				r.fact(Opaque, "a trap that changes the folder")
			}
		})
		return
	}
	r.text(line(args))
}

func (r *reader) setShell(args []value) {
	if len(args) == 0 {
		r.fact(Secret, "the environment")
		return
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.text == "--" && !a.unknown:
			return
		case (strings.HasSuffix(a.text, "o") && setFlags.MatchString(strings.TrimSuffix(a.text, "o")) || a.text == "-o" || a.text == "+o") && i+1 < len(args) && setOptions.MatchString(args[i+1].text):
			i++
		case a.unknown || !setFlags.MatchString(a.text):
			r.fact(Opaque, "set "+a.text)
			return
		}
	}
}

// unclear judges words of a test that bash may evaluate.
func (r *reader) unclear(name string, args []value) {
	for i, a := range args {
		several := a.many || i+1 < len(args) && a.unknown && (args[i+1].unknown || strings.Contains(args[i+1].text, "["))
		if several || name == "test" && a.text == "-v" || a.text == "-v" || a.text == "-R" {
			r.fact(Opaque, name+" -v, which evaluates subscripts")
		}
	}
}

// env walks the command of env, with the variables that it sets.
func (r *reader) env(words, written []value) bool {
	w := table()["env"]
	args := words[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && !args[0].unknown {
		a := args[0].text
		o, known := w.options[a]
		if !known && len(a) > 2 && a[1] == 'u' {
			o, known = option{}, true
		}
		if a == "--" || a == "-" {
			known = true
		}
		if !known {
			r.fact(Opaque, "env "+a)
			return true
		}
		if args = args[1:]; o.value == ':' && len(args) > 0 {
			args = args[1:]
		}
	}
	for len(args) > 0 && strings.Contains(args[0].text, "=") {
		if name, _, _ := strings.Cut(args[0].text, "="); !harmless(name, "bash") || args[0].many {
			r.fact(Opaque, "another "+name)
		}
		args = args[1:]
	}
	if len(args) == 0 {
		defer r.segment(written)()
		r.fact(Secret, "the environment")
		return true
	}
	r.apart(func() { r.program(args) })
	return true
}

// xargs walks a command that gets words from its input.
func (r *reader) xargs(args []value) {
	w, mark := table()["xargs"], ""
	u := &use{reader: r, row: w, name: "xargs", given: map[byte]bool{}}
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && !args[0].unknown {
		a := args[0]
		args = args[1:]
		if a.text == "--" {
			break
		}
		if strings.HasPrefix(a.text, "-I") {
			if mark = a.text[2:]; mark == "" && len(args) > 0 {
				mark = args[0].text
			}
		}
		args = args[min(u.option(a, args), len(args)):]
	}
	if len(args) == 0 {
		return
	}
	words := append(slices.Clone(args), value{unknown: true, many: true, net: r.net})
	if mark != "" {
		words = replaced(args, mark, value{unknown: true, net: r.net})
	}
	r.apart(func() { r.program(words) })
}

// replaced puts a value in the place of a mark. Within a word it may be anything.
func replaced(words []value, mark string, by value) []value {
	words = slices.Clone(words)
	for i, w := range words {
		switch rest, begins := strings.CutPrefix(w.text, mark); {
		case w.text == mark:
			words[i] = by
		case begins && strings.HasPrefix(rest, "/") && !strings.Contains(rest, mark):
			words[i] = value{text: by.text + rest, unknown: by.unknown, glob: by.glob}
		case strings.Contains(w.text, mark):
			words[i].unknown = true
		}
	}
	return words
}

// find walks the actions of find; what it finds is below where it begins.
func (r *reader) find(args []value) {
	n := 0
	for n < len(args) && !strings.HasPrefix(args[n].text, "-") && args[n].text != "(" && args[n].text != "!" {
		if args[n].option() {
			r.fact(Opaque, "find with options known only when it runs")
		}
		n++
	}
	starts := args[:n]
	if n == 0 {
		starts = []value{{text: "."}}
	}
	u, tests := &use{reader: r, row: table()["find"], name: "find", given: map[byte]bool{}}, []value{}
	acts := false
	for i := n; i < len(args); i++ {
		switch s := args[i].text; s {
		case "-delete":
			acts = true
			for _, v := range starts {
				r.file(below(v), 'd')
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			acts = true
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			for _, v := range starts {
				if end > i+1 {
					r.found(replaced(args[i+1:end], "{}", below(v)), strings.HasSuffix(s, "dir"))
				}
			}
			i = end
		case "(", ")", "!", ",":
		default:
			tests = append(tests, args[i])
		}
	}
	for _, v := range starts {
		u.take('r', v)
	}
	for i := 0; i < len(tests); i++ {
		if a := tests[i]; a.unknown || !strings.HasPrefix(a.text, "-") {
			r.fact(Opaque, "find "+a.text)
		} else {
			used := u.option(a, tests[i+1:])
			if acts && used == 1 && i+1 < len(tests) && (strings.HasSuffix(a.text, "name") || strings.HasSuffix(a.text, "path")) {
				r.sought(tests[i+1].text)
			}
			if i += used; a.text == "-fprintf" { // and its format
				i++
			}
		}
	}
}

// below is what find finds from where it begins.
func below(start value) value {
	return value{text: start.text + "/*", unknown: start.unknown, glob: true, firm: true}
}

// sought judges a name with which find does something.
func (r *reader) sought(name string) {
	if named(secretPath, name, true) {
		r.fact(Secret, name)
	}
	if named(guardPath, name, true) {
		r.fact(Guard, name)
	}
}

// found walks a command of find.
func (r *reader) found(words []value, there bool) {
	r.apart(func() {
		if there { // in the folder of what is found
			for i, w := range words {
				words[i].unknown = w.unknown || w.glob
			}
			if r.lose(); within(r.Root, path.Join(r.Root, words[0].text)) && strings.HasPrefix(words[0].text, "./") && !words[0].unknown {
				defer r.segment(words)()
				r.factAt(Code, words[0].text, path.Join(r.Root, words[0].text))
				return
			}
		}
		r.program(words)
	})
}

var tarKnown = regexp.MustCompile(`^-?[ctxrzjJvfkpPOaShmwUn]+$`)

// tar judges what tar reads and writes; names in an archive decide where.
func (r *reader) tar(args []value) {
	file, lists, folder := false, false, false
	for i, a := range args {
		s := a.text
		option := strings.HasPrefix(s, "-") || i == 0
		switch {
		case a.unknown && (option || i < 2):
			r.fact(Opaque, "tar with options known only when it runs")
		case folder:
			folder = false
			r.file(a, 'w')
		case option && (s == "-C" || s == "--directory"):
			folder = true
		case strings.HasPrefix(s, "--directory=") || strings.HasPrefix(s, "-C"):
			r.file(value{text: strings.TrimPrefix(strings.TrimPrefix(s, "--directory="), "-C")}, 'w')
		case slices.Contains([]string{"--list", "--verbose", "--gzip", "--create", "--extract"}, s) || strings.HasPrefix(s, "--exclude=") || strings.HasPrefix(s, "--strip-components="):
			lists = lists || s == "--list"
		case option && tarKnown.MatchString(s):
			file = file || strings.Contains(s, "f")
			lists = lists || strings.Contains(s, "t")
			if strings.Contains(s, "P") {
				r.fact(WriteOut, "what the archive names")
			}
		case option:
			r.fact(Opaque, "tar "+s)
		case file:
			file = false
			r.file(a, 'r')
			if !lists {
				r.file(a, 'w')
			}
		default:
			r.file(a, 'r')
		}
	}
	if !lists {
		r.file(value{text: "what the archive names"}, 'w')
	}
}

// otherGit judges git where its repository may be another than the project's.
func otherGit(r *reader) {
	if r.fact(Code, "git in another folder"); strays(r) {
		r.fact(Opaque, "git outside the project")
	}
}

// git walks the options before git's command, and that by the table.
func (r *reader) git(args []value) {
	defer func(before []string) { r.cwds = before }(r.cwds)
	if r.moved { // a repository planted elsewhere runs what its settings name
		otherGit(r)
	}
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch s := args[0].text; {
		case s == "-C" && len(args) > 1 && !args[1].unknown:
			r.file(args[1], 'r')
			r.cwds = r.absolute(args[1].text)
			otherGit(r)
			args = args[2:]
		case s == "-c" && len(args) > 1 && !args[1].unknown && gitQuiet.MatchString(args[1].text):
			args = args[2:]
		case slices.Contains([]string{"--no-pager", "--version", "--no-optional-locks", "-P", "--literal-pathspecs"}, s):
			args = args[1:]
		default:
			r.fact(Opaque, "git "+s)
			return
		}
	}
	if len(args) == 0 {
		return
	}
	words := append([]value{{text: "git"}}, args...)
	w, n := r.lookup(words)
	if w == nil {
		r.fact(Opaque, "git "+args[0].text)
		return
	}
	if !r.quiet {
		r.out.calls(r.at, line(words[:n]))
	}
	r.apply(w, line(words[:n]), words[n:])
}
