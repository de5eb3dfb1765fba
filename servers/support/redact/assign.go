package redact

import (
	"strings"
	"unicode/utf8"
)

// assigned finds the values that a text gives to names of secrets: NAME=value in
// a command, "name": "value", a line of YAML, a header, an option and its value.
func assigned(text string, plainTokens bool) []span {
	var found []span
	for i := 0; i < len(text); i++ {
		var v span
		switch text[i] {
		case '=', ':':
			v = assignment(text, i, plainTokens)
		case '-':
			v = option(text, i)
		case '>':
			v = element(text, i, plainTokens)
		case ',':
			v = second(text, i)
		default:
			continue
		}
		if v.to > v.from {
			found = append(found, v)
			i = v.to - 1
		}
	}
	return found
}

// assignment returns the value after the sign at i, if what is before it names a
// secret.
func assignment(text string, i int, plainTokens bool) span {
	sign := text[i]
	end := i
	if sign == '=' && end > 0 && text[end-1] == ':' {
		end--
	}
	for end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') && i-end < 8 {
		end--
	}
	spaced := end < i
	end, quoted := unquote(text, end)
	start := startOfName(text, end)
	if sign == '=' && start > 0 && start < end {
		if n := beforeType(text, start); n > 0 && !secretName(text[start:end], false) {
			start, end = startOfName(text, n), n
		}
	}
	name := text[start:end]
	if sign == '=' && start > 0 && (text[start-1] == '?' || text[start-1] == '&') { // of an address
		plainTokens = false
		v, _ := value(text, i+1)
		if got := text[v.from:v.to]; isQueryKey(name) && !isReference(got) && (len(got) >= 16 || len(got) >= 6 && strings.ContainsAny(got, "0123456789")) {
			return v
		}
	}
	plain := plainTokens && isPlain(name)
	if name == "" || !secretName(name, plainTokens && !plain) || sign == ':' && strings.HasPrefix(name, "--") { // a property of CSS
		return span{}
	}
	at := i + 1
	header := isHeader(name) && sign == ':' && at < len(text) && text[at] != '='
	if at < len(text) && (text[at] == '=' && sign == '=' || text[at] == '~' || text[at] == ':') {
		return span{}
	}
	if at < len(text) && (text[at] == '>' || text[at] == '=') {
		at++
	}
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	if v := block(text, at); sign == ':' && v.to > 0 {
		return v
	}
	first := quoted || atLineStart(text, start)
	v, inQuotes := value(text, at)
	if other, ok := otherwise(text, v); ok && !inQuotes {
		v, inQuotes = other, true
	}
	if !inQuotes && header {
		v.to = endOfHeader(text, start, at)
	}
	got := text[v.from:v.to]
	switch {
	case inQuotes && !quoted && isInside(text, start, text[v.from-1]):
		return span{} // the quotes end here: "Password: "
	case sign == ':' && (isLexeme(name, got) || isLabel(name, got)), plain && !isRandom(got):
		return span{}
	case inQuotes && !isReference(got):
		if isTypeWord(got) || isSentence(got) || isHeader(name) && isReference(afterScheme(got)) {
			return span{}
		}
		return v
	case inQuotes || got == "" || isReference(got) || isType(strings.Trim(got, ";,")) || strings.IndexByte("{[(", got[0]) >= 0 && len(got) == 1:
		return span{}
	case header && first:
		if isCookie(name) && !strings.Contains(got, "=") || isReference(afterScheme(got)) {
			return span{}
		}
		return v
	case isKeyword(text, v) || !isVariable(name) && isName(strings.TrimRight(got, "},;")):
		return span{}
	case strings.HasSuffix(name, "tokens") && isNumber(got): // so many
		return span{}
	case v.to < len(text) && (text[v.to] == '(' || text[v.to] == '[') || (spaced || sign == ':') && isMember(got):
		return span{}
	case (name == "pwd" || name == "Pwd") && strings.ContainsAny(got[:1], "/~."):
		return span{}
	case sign == ':' && !quoted:
		alone := v.to == len(text) || text[v.to] == '\n' || text[v.to] == '\r' || closes(text, v.to)
		if isNumber(got) && strings.EqualFold(name, "pass") || !(first && alone || !isEnglish(got) && strings.ContainsAny(got, "0123456789")) {
			return span{}
		}
	}
	return v
}

// startOfName is where the name begins that ends at a place.
func startOfName(text string, end int) int {
	start := end
	for start > 0 && end-start < 100 && (isNameByte(text[start-1]) || text[start-1] >= utf8.RuneSelf) {
		start--
	}
	return start
}

// beforeType is where the name ends that a type at a place belongs to, name: type = value;
// 0 for none.
func beforeType(text string, start int) int {
	at := strings.TrimRight(text[max(0, start-4):start], " &")
	if !strings.HasSuffix(at, ":") {
		return 0
	}
	return max(0, start-4) + len(at) - 1
}

// isInside reports whether a place is between the quotes of a text that began in its line.
func isInside(text string, at int, quote byte) bool {
	line := text[max(0, at-200):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	inside := false
	for i := range len(line) {
		switch {
		case line[i] != quote:
		case inside:
			inside = false
		default: // an apostrophe begins nothing
			inside = i == 0 || !isNameByte(line[i-1])
		}
	}
	return inside
}

// isLexeme reports whether got is what a parser calls a token: a word, which no token that opens
// something is.
func isLexeme(name, got string) bool {
	return name == "token" && len(got) > 2 && isEnglish(got)
}

// isSentence reports whether s is said to somebody.
func isSentence(s string) bool {
	return strings.Count(s, " ") > 1 && s[0] >= 'A' && s[0] <= 'Z' && strings.IndexByte(".!?", s[len(s)-1]) >= 0 ||
		strings.Count(s, " ") > 4 && s[0] >= 'A' && s[0] <= 'Z'
}

// otherwise returns what stands for a value that may be missing: a || "b".
func otherwise(text string, v span) (span, bool) {
	for _, or := range [...]string{" || ", " ?? ", " or "} {
		if at := v.to + len(or); at < len(text) && strings.HasPrefix(text[v.to:], or) {
			return value(text, at)
		}
	}
	return span{}, false
}

// second returns the value after a name, both in quotes: f("name", "value").
func second(text string, i int) span {
	end, quoted := unquote(text, i)
	if !quoted {
		return span{}
	}
	start := startOfName(text, end)
	if start == end || start == 0 || text[start-1] != text[i-1] || !secretName(text[start:end], false) {
		return span{}
	}
	for i++; i < len(text) && text[i] == ' '; {
		i++
	}
	v, inQuotes := value(text, i)
	if got := text[v.from:v.to]; !inQuotes || isReference(got) || !strings.ContainsAny(got, "0123456789") || strings.Contains(got, " ") {
		return span{}
	}
	return v
}

// block returns the lines below a name in YAML that end with | or >.
func block(text string, at int) span {
	if at == len(text) || text[at] != '|' && text[at] != '>' {
		return span{}
	}
	n := strings.IndexByte(text[at:], '\n')
	if n < 0 || strings.Trim(text[at+1:at+n], "+-0123456789 \r") != "" {
		return span{}
	}
	from := at + n + 1
	rest := text[from:]
	indent := len(rest) - len(strings.TrimLeft(rest, " "))
	if indent == 0 {
		return span{}
	}
	to := from
	for line := range strings.Lines(rest) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, rest[:indent]) {
			break
		}
		to += len(line)
	}
	return span{from + indent, from + len(strings.TrimRight(text[from:to], "\r\n "))}
}

// isKeyword reports whether v is a word of a programming language that something follows.
func isKeyword(text string, v span) bool {
	if v.to == len(text) || text[v.to] != ' ' {
		return false
	}
	switch text[v.from:v.to] {
	case "await", "new", "not", "typeof", "yield", "function", "func", "lambda", "async", "move", "return":
		return true
	}
	return false
}

// isName reports whether s is the name of a secret in the place of one: token: accessToken.
func isName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && s[i] != '_' {
			return false
		}
	}
	words := split(s)
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "token", "password", "passwd", "secret", "key", "credentials", "auth", "cookie", "pass", "pwd", "jwt":
		return true
	}
	return false
}

// isCookie reports whether a header is nothing without a sign =.
func isCookie(name string) bool { return strings.HasSuffix(strings.ToLower(name), "cookie") }

// afterScheme is the value of a header without the word before it.
func afterScheme(s string) string {
	if scheme, rest, ok := strings.Cut(s, " "); ok && isEnglish(scheme) {
		return rest
	}
	return s
}

// option returns the value of the option at i, --name value, if it is a secret.
func option(text string, i int) span {
	if !strings.HasPrefix(text[i:], "--") || i > 0 && text[i-1] != ' ' && text[i-1] != '\n' && text[i-1] != '\t' {
		return span{}
	}
	end := i + 2
	for end < len(text) && end-i < 100 && isNameByte(text[end]) {
		end++
	}
	if end == len(text) || text[end] != ' ' || !secretName(text[i+2:end], false) {
		return span{}
	}
	v, _ := value(text, end+1)
	if got := text[v.from:v.to]; isReference(got) || strings.HasPrefix(got, "-") || isProse(got) {
		return span{}
	}
	return v
}

// isProse reports whether s follows the name of an option in a sentence about it.
func isProse(s string) bool {
	switch strings.TrimRight(s, ".:") {
	case "flag", "flags", "option", "options", "argument", "parameter", "or", "and", "is", "must", "to", "for":
		return true
	}
	return false
}

// element returns what is between <name> and </name>.
func element(text string, i int, plainTokens bool) span {
	start := i
	for start > 0 && i-start < 100 && isNameByte(text[start-1]) {
		start--
	}
	if name := text[start:i]; start > 0 && text[start-1] == '<' && secretName(name, plainTokens) {
		n := strings.IndexAny(text[i+1:], "< \t\r\n")
		if n > 0 && strings.HasPrefix(text[i+1+n:], "</"+name+">") && !isReference(text[i+1:i+1+n]) {
			return span{i + 1, i + 1 + n}
		}
	}
	return span{}
}

// endOfHeader is where the line of a header ends that has its name at start and
// its value at a place. What has quotes in it itself may be in quotes.
func endOfHeader(text string, start, at int) int {
	if start > 0 && strings.IndexByte("\"'`", text[start-1]) >= 0 {
		escaped := start > 1 && text[start-2] == '\\'
		for i := at; i < len(text); i++ {
			if text[i] == '\r' || text[i] == '\n' || text[i] == text[start-1] && (escaped || text[i-1] != '\\') {
				return i
			}
		}
		return len(text)
	}
	stop := "\r\n\"'`"
	if before := strings.TrimRight(text[max(0, start-100):start], " \t"); before == "" || strings.HasSuffix(before, "\n") {
		stop = "\r\n"
	}
	if n := strings.IndexAny(text[at:], stop); n >= 0 {
		return at + n
	}
	return len(text)
}

// value returns what stands at a place: in quotes, or one word.
func value(text string, at int) (v span, quoted bool) {
	open := at
	if open+1 < len(text) && isLetter(text[open]) && strings.IndexByte("\"'", text[open+1]) >= 0 { // f"…"
		open++
		at++
	}
	if open < len(text) && text[open] == '\\' {
		open++
	}
	if open < len(text) && strings.IndexByte("\"'`", text[open]) >= 0 {
		from := open + 1
		for i := from; i < len(text); i++ {
			switch text[i] {
			case '\\':
				if open > at && i+1 < len(text) && text[i+1] == text[open] {
					return span{from, i}, true
				}
				i++
			case text[open]:
				return span{from, i}, true
			case '\n':
				return span{from, i}, true
			}
		}
		return span{from, len(text)}, true
	}
	stop := " \t\r\n,;&\"'<>()[]|`\\"
	n := strings.IndexAny(text[at:], stop)
	if n < 0 {
		n = len(text) - at
	}
	return span{at, at + n}, false
}

// unquote steps back over the quote behind a name, and over the bracket behind that.
func unquote(text string, end int) (int, bool) {
	if end > 1 && text[end-1] == ']' && (text[end-2] == '"' || text[end-2] == '\'') {
		end--
	}
	if end == 0 || text[end-1] != '"' && text[end-1] != '\'' {
		return end, false
	}
	end--
	if end > 0 && text[end-1] == '\\' {
		end--
	}
	return end, true
}

func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.'
}

// atLineStart reports whether a name begins a line, an item of a list or a text in
// quotes.
func atLineStart(text string, i int) bool {
	for ; i > 0; i-- {
		switch text[i-1] {
		case ' ', '\t':
		case '\n', '\r', '"', '\'', '{':
			return true
		default:
			return false
		}
	}
	return true
}

// closes reports whether what is around a value ends at i.
func closes(text string, i int) bool { return strings.IndexByte("}\"'`,;\\", text[i]) >= 0 }

// isMember reports whether s is an expression such as props.token.
func isMember(s string) bool {
	if !strings.Contains(s, ".") {
		return false
	}
	for i := range len(s) {
		if b := s[i]; !isNameByte(b) || b >= '0' && b <= '9' || b == '-' {
			return false
		}
	}
	return true
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789.") == "" }
