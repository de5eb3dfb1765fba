package rules

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	sedScript   = regexp.MustCompile(`^(\d+|\$|/[^/]*/)?(,(\+?\d+|\$|/[^/]*/))?!?[pdq=]$|^(\d+|\$|/[^/]*/)?(,(\d+|\$|/[^/]*/))?s(/[^/\n]*/[^/\n]*/|\|[^|\n]*\|[^|\n]*\||#[^#\n]*#[^#\n]*#|,[^,\n]*,[^,\n]*,)[gIip\d]*$`)
	awkRuns     = regexp.MustCompile(`system|getline|\||>|@|ENVIRON|ARGV|SYMTAB|\\\n|\bclose\b|printf?\s*\(.*\)\s*[>|]`)
	plainName   = regexp.MustCompile(`^\w+$`)
	withFile    = regexp.MustCompile(`(?s)^[\w.-]*(?::?=)?[@<](.+)`)
	scheme      = regexp.MustCompile(`^(?i)(\w+):`)
	setID       = regexp.MustCompile(`[+=][rwxXt]*s|^[2-7]\d{3}$`)
	plainRemote = regexp.MustCompile(`^[\w-]+$`)
	filterRuns  = regexp.MustCompile(`\b(input_filename|env|include|import|load\w*|eval|strenv|envsubst|getpath_file)\b|\$(ENV|__)`)
)

// take judges a value by its kind.
func (u *use) take(kind byte, v value) {
	switch kind {
	case 'e', 's':
		u.given[kind] = true
		if kind == 's' && (v.unknown || !sedScript.MatchString(v.text)) {
			u.fact(Opaque, "a script of sed")
		}
		if (u.name == "jq" || u.name == "yq") && (v.unknown || filterRuns.MatchString(v.text)) {
			u.fact(Opaque, "a filter of "+u.name)
		}
	case 'a':
		if v.unknown || awkRuns.MatchString(v.text) {
			u.fact(Opaque, "a program of awk")
		}
	case 'I':
		if u.write = true; v.unknown || strings.Contains(v.text, "/") { // the kept file is elsewhere
			u.fact(Opaque, u.name+" -i"+v.text)
		}
	case 'G':
		if named(secretPath, v.text, true) {
			u.fact(Secret, v.text)
		}
	case 'r', 'w', 'd':
		if kind == 'r' && u.write {
			kind = 'w'
		}
		u.file(v, kind)
	case 'h':
		if host, _, remote := strings.Cut(v.text, ":"); !remote || strings.Contains(host, "/") || v.unknown {
			u.file(v, 'w')
		}
	case 'm':
		u.file(v, 'r')
		u.file(v, 'w')
	case 'D':
		u.link(v)
	case 'g', 'p':
		u.revision(v, kind)
	case 'u':
		u.address(v)
	case 'o':
		if v.unknown || setID.MatchString(v.text) {
			u.fact(Priv, u.name+" "+v.text)
		}
	case 'n':
		if name, _, _ := strings.Cut(v.text, "="); v.unknown || !plainName.MatchString(name) || !harmless(name, u.Shell) && name != "REPLY" {
			u.fact(Opaque, u.name+" "+v.text)
		}
	case 'T', 'P', 'O', 'S', 'L', 'y':
		u.special(kind, v)
	case 'b':
		u.body(v)
	case 'W':
		u.effect(WriteIn)
	case 'N':
		u.perhapsPath(v)
	case 'f':
		u.script(v)
	case 'v', 'k', 'x':
		u.setting(kind, v)
	default:
		if u.row.words["loose"] && v.text == "exec" { // and what follows, whatever that is
			u.fact(Opaque, u.name+" exec")
		}
		if u.row.words["loose"] && !u.own(v.text) || u.row.words["loose"] && v.unknown {
			u.fact(Opaque, u.name+" "+v.text)
		}
	}
}

// perhapsPath judges a word of a program that its user has described: it may be a path, or have one after = or @.
func (u *use) perhapsPath(v value) {
	mode, e := byte('r'), u.row.effects
	switch {
	case len(e) == 0 || v.option():
		return
	case slices.Contains(e, WriteIn) || slices.Contains(e, WriteOut) || slices.Contains(e, Delete):
		mode = 'w'
	}
	for rest, more := v.text, true; more; {
		at := value{text: rest, unknown: v.unknown, glob: v.glob}
		if u.unknownOrWorse(at) {
			u.file(at, mode)
		}
		i := strings.IndexAny(rest, "=@")
		if more = i >= 0; more {
			rest = rest[i+1:]
		}
	}
}

// unknownOrWorse reports whether a path is not known, or none that a program may do with what it does in the project.
func (u *use) unknownOrWorse(v value) bool {
	return v.unknown || v.glob && leaves(v.text) || slices.ContainsFunc(u.absolute(v.text), func(p string) bool {
		as := u.resolved(p)
		return !within(u.Root, as) || slices.ContainsFunc([]string{as, path.Clean(p)}, func(p string) bool {
			return named(secretPath, p, v.glob) || named(guardPath, p, v.glob)
		})
	})
}

// special judges words that are harmless but in some forms.
func (u *use) special(kind byte, v value) {
	is := func(e Effect, when bool) {
		if when {
			u.fact(e, u.name+" "+v.text)
		}
	}
	switch kind {
	case 'T':
		is(Priv, !strings.HasPrefix(v.text, "+") || v.many)
	case 'O':
		is(Priv, true)
	case 'P': // the letter e of BSD adds the environment
		is(Secret, v.unknown || strings.Contains(v.text, "e") && !digits.MatchString(v.text))
	case 'S':
		is(Secret, v.unknown || secretKey.MatchString(v.text))
	case 'L':
		is(Opaque, v.unknown || strings.Contains(v.text, "extld") || strings.Contains(v.text, "toolexec"))
	case 'y':
		is(Net, strings.Contains(v.text, "@"))
		is(Opaque, v.unknown || !u.own(v.text))
	}
}

// secretKey are names under which a program keeps what is secret.
var secretKey = regexp.MustCompile(`(?i)secret|token|pass|cred|header|auth|\burl|\.key|key$`)

// body judges a text that may name a file to take its place.
func (u *use) body(v value) {
	if v.unknown {
		u.fact(Opaque, u.name+" with what is known only when it runs")
	} else if m := withFile.FindStringSubmatch(v.text); m != nil {
		for name := range strings.SplitSeq(m[1], ",") {
			name, _, _ = strings.Cut(name, ";")
			u.file(value{text: name}, 'r')
		}
	}
}

// setting judges words such as NAME=VALUE.
func (u *use) setting(kind byte, v value) {
	name, is, has := strings.Cut(v.text, "=")
	switch at := (value{text: is, unknown: v.unknown}); {
	case kind == 'v' && !v.unknown && (!has || harmless(name, u.Shell)) && !strings.ContainsAny(is, "$`;|&"):
	case kind == 'k' && has && name == "if":
		u.file(at, 'r')
	case kind == 'k' && has && name == "of":
		u.file(at, 'w')
	case kind == 'k' && has && slices.Contains(strings.Fields("bs ibs obs count skip seek status conv iflag oflag"), name):
	default:
		u.fact(Opaque, u.name+" "+v.text)
	}
}

// own reports whether a text names nothing outside the project.
func (u *use) own(s string) bool {
	if strings.Contains(s, "..") || strings.HasPrefix(s, "~") {
		return s == "..." || strings.HasSuffix(s, "/...") && u.own(strings.TrimSuffix(s, "/..."))
	}
	return !path.IsAbs(s) || within(u.Root, path.Clean(s))
}

// script judges a file that is run.
func (u *use) script(v value) {
	if v.unknown {
		u.fact(Opaque, u.name+" of what is known only when it runs")
		u.out.Downloads = u.out.Downloads || v.net
		return
	}
	if v.text == "-" || strings.HasPrefix(v.text, "/dev/") {
		u.fact(Opaque, u.name+" runs what it reads")
		u.out.Downloads = u.out.Downloads || u.net
		return
	}
	for _, p := range u.absolute(v.text) {
		u.code(p)
	}
	u.file(v, 'r')
}

// code judges a file that is run, by its path.
func (r *reader) code(p string) {
	if p = r.resolved(p); within(r.Root, p) {
		r.factAt(Code, r.shown(p), p)
	} else {
		r.fact(Opaque, r.shown(p))
	}
}

// link judges both ends of a link. What is below it later is elsewhere.
func (u *use) link(v value) {
	last := u.operands[len(u.operands)-1]
	if v != last || len(u.operands) == 1 {
		u.file(v, 'r')
		return
	}
	u.file(v, 'w')
	for _, p := range u.absolute(v.text) {
		u.links[p] = true
	}
}

// revision judges a word that git takes for a revision or a path.
func (u *use) revision(v value, kind byte) {
	rev, _, both := strings.Cut(v.text, ":")
	switch {
	case v.unknown:
		if kind == 'g' {
			u.fact(Opaque, u.name+" with options known only when it runs")
		}
	case kind == 'p' && (rev == "" && both || strings.HasPrefix(v.text, "+")):
		u.fact(Delete, v.text+" at the remote")
	case kind == 'p' && strings.Contains(v.text, "::"):
		u.fact(Opaque, u.name+" "+v.text)
	case kind == 'p' && u.operands[0] == v && !plainRemote.MatchString(v.text): // no remote of the settings
		if a, err := url.Parse(v.text); err == nil && a.Host != "" {
			u.fact(Net, a.Host)
		} else {
			u.fact(Net, v.text)
		}
	case kind == 'p':
	case path.IsAbs(v.text) || strings.HasPrefix(v.text, "../") || strings.Contains(v.text, "/../"):
		mode := byte('r')
		if slices.Contains(u.row.effects, WriteIn) { // such as the folder of a work tree
			mode = 'w'
		}
		u.file(v, mode)
	default:
		for _, part := range append(strings.FieldsFunc(v.text, func(c rune) bool { return strings.ContainsRune(":()", c) }), v.text) {
			if named(secretPath, part, true) {
				u.fact(Secret, v.text)
				break
			}
		}
	}
}

// address judges what a program of the network is told.
func (u *use) address(v value) {
	if v.unknown {
		u.fact(Opaque, u.name+" with what is known only when it runs")
		return
	}
	if strings.HasPrefix(u.name, "http") || u.name == "xh" {
		u.body(v)
	}
	if strings.Contains(v.text, "::") {
		u.fact(Opaque, u.name+" "+v.text)
	}
	a, err := url.Parse(v.text)
	switch m := scheme.FindStringSubmatch(v.text); {
	case u.name == "curl" && strings.ContainsAny(v.text, "{[") && !strings.Contains(v.text, "://["), m != nil && strings.EqualFold(m[1], "file"):
		u.fact(Opaque, u.name+" "+v.text) // which may be a file's
	case err == nil && a.Host != "":
		u.given['h'] = true
		u.fact(Net, a.Host)
	default: // it may be another host
		u.given['?'] = true
	}
}
