package rules

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// maker makes texts of shells at random.
type maker struct {
	*rand.Rand
	all bool // that bash knows
}

func (m maker) of(all ...string) string { return all[m.IntN(len(all))] }

// command makes a command of programs that are not there, so that it does nothing.
func (m maker) command(depth int) string {
	if depth <= 0 {
		return m.simple(0)
	}
	a := func() string { return m.command(depth - 1) }
	if m.all && m.IntN(2) == 0 {
		return m.rare(depth, a)
	}
	switch m.IntN(24) {
	case 0:
		return a() + " | " + a()
	case 1:
		return a() + " && " + a()
	case 2:
		return a() + " || " + a()
	case 3:
		return a() + "; " + a()
	case 4:
		return a() + "\n" + a()
	case 5:
		return a() + " & " + a()
	case 6:
		return "{ " + a() + "\n}"
	case 7:
		return "( " + a() + "\n)"
	case 8:
		return "if " + a() + "\nthen " + a() + "\nelse " + a() + "\nfi"
	case 9:
		return "for i in 1 2; do " + a() + "\ndone"
	case 10:
		return "case " + m.word(depth-1) + " in " + m.of("a", "*", "a|b", "(a)", "[ab]") + ") " + a() + "\n;; *) " + a() + m.of("\n;;", "\n;&", "\n;;&", "\n") + "\nesac"
	case 11:
		f := m.of("f", "g", "ls", "rm")
		return f + "() { " + a() + "\n}; " + f
	case 12:
		return "! " + a()
	case 13:
		return "cat <<" + m.of("E", "'E'", "-E", `\E`) + m.of("", " | "+m.simple(0)) + "\n" + m.of("a", "$("+a()+"\n)", "`rm x`", "\\$(rm x)", "'", "${x:-$(rm y)}") + "\nE\n" + a()
	case 14:
		return a() + " # " + m.of("rm x", "'", "\\", "$(") + "\n" + a()
	case 15:
		return "while " + m.of("false", "rm") + "; do " + a() + "\ndone"
	case 16:
		return "eval " + quote(a())
	case 17:
		return "[[ " + m.word(depth-1) + m.of(" == ", " < ", " && ", " =~ ") + m.word(depth-1) + " ]]"
	}
	return m.simple(depth - 1)
}

func (m maker) simple(depth int) string {
	if m.all && m.IntN(2) == 0 {
		return m.known(depth)
	}
	s := m.of("", "", "", "x=a ", "LANG=C ") + m.of("ls", "cat", "rm", "touch", "grep", "wc", "cp", `r\m`, `"rm"`, "r''m", "to\\\nuch")
	for range m.IntN(3) {
		s += " " + m.word(depth)
	}
	return s + m.of("", "", "", "", " 2>&1", " > /dev/null", " 2>/dev/null", " <<< "+m.word(0), " >& /dev/null", " &> /dev/null")
}

func (m maker) word(depth int) string {
	if depth > 0 {
		a := func() string { return m.command(depth - 1) }
		if m.all && m.IntN(2) == 0 {
			return m.substituted(a)
		}
		switch m.IntN(9) {
		case 0:
			return "$(" + a() + "\n)"
		case 1:
			return `"b $(` + a() + "\n)\""
		case 2:
			return "${y:-$(" + a() + "\n)}"
		case 3:
			return "<(" + a() + "\n)"
		case 4:
			return "`touch x`"
		}
	}
	return m.of("a", "b.txt", "'c d'", `"e"`, `f\ g`, "$x", `"$x"`, "a#b", "$((1+2))", "{a,b}", "*", "~", `"'"`, `'"'`, `\"`, `\'`, "$'a\\'b'", "-n", "--", "=a", "a=b", "${x}", "${#x}", "${x%a}", "!", "]", "$", "a\\\nb")
}

// elsewhere are paths of the system but /dev/null: a text that has one may write there.
var elsewhere = regexp.MustCompile(`(^|[^\w.~/])/|\$[^P]\w*/|//|/dev/null[^\s)};&|]`)

// blurred changes a few characters of a text.
func (m maker) blurred(text string) string {
	const marks = "'\"\\$`(){}[]<>|&;#!\n \t=*?~-"
	s := text
	for range m.IntN(4) {
		i := m.IntN(len(s) + 1)
		switch j := min(len(s), i+1+m.IntN(3)); m.IntN(4) {
		case 0:
			s = s[:i] + s[j:]
		case 1:
			s = s[:j] + s[i:]
		default:
			k := m.IntN(len(marks))
			s = s[:i] + marks[k:k+1] + s[i:]
		}
	}
	if elsewhere.MatchString(strings.ReplaceAll(s, "/dev/null", "")) || elsewhere.MatchString(strings.ReplaceAll(s, " /dev", " dev")) {
		return text
	}
	return s
}

// rare makes a command of a kind that is rarely written; a makes one in it.
func (m maker) rare(depth int, a func() string) string {
	w := func() string { return m.word(depth - 1) }
	switch m.IntN(32) {
	case 0:
		return a() + " |& " + a()
	case 1:
		return "until " + a() + "\ndo " + a() + "; break\ndone"
	case 2:
		return "select i in " + w() + "; do " + a() + "; break\ndone <<< 1"
	case 3:
		return "for ((i=0; i<" + m.of("1", "2", "$(("+m.of("1", "i")+"))") + "; i++)); do " + a() + "\ndone"
	case 4:
		return "for i" + m.of("", " in", "; do :; done; for i in "+w()) + m.of("; do ", "\ndo ") + a() + "\ndone"
	case 5:
		return "for i in a b; { " + a() + "\n}"
	case 6:
		return "if " + a() + "\nthen :\nelif " + a() + "\nthen " + a() + "\nfi"
	case 7:
		return "case " + w() + " in " + m.of("", "(") + w() + ") " + a() + m.of(" ;;", " ;&", "") + "\nesac"
	case 8:
		return "function " + m.of("f", "f-g", "rm", "cat") + m.of(" ", "() ") + m.of("{ "+a()+"\n}", "( "+a()+"\n)", "{ "+a()+"\n} > z") + "\n" + m.of("f", "f-g", "rm", "cat x")
	case 9:
		return "f() " + m.of("( "+a()+"\n)", "if "+a()+"\nthen :; fi", "for i in 1; do "+a()+"\ndone", "[[ -n "+w()+" ]]", "case a in a) "+a()+";; esac") + "\nf " + w()
	case 10:
		return "time " + m.of("", "-p ", "-- ") + a()
	case 11:
		return "! " + m.of("", "! ", "time ", "time ! ") + a()
	case 12:
		return m.of("coproc ", "coproc N ") + m.of("{ "+a()+"\n}", m.simple(0))
	case 13:
		return "[[ " + m.of("", "! ", "-n ", "-e ") + w() + m.of("", " && ( "+w()+" == "+w()+" || -z "+w()+" )", " =~ ^("+w()+")$", " -nt "+w(), " -eq 1", " != @(a|b)") + " ]] " + m.of("&&", "||") + " " + a()
	case 14:
		return "((" + m.of("1", "i++", "i=1, 2", "1 ? 2 : 3", "1 << 2", "x", "a[1]") + ")) " + m.of("&&", "||", ";") + " " + a()
	case 15:
		return "let " + m.of("i=1", "'i = 1'", `"a[$(rm x)]=1"`, "i++") + m.of(" && ", "; ") + a()
	case 16:
		return "{ " + a() + "; } " + m.of("> z", "2>&1", "< /dev/null", ">> z 2>&1", "&> z", "<<< "+w(), "> "+w())
	case 17:
		return "( " + a() + " ) " + m.of("> z", "2> z", "&", "| cat", "<<E\n$(rm a)\nE\n")
	case 18:
		return "cat " + m.of("<<A <<B", "<<A <<-B", "<<'A' <<B", "3<<A <<B") + m.of("", "; "+m.simple(0), " | "+m.simple(0), " && {") + "\n" + m.of("a", "`rm x`", "\\", "\\\\$(rm)") + "\nA\n" + m.of("b", "$(touch x)", "$(cat <<C\n$(rm)\nC\n)", "${x:-`rm`}") + "\nB\n" + m.of("", a(), "}")
	case 19:
		return "cat <<-E\n\t" + m.of("$("+a()+"\n)", "a", `\$(rm)`, "${x#`rm`}") + "\n\tE\n" + a()
	case 20:
		return "trap " + quote(a()) + " " + m.of("EXIT", "0", "ERR", "DEBUG", "RETURN", "USR1") + "; " + a()
	case 21:
		return "eval " + m.of(quote(a()), "rm "+w(), `ls "; `+m.of("rm", "cat")+` x"`, "ls '&&' rm", `"$(`+a()+`)"`, `'r''m' x`, "'' rm", "-- rm x", "{ rm x; }", "'cat <<E' $'\\n' a")
	case 22:
		return m.of("set -- rm x; ", "set -e; ", "set -f; ", "set +e -u; ", "shift; ", "p=rm; ", "p=l q=s; ", "p=rm; p=ls; ", "(p=rm); ", "p=rm && ", "readonly p=cat; ", "export p=rm; ", "p=r; p+=m; ", ": ${p:=rm}; ") +
			m.of("$p x", "\"$p\" x", "${p} x", "$p$q", "${p}m x", `"$@"`, "$1 x", "${p:-rm} x", "${q-cat} x", "${p#r} x", "command $p x", "f() { $p x; }; f", "p=cat $p x", "eval $p x", `eval '$p' x`)
	case 23:
		return "for p in " + m.of("rm ls", "rm", "$p rm", "r*", "{rm,ls}", "rm; do p=cat; done; for p in ls") + "; do " + m.of("$p x", `"$p"`, "${p}x", "${p%m}m", a()) + "; done; $p y"
	case 24:
		return "f() { " + m.of("p=rm", "local p=rm", "unset -f g", "g() { cat x; }", "return; rm x", "shift", "\"$@\"") + "; }; " + m.of("p=ls; ", "g() { ls; }; ", "") + m.of("f", "(f)", "f | cat", "f &", "if f; then :; fi") + "; " + m.of("$p x", "g", "f rm x", a())
	case 25:
		return m.of("command ", "builtin ", "command -p ", "command -- ", "command -v ", "exec ", "command command ", "builtin eval ", "command eval ", "builtin command ") + m.simple(0)
	case 26:
		return m.of("cd sub", "cd sub && cd .", "cd -", "cd", "cd nowhere", "cd ./sub", "pushd sub", "CDPATH=. cd sub", "cd sub | :", "(cd sub)") + m.of("; ", " && ", " || ", "\n", " & ") + m.of("", ": ") + m.of("> z", ">> z", "&> z", ">| z", "2> z", "<> z", "> ./z", `> "$PWD/z"`, "> $p", ">z2>y", "> 'a b'", "1>&z", ">&z")
	case 27:
		return m.of("> z", "2>&1 > z", "{fd}> z", "9> z", ">&2 > z", "< /dev/null > z", "> z < nowhere", "> y > z") + m.of("", " ") + m.of("", m.simple(0), "ls", "x=a")
	case 28:
		return m.of("x=1 ", "a=(rm $(touch x)) ", "a[$(rm x)]=1 ", "declare a=1 ", "declare -a a=(1 $(rm)) ", "local x ", "export x=$(rm x) ", "x=`rm a` ", "readonly y ", "typeset -i i=1 ") + m.of("; ", "\n", "&& ") + a()
	case 29:
		return m.of("read x", "read -r x y", "read p", "mapfile -t a", "printf -v p rm", "getopts ab p -a", "wait -n") + m.of(" <<< rm", " < <("+a()+")", " < /dev/null", "") + "; " + m.of("$p", "${a[0]} x", "$x", a())
	case 30:
		return a() + m.of(" ; ", " &\n", ";\n\n", " && \\\n", " |\n# a'b\n", " ||\n\n", ";#'\n", " # \\\n", "\n#{\n", " && # `\n") + a()
	}
	return a() + m.of(" &> z", " >&z", " &>> z", " <> z", " > >(cat)", " 2> >("+m.simple(0)+")", " < <("+m.simple(0)+")", " >| z", " 3>&1 1>&2 2>&3", " <&-", " >&-", " 2>&1-") + m.of("", " | "+a())
}

// known makes a command with what bash itself has, or with several things before its name.
func (m maker) known(depth int) string {
	s := m.of("echo", "printf %s", "test", "[", ":", "true", "type", "pwd", "let", "read", "hash", "wait", "exit", "return", "break", "unset", "shift", "declare", "export", "jobs", "umask", "alias", "command", "dirs")
	for range m.IntN(3) {
		s += " " + m.word(depth)
	}
	if strings.HasPrefix(s, "[") {
		s += " ]"
	}
	return m.of("", "", "", "x=a y=b ", "x=$(rm x) ", "> /dev/null ", "2>&1 x=1 ", "x=~ ", "LC_ALL=C ", `x="a b" `, "x= ", "< /dev/null ") + m.of(s, s, "rm", "cat x", "to''uch x", "$'rm'", `$"rm" x`, `\rm`, `r\
m x`, "{rm,x}", "r[m]", "r?", "./rm", "~/rm", "rm\tx") + m.of("", "", "", " > z", " >> z", " 2> y", " &> z", " >& z", " > "+m.word(0), " <> z", " >|z", " > a b > c")
}

// substituted makes a word of which a part is put in when the text runs.
func (m maker) substituted(a func() string) string {
	switch m.IntN(26) {
	case 0:
		return `"$(` + a() + `)"`
	case 1:
		return "$( " + a() + " )"
	case 2:
		return "`" + m.of("rm x", `echo \`+"`rm x\\`", "ls # a\n", `echo \$(rm)`, `echo "\$(rm x)"`, "echo 'a", `rm \\x`) + "`"
	case 3:
		return "\"`" + m.of("rm x", `echo \"a\"; rm`, `echo 'b'; cat`) + "`\""
	case 4:
		return `"${x:-"$(` + a() + `)"}"`
	case 5:
		return `"${x:-'$(` + a() + `)'}"`
	case 6:
		return "${x:-" + m.of("'$(rm)'", `"$(rm)"`, "`rm`", `\$(rm)`, "$(rm x)$(cat)", "${y:-$(rm)}", "a b", "'}'$(rm)", `"}"$(cat)`, `\}$(rm)`, "<(rm)", "{$(rm)}") + "}"
	case 7:
		return "${x" + m.of("/", "//", "/#", "/%") + m.of("a", "$(rm)", "'/'", `\/`) + "/" + m.of("$(cat x)", "b", "'$(rm)'") + "}"
	case 8:
		return "${x" + m.of("#", "##", "%", "%%", "^", "^^", ",", ",,") + m.of("a", "$(rm)", "*", "[$(cat)]", "'$(rm)'") + "}"
	case 9:
		return "${x:" + m.of("1", "$(rm)", "0:1", " -1", "1:$(cat)", "x") + "}"
	case 10:
		return "${" + m.of("x", "!x", "x@Q", "x@P", "#a[@]", "a[0]", "a[$(rm)]", "a[@]", "!a[@]", "!x@", "@", "*", "1", "10", "#", "?", "x:?$(rm)", "x:+$(rm x)", "x:=$(cat)") + "}"
	case 11:
		return "$((" + m.of("1", "$(rm)", "x", "`rm`", "1 + ${x:-$(cat)}", "(1)", "a[0]", "$x + 1", "1)+(2") + "))"
	case 12:
		return "$[1+" + m.of("1", "$(rm)") + "]"
	case 13:
		return ">(" + a() + ")"
	case 14:
		return "<( " + a() + " )"
	case 15:
		return "{a,$(" + a() + ")}"
	case 16:
		return "$(<" + m.of("x", "$(rm)", "/dev/null") + ")"
	case 17:
		return "$(cat <<E\n" + m.of("a", "$(rm)", ")", "'", "`rm`") + "\nE\n)"
	case 18:
		return "$(case a in " + m.of("a", "(a", "a|b") + ") " + a() + " ;; esac)"
	case 19:
		return "$(" + m.of("# )\n", "# '\n", "#\n", "echo '#)'; ", `echo "#)"; `, "(", "((1)); ", "( (") + a() + m.of(")", "\n)", "))", " ))")
	case 20:
		return m.of("a", "'b'", `"c`+"d\"", `\"`, "$x") + "$(" + a() + ")" + m.of("e", "'f'", "#", "$")
	case 21:
		return m.of("@(a|b)", "!(x)", "*(a)", "+($(rm))", "?(a)")
	case 22:
		return m.of(`$'a\'b$(rm)'`, `$'\x27'`, `$"a $(rm)"`, `$"`+"`rm`\"", `'a'\''$(rm)'`, `"a\"$(rm)"`, `"\$(rm)"`, `"\\$(rm)"`, `"\`+"`rm\\`\"", `$'\\'$(rm)`, `'$(rm)'`, "$'$(rm)'")
	case 23:
		return "a=" + m.of("~", "$(rm)", "(", "<(rm)", "'('", "{a,b}")
	case 24:
		return m.of("#a", "a#$(rm)", "''#$(rm)", `""#`, "$x#$(rm)", "$(rm)#", "{#$(rm)}", "`rm`#a", `\#$(rm)`)
	}
	return "\\\n" + "$(\\\n" + a() + "\\\n)"
}
