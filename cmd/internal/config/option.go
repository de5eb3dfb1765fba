package config

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// Any stands in the key of an option for a name that the user chooses.
const Any = "*"

// Option is a setting that there is: "ui.mouse", "profile.*.servers".
type Option struct {
	Key   string
	Value reflect.Value // the default; of a name that the user chooses, the zero value
}

// Options are all settings of the configuration file, in the order of its structs.
func Options(servers []Section) []Option {
	var out []Option
	walk(byDefault(servers).whole(), nil, true, func(path []string, v reflect.Value) {
		out = append(out, Option{strings.Join(path, "."), v})
	})
	return out
}

// walk visits the settings below a struct. A map of structs is visited with its
// entries or, with types, once with Any for their names.
func walk(v reflect.Value, path []string, types bool, visit func(path []string, v reflect.Value)) {
	for f := range v.Type().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "-" {
			continue
		}
		at, value := append(slices.Clone(path), name), v.FieldByIndex(f.Index)
		switch {
		case isTable(f.Type):
			walk(value, at, types, visit)
		case f.Type.Kind() == reflect.Map && f.Type.Elem().Kind() == reflect.Bool: // by names that there are
			for _, key := range sortedKeys(value) {
				visit(append(slices.Clone(at), key), value.MapIndex(reflect.ValueOf(key)))
			}
		case f.Type.Kind() != reflect.Map || !isTable(f.Type.Elem()):
			visit(at, value)
		case types:
			walk(reflect.New(f.Type.Elem()).Elem(), append(at, Any), types, visit)
		default:
			for _, key := range sortedKeys(value) {
				walk(value.MapIndex(reflect.ValueOf(key)), append(slices.Clone(at), key), types, visit)
			}
		}
	}
}

func sortedKeys(m reflect.Value) []string {
	keys := make([]string, 0, m.Len())
	for _, k := range m.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return keys
}

// isTable tells whether a type is a table of settings.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// Literal writes a value as a configuration file does.
func Literal(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return `""`
		}
		return Literal(v.Elem())
	case reflect.String:
		return string(rawjson.Quote(v.String()))
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = Literal(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Map:
		if v.Len() == 0 {
			return "{}"
		}
		items := make([]string, 0, v.Len())
		for _, k := range sortedKeys(v) {
			items = append(items, bareKey(k)+" = "+Literal(v.MapIndex(reflect.ValueOf(k))))
		}
		return "{ " + strings.Join(items, ", ") + " }"
	default:
	}
	if d, ok := v.Interface().(humanize.Duration); ok {
		return string(rawjson.Quote(short(time.Duration(d))))
	}
	return fmt.Sprint(v.Interface())
}

// bareKey quotes a key unless it may stand without quotes.
func bareKey(key string) string {
	if key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r == '-' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}) {
		return key
	}
	return string(rawjson.Quote(key))
}

// short writes a duration without the zeros at its end: "10m".
func short(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}

// Setting is the value of an option that holds, and where it comes from.
type Setting struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
	// From is "default", a file with a line, the name of a variable of the environment,
	// or a flag; several of these if they add up.
	From string `json:"from"`

	Literal string `json:"-"` // as the file has it

	raw reflect.Value
}

// Same tells whether two settings have the same value.
func (s Setting) Same(other Setting) bool { return Literal(s.raw) == Literal(other.raw) }

// Digest tells the value from others, also where the literal leaves secrets out.
func (s Setting) Digest() string {
	sum := sha256.Sum256([]byte(Literal(s.raw)))
	return hex.EncodeToString(sum[:])
}

// Settings are all options with their values. Of servers, profiles and projects they
// are those that are written, and of none what could be a secret.
func (c *Config) Settings() []Setting {
	var out []Setting
	add := func(path []string, v reflect.Value, file string, line int) {
		key, raw := strings.Join(path, "."), v
		v = withoutSecrets(path[len(path)-1], v)
		s := Setting{Key: key, Value: v.Interface(), From: "default", Literal: Literal(v), raw: raw}
		if line > 0 {
			s.From = fmt.Sprintf("%s:%d", file, line)
		}
		s.From = cmp.Or(c.from[key], s.From)
		if d, ok := s.Value.(humanize.Duration); ok {
			s.Value = short(time.Duration(d))
		}
		out = append(out, s)
	}
	walk(c.whole(), nil, false, func(path []string, v reflect.Value) {
		line := c.lines.set(strings.Join(path, "."))
		if v.Kind() == reflect.Map && v.Len() == 0 { // a table with nothing in it
			line = 0
		}
		if path[0] != "server" && path[0] != "profile" || line > 0 && !v.IsZero() {
			add(path, v, c.Paths.Config, line)
		}
	})
	for _, card := range c.Cards {
		if card.File == c.Paths.Config {
			continue
		}
		walk(reflect.ValueOf(card), nil, false, func(path []string, v reflect.Value) {
			at := c.cardLines[card.File]
			if line := at.set(strings.Join(path, ".")); line > 0 {
				add(append([]string{"server", card.Name}, path...), v, card.File, line)
			}
		})
	}
	return out
}

// withoutSecrets hides what of an option of that name could be a secret.
func withoutSecrets(name string, v reflect.Value) reflect.Value {
	switch name {
	case "env", "headers":
		return masked(v)
	case "token", "ntfy", "webhook": // whoever knows a topic may read it
		text := v.String()
		if text != "" && !reference(text) {
			text = "..."
		}
		return reflect.ValueOf(text)
	case "command", "args", "url":
		if words, ok := v.Interface().([]string); ok {
			return reflect.ValueOf(settings.Redacted(words))
		}
		return reflect.ValueOf(redact.Rules{}.Text(v.String()))
	}
	return v
}

// masked hides values, but not references to one.
func masked(v reflect.Value) reflect.Value {
	out := map[string]string{}
	for _, k := range sortedKeys(v) {
		text := v.MapIndex(reflect.ValueOf(k)).String()
		if !reference(text) {
			text = "..."
		}
		out[k] = text
	}
	return reflect.ValueOf(out)
}

// reference reports whether a text is nothing but the name of a variable. One with a default
// could be a secret itself.
func reference(text string) bool {
	return strings.HasPrefix(text, "${") && strings.IndexByte(text, '}') == len(text)-1 && !strings.Contains(text, ":-")
}
