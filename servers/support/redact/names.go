package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// secretName reports whether a name, as of a key, a header or a variable of the
// environment, says that what it names is a secret; with plainTokens the word token
// alone says nothing.
func secretName(name string, plainTokens bool) bool {
	if len(name) > 128 || name == "key" || name == "PWD" || name == "OLDPWD" || plainTokens && isPlain(name) || !mayBeSecret(name) {
		return false
	}
	words := split(fold(name))
	for len(words) > 1 && isVersion(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) > 0 && words[len(words)-1] != "auth0" {
		last := &words[len(words)-1]
		*last = strings.TrimRight(*last, "0123456789")
	}
	if len(words) == 0 || isAbout(words) {
		return false
	}
	plainTokens = slices.Contains(words, "design") || slices.Contains(words, "theme") || // names of colours and lengths
		plainTokens && words[len(words)-1] == "tokens" && !opens(words[0])
	joined := strings.Join(words, "")
	for _, part := range [...]string{
		"password", "passwort", "passwd", "seedphrase", "passphrase", "passcode", "secret", "apikey", "accesskey", "privatekey", "privkey", "signingkey", "credential",
		"authorization", "cookie", "bearer", "connectionstring", "connstr", "mnemonic", "pincode", "recoverycode", "backupcode", "motdepasse", "contrasen",
	} {
		if i := strings.Index(joined, part); i >= 0 && !strings.HasPrefix(joined[i:], "secretar") {
			return true
		}
	}
	if !isASCII(joined) && isForeign(joined) {
		return true
	}
	for i, w := range words {
		if isSecretWord(w) && (i == len(words)-1 || w != "auth" && w != "pass" && w != "pw") {
			return true
		}
	}
	switch last := words[len(words)-1]; {
	case strings.HasSuffix(last, "token") || last == "tokens" && len(words) > 1 && words[0] != "max":
		return !plainTokens && !isPlainToken(joined)
	case last == "key" || last == "keys":
		return len(words) > 1 && isKeyKind(words[len(words)-2])
	case strings.HasSuffix(last, "key"):
		return isKeyKind(strings.TrimSuffix(last, "key"))
	case words[0] == "id" && (last == "rsa" || last == "ed25519" || last == "ecdsa"):
		return true
	case last == "url" || last == "uri" || last == "dsn":
		return last == "dsn" || slices.ContainsFunc(words[:len(words)-1], isStore)
	}
	return strings.HasSuffix(joined, "dburl") || strings.HasSuffix(joined, "databaseurl")
}

// isPlain reports whether a picture says under this name where a colour goes.
func isPlain(name string) bool { return name == "token" }

// isRandom reports whether s looks generated.
func isRandom(s string) bool {
	changes := 0
	for i := 1; i < len(s); i++ {
		if a, b := s[i-1], s[i]; a >= '0' && a <= '9' && b|0x20-'a' < 26 || b >= '0' && b <= '9' && a|0x20-'a' < 26 {
			changes++
		}
	}
	return len(s) >= 10 && changes >= 4
}

// split gives the words of a name such as db_pass, dbPass, DB-PASS or DBPass, in
// lower case.
func split(name string) []string {
	var words []string
	var w []rune
	end := func() {
		if len(w) > 0 {
			words = append(words, string(w))
			w = w[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end()
			continue
		case !unicode.IsUpper(r) || i == 0:
		case !unicode.IsUpper(runes[i-1]), i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			end()
		}
		w = append(w, unicode.ToLower(r))
	}
	end()
	return words
}

func isSecretWord(w string) bool {
	switch w {
	case "pass", "pwd", "pw", "auth", "otp", "totp", "jwt", "creds", "pat", "dbpass", "dbpwd", "userpass", "requirepass", "webhook":
		return true
	// The same in other languages.
	case "kennwort", "mdp", "senha", "wachtwoord", "haslo", "heslo", "losenord", "passord", "adgangskode", "salasana", "jelszo", "sifre", "parola",
		"lozinka", "geslo", "parool", "matkhau":
		return true
	}
	return false
}

// isLabel reports whether what stands in the place of a secret is what people read beside
// one: the name itself, or some words of which one is a word for password, as translations
// have them. It begins with a capital, in scripts that have some: without, it may be a
// password that somebody has chosen.
func isLabel(name, s string) bool {
	if len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != ' ' }) {
		return false
	}
	words := split(s)
	if first, _ := utf8.DecodeRuneInString(s); unicode.IsLower(first) || len(words) == 0 || len(words) > 4 {
		return false
	}
	joined := strings.Join(words, "")
	return joined == strings.Join(split(name), "") || joined == "motdepasse" || !isASCII(joined) && isForeign(joined) || slices.ContainsFunc(words, func(w string) bool {
		return w == "password" || w == "passwort" || len(w) >= len("senha") && isSecretWord(w)
	})
}

// isVersion reports whether a last word says which of several secrets is meant.
func isVersion(w string) bool {
	switch w {
	case "prod", "production", "dev", "staging", "live":
		return true
	}
	w = strings.TrimRight(w, "0123456789")
	return w == "" || w == "v"
}

// isAbout reports whether a name is that of something about a secret: where it is, what it
// looks like, who has it.
func isAbout(words []string) bool {
	last := words[len(words)-1]
	switch last {
	case "count", "length", "type", "kind", "limit", "required", "min", "max", "policy", "expiry", "expires", "ttl", "size", "path", "file", "stdin",
		"name", "names", "ref", "refs", "label", "placeholder", "hint", "provider", "helper", "store", "manager", "format", "algorithm", "strength",
		"enabled", "disabled", "visible", "authentication", "method", "age", "domain", "secure", "mode", "schema", "lifetime", "timeout", "endpoint",
		"color", "colour", "gap", "width", "height", "margin", "padding", "radius", "spacing", "border", "background", "font":
		return true
	case "key": // in an object that has a password under it
		return len(words) > 1 && words[len(words)-2] == "password"
	}
	return last == "secret" && words[0] == "existing" // the name of one
}

// opens reports whether the "tokens" after a word are no colours.
func opens(w string) bool {
	switch w {
	case "access", "refresh", "auth", "api", "session", "bearer", "personal", "deploy":
		return true
	}
	return false
}

// isPlainToken reports whether a token only says where to go on.
func isPlainToken(joined string) bool {
	for _, end := range [...]string{"progresstoken", "pagetoken", "continuationtoken", "synctoken", "maxtokens"} {
		if strings.HasSuffix(joined, end) {
			return true
		}
	}
	for _, use := range [...]string{"input", "output", "prompt", "completion", "total", "used", "cached", "reasoning", "budget", "context"} {
		if joined == use+"tokens" {
			return true
		}
	}
	return false
}

// isKeyKind reports whether a "key" after the word opens something.
func isKeyKind(w string) bool {
	switch w {
	case "api", "access", "private", "secret", "signing", "sign", "encryption", "decryption", "crypto", "cipher", "ssh", "gpg", "pgp", "rsa", "master",
		"auth", "service", "account", "storage", "shared", "deploy", "license", "hmac", "tls", "ssl", "host", "client", "admin", "webhook", "aes", "vault":
		return true
	}
	return false
}

// isQueryKey reports whether a name is that of a secret in the query of a URL, and elsewhere of much
// else.
func isQueryKey(name string) bool {
	switch strings.ToLower(name) {
	case "key", "sig", "signature", "x-amz-signature":
		return true
	}
	return false
}

// isStore reports whether w is a word for a program whose address has a password in it.
func isStore(w string) bool {
	switch w {
	case "database", "db", "postgres", "postgresql", "pg", "mysql", "mariadb", "mongo", "mongodb", "redis", "amqp", "rabbitmq", "broker", "sqlalchemy",
		"jdbc", "webhook", "smtp", "ldap":
		return true
	}
	return false
}

// isHeader reports whether the whole line of a header is the secret.
func isHeader(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "cookie", "set-cookie":
		return true
	}
	return false
}

// likeHeader reports whether s is the name of a header rather than of a
// column.
func likeHeader(s string) bool {
	return isHeader(s) || len(s) > 2 && strings.EqualFold(s[:2], "x-")
}

// isReference reports whether s stands for a value that is elsewhere: a variable
// or a place to fill in. A colour is no secret either.
func isReference(s string) bool {
	if s == "" || len(s) > 64 {
		return s == ""
	}
	last := s[len(s)-1]
	switch s[0] {
	case '#':
		return isColour(s[1:])
	case '$':
		return len(s) > 1 && (s[1] == '{' && last == '}' || s[1] == '(' || isVariable(s[1:]) || len(s) == 2 && strings.IndexByte("0123456789@*", s[1]) >= 0)
	case '%':
		return len(s) == 2 || len(s) > 2 && last == '%' && isVariable(s[1:len(s)-1])
	case '?', '+':
		return len(s) == 1
	case '<':
		return strings.IndexByte(s, '>') == len(s)-1
	case '{':
		return strings.IndexByte(s, '}') == len(s)-1 || strings.HasPrefix(s, "{{") && strings.HasSuffix(s, "}}")
	}
	return strings.Trim(s, "*") == "" || len(s) > 2 && strings.Trim(s, "xX") == "" || strings.Trim(s, ".") == "" || s == hidden
}

// isVariable reports whether s is the name of a variable in capitals.
func isVariable(s string) bool {
	for i := range len(s) {
		if b := s[i]; !(b >= 'A' && b <= 'Z' || b == '_' || b >= '0' && b <= '9' && i > 0) {
			return false
		}
	}
	return s != ""
}

// isColour reports whether s is what stands behind the # of a colour.
func isColour(s string) bool {
	return (len(s) == 3 || len(s) == 4 || len(s) == 6 || len(s) == 8) && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// isType reports whether s is a type, as a schema or a language writes it, not a
// value.
func isType(s string) bool {
	if !strings.ContainsAny(s, " (") {
		return isTypeWord(s)
	}
	if call, _, _ := strings.Cut(s, "("); strings.HasSuffix(s, ")") && (call == "rgb" || call == "rgba" || call == "hsl" || call == "hsla") {
		return true
	}
	if strings.HasPrefix(s, "(") && strings.Contains(s, ") => ") {
		return true
	}
	for part := range strings.SplitSeq(s, " | ") {
		if part = strings.TrimSuffix(part, "[]"); !isTypeWord(part) && !(len(part) > 1 && part[0] == '\'' && strings.IndexByte(part[1:], '\'') == len(part)-2) {
			return false
		}
	}
	return true
}

func isTypeWord(s string) bool {
	switch s {
	case "string", "number", "boolean", "object", "array", "null", "undefined", "any", "unknown", "void", "true", "false", "nil", "None", "none", "bool", "int":
		return true
	case "read", "write", "inherit", "required", "optional", "include", "omit", "same-origin", "strict", "enabled", "disabled", "yes", "no", "success":
		return true // what is set instead of a secret
	}
	return false
}
