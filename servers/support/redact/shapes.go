package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:generate go run ./internal/rulegen v8.30.1

// shape is a kind of secret that can be told by its looks. Words are what every
// such text has in it, in lower case, separated by spaces; secret is the
// expression for it, or for what is around it with a group for the secret.
type shape struct{ name, words, secret string }

// moreShapes are those that the kept rules leave to a program's own knowledge of
// what it reads, or draw too narrowly for a log.
var moreShapes = [...]shape{
	{"sk-", "sk-", `\bsk-[A-Za-z0-9_-]{12,}`},
	{"GitHub", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", `\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{16,}`},
	{"GitLab", "glpat-", `\bglpat-[A-Za-z0-9_-]{16,}`},
	{"signed address", "sig= signature=", `(?i)\b(?:sig|signature)=([A-Za-z0-9%+/=_-]{32,})`},
	{"Vault", "hvs. hvb.", `\bhv[sb]\.[\w-]{20,}`},
	{"AWS", "akia asia", `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`},
}

// wideShapes are those of more than one word.
var wideShapes = [...]shape{
	{"scheme", "bearer basic", `(?i)^(?:bearer|basic)[ \t]+([A-Za-z0-9._~+/-]{6,}=*)`},
	{"address", "://", `^://([^\s:/?#@"'<>\\]*:[^\s/"'<>\\]+|[^\s:/?#@"'<>\\]{16,})@`},
	{"host", "@", `(?:^|[\s"'=(,])[\w.+-]+:([^\s:@/"'\\]{3,})@(?:[\w-]+(?:\.[\w-]+)*\.[A-Za-z][\w-]*|\d+\.\d+\.\d+\.\d+|[A-Za-z][\w-]*)`},
	{"curl", "curl", `\bcurl\b.*?\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"']*:([^\s"']+)`},
	// Options of programs that take a password under a letter.
	{"sshpass", "sshpass", `\bsshpass\b[^|;&]*?\s-p[ =]?["']?([^\s"']+)`},
	{"mysql", "mysql mariadb", `\b(?:mysql|mariadb)[\w-]*\b[^|;&]*?\s-p["']?([^\s"']+)`},
	{"mongo", "mongo", `\bmongo\w*\b[^|;&]*?\s-p[ =]?["']?([^\s"']+)`},
	{"login", "docker podman nerdctl buildah skopeo helm oras az", `\b(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|az)\s[^|;&]*?\blogin\b[^|;&]*?\s-p[ =]?["']?([^\s"']+)`},
	{"redis", "redis-cli", `\bredis-cli\b[^|;&]*?\s-a ?["']?([^\s"']+)`},
	{"samba", "smbclient", `\bsmbclient\b[^|;&]*?\s-U ?["']?[^\s"'%]+%([^\s"']+)`},
	{"ldap", "ldap", `\bldap(?:search|modify|add|delete|passwd|whoami|compare)\b[^|;&]*?\s-w ?["']?([^\s"']+)`},
	{"sqlcmd", "sqlcmd", `\bsqlcmd\b[^|;&]*?\s-P ?["']?([^\s"']+)`},
	{"zip", "zip unzip", `\b(?:un)?zip\b[^|;&]*?\s-P ?["']?([^\s"']+)`},
	{"7z", "7z", `\b7z[ar]?\b[^|;&]*?\s-p["']?([^\s"']+)`},
	{"netrc", "machine", `^machine\s+\S+\s+(?:(?:login|account)\s+\S+\s+){0,2}password\s+(\S+)`},
	{"netrc", "default", `^default\s+login\s+\S+\s+password\s+(\S+)`},
	{"netrc", "login", `^login\s+\S+\s+(?:account\s+\S+\s+)?password\s+([^\s"']*[0-9A-Z_/+!$%-][^\s"']*)`},
	{"SQL", "password identified", `(?i)^(?:password|identified(?:[ \t]+with[ \t]+\S+)?[ \t]+by)[ \t]+'([^']+)'`},
	{"said", "password passphrase", "(?i)^(?:password|passphrase) is[: ]+[\"'`]?([^\\s\"'`]*[0-9][^\\s\"'`]*)"},
	{"set", "env set setx setenv", `(?i)^(?:env|set|setx|setenv)[ \t]+[\w.:/-]*(?:passw(?:or)?d|secret|token|api_?key|credential)[\w.-]*[ \t]+["']?(?-i:([^\s"'=]*[0-9A-Z_/+!$%-][^\s"'=]*))`},
	{"httpie", "httpie http https xh xhs", `^(?:httpie|https?|xhs?)[ \t](?:[^|;&]*?[ \t])?(?:-a|--auth)[ =]?["']?[^\s:"']+:([^\s"']+)`},
	{"httpie", "httpie http https xh xhs", `^(?:httpie|https?|xhs?)[ \t](?:[^|;&]*?[ \t])?(?:-A|--auth-type)[ =]?bearer[ \t](?:[^|;&]*?[ \t])?(?:-a|--auth)[ =]?["']?([^\s"']+)`},
	// What is written into a program that reads its password there.
	{"piped", "echo printf", `^(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)*(?:["']?%s(?:\\n)?["']?[ \t]+)?(?:"([^"]+)"|'([^']+)'|([^\s"'|;&]+))[ \t]*\|[ \t]*` +
		`(?:sudo[ \t](?:[^|;&]*?[ \t])?(?:-[A-Za-z]*S[A-Za-z]*|--stdin)(?:[\s"']|$)|(?:sudo[ \t]+)?(?:chpasswd\b|passwd[ \t]+--stdin)|[^|;&]*?[ \t]--(?:password-stdin|with-token)\b)`},
	{"here", "sudo", `^sudo[ \t](?:[^|;&]*?[ \t])?(?:-[A-Za-z]*S[A-Za-z]*|--stdin)[ \t][^|;&]*?<<<[ \t]*(?:"([^"]+)"|'([^']+)'|([^\s"'|;&]+))`},
	{"openssl", "openssl", `\bopenssl\b[^|;&]*?\s-k ["']?([^\s"']+)`},
}

const (
	leastRun = 15   // letters, digits and signs in one piece that a secret has
	mostRun  = 4096 // of one that is looked at
)

// window returns the part of text to search for a wide shape whose word is at a
// place.
func (sh shape) window(text string, at int) (w span, ok bool) {
	w = span{at, min(len(text), at+mostRun)}
	switch sh.name {
	case "scheme":
		end := at + len("basic")
		if text[at+1]|' ' == 'e' {
			end = at + len("bearer")
		}
		return w, end < len(text) && (text[end] == ' ' || text[end] == '\t') && (at == 0 || !isNameByte(text[at-1]))
	case "address":
		n := strings.IndexAny(text[at+3:w.to], " \t\r\n/\"'<>\\")
		if n >= 0 {
			w.to = at + 3 + n
		}
		return w, strings.IndexByte(text[at:w.to], '@') >= 0
	case "netrc":
		w.to = min(len(text), at+512)
		return w, at == 0 || !isNameByte(text[at-1])
	case "host":
		w.from = max(0, at-256)
		w.from += strings.LastIndexAny(text[w.from:at], " \t\r\n\"'") + 1
		if n := strings.IndexAny(text[at:w.to], " \t\r\n\"'"); n >= 0 {
			w.to = at + n
		}
		return w, strings.IndexByte(text[w.from:at], ':') >= 0
	case "httpie": // not each address
		rest := strings.TrimLeft(text[at+2:min(w.to, at+8)], "tpies")
		if rest == "" || rest[0] != ' ' && rest[0] != '\t' {
			return w, false
		}
	}
	if n := strings.IndexByte(text[at:w.to], '\n'); n >= 0 {
		w.to = at + n
	}
	return w, at == 0 || !isNameByte(text[at-1])
}

// run returns the piece without spaces and quotes that a place is in.
func run(text string, at int) (s span, ok bool) {
	in := func(b byte) bool { return isNameByte(b) || strings.IndexByte("~+/=:@%", b) >= 0 }
	s = span{at, at}
	for s.from > 0 && at-s.from < mostRun && in(text[s.from-1]) {
		s.from--
	}
	for s.to < len(text) && s.to-at < mostRun && in(text[s.to]) {
		s.to++
	}
	return s, s.to-s.from >= leastRun
}

// search is the shapes by the words that they need.
type search struct {
	starts [1 << 16]uint16 // by the first two signs, in lower case: where in words those are that begin so; 0 for none
	words  [][]word
	look   []func() *regexp.Regexp
}

type word struct {
	text  string
	shape int
}

// span is a part of a text.
type span struct{ from, to int }

// narrow is where the wide shapes begin.
const narrow = len(shapes) + len(moreShapes)

// theSearch is made on first use: most processes see no text to search.
var theSearch = sync.OnceValue(func() *search {
	s := &search{words: [][]word{nil}}
	for i, sh := range slices.Concat(shapes[:], moreShapes[:], wideShapes[:]) {
		s.look = append(s.look, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(sh.secret) }))
		for w := range strings.FieldsSeq(sh.words) {
			if len(w) > 1 {
				s.add(w[0], w[1], word{w, i})
				continue
			}
			for b := range 256 { // what follows may be anything
				if byte(b)|' ' == byte(b) {
					s.add(w[0], byte(b), word{w, i})
				}
			}
		}
	}
	return s
})

func (s *search) add(a, b byte, w word) {
	at := &s.starts[uint16(a|' ')<<8|uint16(b|' ')]
	if *at == 0 {
		*at = uint16(len(s.words))
		s.words = append(s.words, nil)
	}
	s.words[*at] = append(s.words[*at], w)
}

// find returns where the shapes are in a text.
func (s *search) find(text string) []span {
	var found []span
	var searched map[int]int // by shape: to where
	for i := range len(text) - 1 {
		// With a bit that tells capitals, and other signs that seldom meet.
		for _, w := range s.words[s.starts[uint16(text[i]|' ')<<8|uint16(text[i+1]|' ')]] {
			if i < searched[w.shape] || len(text)-i < len(w.text) || !strings.EqualFold(text[i:i+len(w.text)], w.text) {
				continue
			}
			var in span
			var ok bool
			if w.shape < narrow {
				in, ok = run(text, i)
			} else {
				in, ok = wideShapes[w.shape-narrow].window(text, i)
			}
			if !ok {
				continue
			}
			if from := s.look[w.shape]().String(); from[0] != '^' { // else only what is at i was searched
				if searched == nil {
					searched = map[int]int{}
				}
				searched[w.shape] = in.to
			}
			found = s.match(found, text, w.shape, in)
		}
	}
	return found
}

// match adds what a shape finds in a part of text.
func (s *search) match(found []span, text string, shape int, in span) []span {
	for _, m := range s.look[shape]().FindAllStringSubmatchIndex(text[in.from:in.to], -1) {
		sp := span{in.from + m[0], in.from + m[1]}
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] >= 0 {
				sp = span{in.from + m[g], in.from + m[g+1]}
				break
			}
		}
		if !excused(text, sp) {
			found = append(found, sp)
		}
	}
	return found
}

// excused reports whether what was found is only an English word after "bearer" or
// "basic", or an address of a kind that has no password.
func excused(text string, s span) bool {
	found, lead := text[s.from:s.to], text[max(0, s.from-16):s.from]
	if isReference(found) || isPlace(text, s) {
		return true
	}
	if end := strings.TrimRight(lead, " \t"); end != lead {
		if e := strings.ToLower(end); strings.HasSuffix(e, "bearer") || strings.HasSuffix(e, "basic") {
			return isEnglish(found)
		}
	}
	if strings.HasPrefix(text[s.to:], "@sha256:") { // of an image
		return true
	}
	if scheme, ok := strings.CutSuffix(lead, ":"); ok {
		for _, s := range [...]string{"mailto", "acct", "sip", "sips", "xmpp", "npm", "workspace"} {
			if strings.HasSuffix(scheme, s) {
				return true
			}
		}
	}
	return false
}

// isPlace reports whether it only looks like a user, a password and a host: a line of
// a file as of a commit (file.ts:12@HEAD), a file of a commit (HEAD:file@x).
func isPlace(text string, s span) bool {
	lead, ok := strings.CutSuffix(text[max(0, s.from-256):s.from], ":")
	if !ok || s.to == len(text) || text[s.to] != '@' {
		return false
	}
	lead = lead[strings.LastIndexAny(lead, " \t\r\n\"'=(,")+1:]
	dot := strings.LastIndexByte(lead, '.')
	return lead == "HEAD" || isNumber(text[s.from:s.to]) && dot > 0 && len(lead)-dot <= 5
}

// isEnglish reports whether s is letters, the first at most a capital.
func isEnglish(s string) bool {
	s = strings.TrimRight(s, ".")
	for i, r := range s {
		if !(r >= 'a' && r <= 'z' || r == '-' && i > 0 || i == 0 && r >= 'A' && r <= 'Z') {
			return false
		}
	}
	return true
}

// keys finds blocks of private keys, to the end of the text where theirs is
// missing.
func keys(text string) []span {
	var found []span
	for at := 0; ; {
		i := strings.Index(text[at:], "-----BEGIN ")
		if i < 0 {
			return found
		}
		at += i + len("-----BEGIN ")
		kind, _, ok := strings.Cut(text[at:min(len(text), at+80)], "-----")
		if !ok || !strings.Contains(kind, "PRIVATE KEY") {
			continue
		}
		from, to := at+len(kind)+len("-----"), len(text)
		if end := strings.Index(text[from:], "-----END "); end >= 0 {
			to = from + end
		}
		found = append(found, span{from, to})
		at = to
	}
}

// hide replaces the spans of text.
func hide(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s.to <= at {
			continue
		}
		if s.from >= at && (s.from > at || at == 0) {
			b.WriteString(text[at:s.from])
			b.WriteString(hidden)
		}
		at = s.to
	}
	b.WriteString(text[at:])
	return b.String()
}
