package form

import (
	"strings"
	"unicode"
)

// Secrets are the names of fields that look as if they ask for a password or a key.
func Secrets(fields []Field) []string {
	var out []string
	for _, f := range fields {
		if (f.Shape.Kind == Text || f.Shape.Kind == JSON) && (f.Shape.Format == "password" || secret(f.Path[strings.LastIndexByte(f.Path, '/')+1:]) || secret(f.Shape.Title)) {
			out = append(out, f.Name)
		}
	}
	return out
}

// secret reports whether a name has a word for something that nobody should type into a
// form.
func secret(name string) bool {
	var words []string
	start, before := 0, ' '
	for i, r := range name { // apiKey, API_KEY and "api key" are the same
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			words = append(words, name[start:i])
			start = i
		}
		before = r
	}
	words = strings.FieldsFunc(strings.ToLower(strings.Join(append(words, name[start:]), " ")), func(r rune) bool { return !unicode.IsLetter(r) })
	all := " " + strings.Join(words, " ") + " "
	for _, w := range []string{
		"password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token", "apikey", "api key", "access key",
		"private key", "secret key", "ssh key", "encryption key", "credential", "credentials", "pin code", "cvv", "cvc", "card number", "seed phrase", "mnemonic",
	} {
		if strings.Contains(all, " "+w+" ") {
			return true
		}
	}
	return false
}
