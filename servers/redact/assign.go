package redact

import "strings"

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
			v = option(text, i, plainTokens)
		case '>':
			v = element(text, i, plainTokens)
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
	start := end
	for start > 0 && end-start < 100 && isNameByte(text[start-1]) {
		start--
	}
	name := text[start:end]
	if inQuery := sign == '=' && start > 0 && (text[start-1] == '?' || text[start-1] == '&'); inQuery && isQueryKey(name) {
		v, _ := value(text, i+1)
		if got := text[v.from:v.to]; !isReference(got) && (len(got) >= 16 || len(got) >= 6 && strings.ContainsAny(got, "0123456789")) {
			return v
		}
	}
	if name == "" || !secretName(name, plainTokens) {
		return span{}
	}
	at := i + 1
	if at < len(text) && (text[at] == '=' && sign == '=' || text[at] == '~' || text[at] == ':') {
		return span{}
	}
	if at < len(text) && (text[at] == '>' || text[at] == '=') {
		at++
	}
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	first := quoted || atLineStart(text, start)
	v, inQuotes := value(text, at)
	if !inQuotes && isHeader(name) && sign == ':' {
		v.to = endOfHeader(text, start, at)
	}
	got := text[v.from:v.to]
	switch {
	case inQuotes && !isReference(got):
		return v
	case inQuotes || got == "" || isReference(got) || isType(strings.Trim(got, ";,")):
		return span{}
	case isHeader(name) && sign == ':' && first:
		return v
	case v.to < len(text) && text[v.to] == '(' || (spaced || sign == ':') && isMember(got):
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

// option returns the value of the option at i, --name value, if it is a secret.
func option(text string, i int, plainTokens bool) span {
	if !strings.HasPrefix(text[i:], "--") || i > 0 && text[i-1] != ' ' && text[i-1] != '\n' && text[i-1] != '\t' {
		return span{}
	}
	end := i + 2
	for end < len(text) && end-i < 100 && isNameByte(text[end]) {
		end++
	}
	if end == len(text) || text[end] != ' ' || !secretName(text[i+2:end], plainTokens) {
		return span{}
	}
	v, _ := value(text, end+1)
	if got := text[v.from:v.to]; isReference(got) || strings.HasPrefix(got, "-") {
		return span{}
	}
	return v
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

// unquote steps back over the quote behind a name.
func unquote(text string, end int) (int, bool) {
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

// atLineStart tells whether a name begins a line, an item of a list or a text in
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

// closes tells whether what is around a value ends at i.
func closes(text string, i int) bool { return strings.IndexByte("}\"'`,;\\", text[i]) >= 0 }

// isMember tells of an expression such as props.token.
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
