package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Digest returns a digest of everything that determines what is run or connected to, and
// what that may do: what the user consents to. See [Card.Terms].
func (c Card) Digest() string {
	if len(c.Env) == 0 {
		c.Env = nil
	}
	if len(c.Headers) == 0 {
		c.Headers = nil
	}
	inherit := slices.Sorted(slices.Values(c.Inherit))
	what := []any{c.Command, c.URL, c.Transport, c.AllowHTTP, c.Cwd, c.Sandbox, c.Env, inherit, c.Headers}
	// What is at its default is left out, so that a setting that comes to exist later asks
	// nobody again.
	if more := c.beside(); len(more) > 0 {
		what = append(what, more)
	}
	b, _ := json.Marshal(what) // strings, booleans and maps of them always encode
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// beside returns those settings of the card that the user consents to beside what it runs, as
// far as they differ from their default. It leaves out what the screen shows of the card, what
// the user switches there, and limits.
func (c Card) beside() (out []snapshot.Fact) {
	c.Command, c.URL, c.Transport, c.AllowHTTP, c.Cwd, c.Sandbox, c.Env, c.Inherit, c.Headers = nil, "", "", false, "", "", nil, nil, nil
	c.Name, c.File, c.Title, c.About = "", "", "", ""
	c.Mode, c.Tools, c.Resources, c.Prompts = "", nil, "", ""
	c.MaxInFlight, c.CallTimeout, c.StartTimeout, c.IdleStop = 0, 0, 0, 0
	words := Words()
	v := reflect.ValueOf(c)
	fields, names := fieldsOf(v.Type())
	for i, f := range fields {
		value := v.FieldByIndex(f.Index)
		if value.IsZero() || value.Kind() != reflect.Pointer && value.Comparable() && words[names[i]] != nil && value.Interface() == any(words[names[i]][0]) {
			continue
		}
		if k := value.Kind(); (k == reflect.Slice || k == reflect.Map) && value.Len() == 0 {
			continue
		}
		b, _ := json.Marshal(value.Interface()) // of what TOML has, which encodes
		out = append(out, snapshot.Fact{Name: names[i], Value: string(b)})
	}
	return out
}

// Terms returns what of the card is to be read before it is turned on, whole: all that
// [Card.Digest] is of. Of a variable, a header and a query, a word that looks like a secret
// is left out; nothing is left out of a command, which every process of the machine can read.
func (c Card) Terms() snapshot.Terms {
	t := snapshot.Terms{Digest: c.Digest()}
	say := func(name, value, means string) {
		t.Facts = append(t.Facts, snapshot.Fact{Name: name, Value: value, Means: means})
	}
	add := func(name, value string) { say(name, value, "") }
	if c.URL != "" {
		add("connects to", veiled(c.URL, redact.Rules{}.Text(c.URL)))
	} else {
		words := make([]string, len(c.Command))
		for i, w := range c.Command {
			words[i] = Quote(w)
		}
		add("runs", strings.Join(words, " "))
		if c.Cwd == "" {
			say("in", "", "the project of the agent")
		} else {
			add("in", c.Cwd)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		add("with", veiled(name+"="+c.Env[name], Masked(name+"=", c.Env[name])))
	}
	for _, name := range slices.Sorted(slices.Values(c.Inherit)) {
		say("with", name, ", as mcpdeck has it")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		add("header", veiled(name+": "+c.Headers[name], Masked(name+": ", c.Headers[name])))
	}
	if c.AllowHTTP {
		say("allow_http", "true", ": what is sent may be read on the way")
	}
	if c.Transport != "" && c.Transport != "auto" {
		add("transport", c.Transport)
	}
	if c.Sandbox != "" && c.Sandbox != "off" {
		add("sandbox", c.Sandbox)
	}
	means := meanings()
	for _, f := range c.beside() {
		value := strings.Trim(f.Value, `"`)
		switch meaning := means[f.Name+" "+value]; {
		case f.Name == "prefix":
			say(f.Name, f.Value, ", with which the names of its tools begin")
		case meaning != "":
			say(f.Name, value, ": "+meaning)
		default:
			add(f.Name, value)
		}
	}
	return t
}

// meanings says what a setting with a value, by the two words, lets the server do.
func meanings() map[string]string {
	return map[string]string{
		"pin changes":    "agents get new tools before you have seen them",
		"pin off":        "agents get new and changed tools before you have seen them",
		"sampling agent": "it may have its agent's model work for it",
		"elicit agent":   "what it asks goes to the agent's own client",
		"share deck":     "all agents share one process",
		"share project":  "all agents of a project share one process",
		"texts raw":      "names of tools in its texts stay as they are",
	}
}

// veiled returns text with those parts hidden that redacted leaves out, if they are but a
// word of letters, digits and a few signs: nothing that a shell or a loader obeys hides behind
// the form of a secret.
func veiled(text, redacted string) string {
	kept, hidden := apart(text, redacted)
	var b strings.Builder
	for i, part := range kept {
		b.WriteString(part)
		if i == len(hidden) {
			break
		}
		word := hidden[i]
		if scheme, rest, ok := strings.Cut(word, " "); ok && isWord(scheme) { // of a header
			b.WriteString(scheme + " ")
			word = rest
		}
		if isWord(word) {
			word = "[" + humanize.Count(len(word), "character") + ", not shown]"
		}
		b.WriteString(word)
	}
	return b.String()
}

// apart returns the parts of a text that a redacted one has kept, and those hidden between
// them. Where the two do not fit, nothing is hidden.
func apart(text, redacted string) (kept, hidden []string) {
	kept = strings.Split(redacted, "[redacted]")
	rest, ok := strings.CutPrefix(text, kept[0])
	for i, part := range kept[1:] {
		at := strings.Index(rest, part)
		if i == len(kept)-2 {
			if at = len(rest) - len(part); !strings.HasSuffix(rest, part) {
				at = -1
			}
		}
		if at < 0 || !ok {
			return []string{text}, nil
		}
		hidden = append(hidden, rest[:at])
		rest = rest[at+len(part):]
	}
	if !ok {
		return []string{text}, nil
	}
	return kept, hidden
}

// Secrets returns the parts of the card's settings that look like secrets, for whoever shows
// what a program says that was given them.
func (c Card) Secrets() (out []string) {
	add := func(text, redacted string) {
		_, hidden := apart(text, redacted)
		for _, h := range hidden {
			out = append(out, h)
			if _, word, ok := strings.Cut(h, " "); ok { // "Bearer ..."
				out = append(out, word)
			}
		}
	}
	if words := Redacted(c.Command); len(words) == len(c.Command) {
		for i, w := range c.Command {
			add(w, words[i])
		}
	}
	add(c.URL, redact.Rules{}.Text(c.URL))
	for name, value := range c.Env {
		add(name+"="+value, Masked(name+"=", value))
	}
	for name, value := range c.Headers {
		add(name+": "+value, Masked(name+": ", value))
	}
	return out
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_=.~-") == ""
}
