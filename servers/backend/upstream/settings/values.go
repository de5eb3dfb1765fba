package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Values are the values of the variables in a card's settings: ${root}, ${home}, ${env:NAME}
// and ${secret:NAME}. ${env:NAME:-TEXT} has a default for a variable that is unset or empty.
// Anything else in braces is left unchanged.
type Values struct {
	Root   string                      // the folder for ${root}; "" if there is none
	Home   string                      // the user's home folder
	Env    func(string) (string, bool) // nil if there is none
	Secret func(string) (string, bool) // nil if there is none
}

// Expand returns the card with its variables replaced. No shell is involved, and inserted
// values are not expanded again. missing lists the variables without a value, as written;
// they remain in the settings, and the card cannot be started.
func (c Card) Expand(v Values) (out Card, missing []string) {
	text := func(s string) string {
		return pattern().ReplaceAllStringFunc(s, func(whole string) string {
			value, ok := v.of(whole)
			if !ok {
				if !slices.Contains(missing, whole) {
					missing = append(missing, whole)
				}
				return whole
			}
			return value
		})
	}
	table := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			m[k] = text(m[k])
		}
		return m
	}
	out = c
	out.Command = slices.Clone(c.Command)
	for i, w := range c.Command {
		out.Command[i] = text(w)
	}
	out.URL, out.Cwd, out.Env, out.Headers = text(c.URL), text(c.Cwd), table(c.Env), table(c.Headers)
	return out, missing
}

// Missing returns the secrets that the card uses and for which has returns false.
func (c Card) Missing(has func(secret string) bool) []string {
	var out []string
	keep := func(string) (string, bool) { return "", true }
	_, missing := c.Expand(Values{Root: "/", Home: "/", Env: keep, Secret: func(n string) (string, bool) { return "", has(n) }})
	for _, m := range missing {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(m, "${secret:"), "}"))
	}
	return out
}

func pattern() *regexp.Regexp {
	return regexp.MustCompile(`\$\{(root|home|secret:[A-Za-z0-9_.-]+|env:[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?)\}`)
}

// of returns the value of a variable, given with its ${ and }.
func (v Values) of(whole string) (string, bool) {
	kind, name, _ := strings.Cut(whole[2:len(whole)-1], ":")
	look := func(table func(string) (string, bool), name string) (string, bool) {
		if table == nil {
			return "", false
		}
		return table(name)
	}
	switch kind {
	case "root":
		return v.Root, v.Root != ""
	case "home":
		return v.Home, v.Home != ""
	case "secret":
		return look(v.Secret, name)
	}
	name, other, has := strings.Cut(name, ":-")
	value, ok := look(v.Env, name)
	if has && value == "" {
		return other, true
	}
	return value, ok
}

// Runs returns lines that describe what is run or connected to, without secrets.
func (c Card) Runs() []string {
	var out []string
	add := func(format string, args ...any) {
		out = append(out, sanitize.Line(fmt.Sprintf(format, args...)))
	}
	if c.URL != "" {
		add("connects to %s", redact.Rules{}.Text(c.URL))
	} else {
		add("runs        %s", c.CommandLine())
	}
	if c.Cwd != "" {
		add("in          %s", c.Cwd)
	}
	for _, given := range c.Given() {
		kind, what, _ := strings.Cut(given, " ")
		add("%-11s %s", kind, what)
	}
	return out
}

// Given returns the variables and the headers that the server is given, without secrets, each
// as a line that begins with a word for it.
func (c Card) Given() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		out = append(out, sanitize.Line("with "+Masked(name+"=", c.Env[name])))
	}
	for _, name := range c.Inherit {
		out = append(out, sanitize.Line("with "+name+" from mcpdeck's environment"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		out = append(out, sanitize.Line("header "+Masked(name+": ", c.Headers[name])))
	}
	return out
}

// CommandLine returns the command as typed in a shell, without secrets.
func (c Card) CommandLine() string {
	words := make([]string, len(c.Command))
	for i, w := range c.Command {
		words[i] = Quote(w)
	}
	return redact.Rules{}.Text(strings.Join(words, " "))
}

// Redacted returns the words of a command without secrets. They are looked at as a whole,
// since a secret is found by the option before it, too.
func Redacted(words []string) []string {
	b, _ := json.Marshal(words) // texts always encode
	var out []string
	if json.Unmarshal(redact.Rules{}.Body(redact.Kind{}, false, b), &out) != nil || len(out) != len(words) {
		return nil // what cannot be told apart is not shown
	}
	return out
}

// Masked returns name followed by value. The value is hidden if it, or its name, looks like
// a secret.
func Masked(name, value string) string {
	rest := strings.TrimSpace(pattern().ReplaceAllString(value, ""))
	if slices.Contains([]string{"", "Bearer", "Basic", "Token", "token"}, rest) { // the secret is elsewhere
		return name + value
	}
	return redact.Rules{}.Text(name + value)
}

// Quote returns one word of a POSIX shell.
func Quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n\"'\\$`|&;<>()*?[]#~!{}") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
