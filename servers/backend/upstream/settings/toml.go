package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Text is what is written in a settings file, without the mark that some editors put before
// it.
func Text(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\ufeff")) }

// Read parses a settings file into the struct that v points to. It warns about keys that the
// struct does not have. Errors and warnings begin with the line number.
func Read(b []byte, v any) (warnings []string, err error) {
	if bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff}) {
		return nil, errors.New("line 1: this is UTF-16; save the file as UTF-8")
	}
	b = Text(b)
	like := reflect.TypeOf(v).Elem()
	if err := checkDurations(b, like); err != nil {
		return nil, err
	}
	err = toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(v)
	var unread *toml.StrictMissingError
	var bad *toml.DecodeError
	switch {
	case errors.As(err, &unread):
		for _, e := range unread.Errors {
			row, _ := e.Position()
			warnings = append(warnings, fmt.Sprintf("line %d: %s", row, unknown(like, e.Key())))
		}
	case errors.As(err, &bad):
		row, column := bad.Position()
		return nil, &Mistake{row, column, reason(like, bad)}
	case err != nil:
		return nil, err
	}
	return warnings, nil
}

// Mistake is a place at which a settings file cannot be read.
type Mistake struct {
	Line, Column int // from 1
	Text         string
}

func (m *Mistake) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", m.Line, m.Column, m.Text)
}

// ReadAround is Read that warns of values that the struct cannot have, and of tables that
// stand twice, and leaves them out. After a mistake that nothing can be left out for, such
// as a missing quote, it reads no further.
func ReadAround(b []byte, v any) (warnings []string, err error) {
	b = slices.Clone(Text(b))
	to := reflect.ValueOf(v).Elem()
	for {
		read := reflect.New(to.Type())
		read.Elem().Set(to)
		unknown, err := Read(b, read.Interface())
		var wrong *Mistake
		if errors.As(err, &wrong) {
			warnings = append(warnings, wrong.Error())
			if leaveOut(b, wrong) {
				continue
			}
			err = nil
		}
		if err == nil {
			to.Set(read.Elem())
		}
		return append(warnings, unknown...), err
	}
}

// leaveOut blanks the key with its value, or the table, that a mistake is in; false if that
// is neither.
func leaveOut(b []byte, wrong *Mistake) bool {
	var p unstable.Parser
	p.Reset(b)
	from := -1
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind == unstable.Comment {
			continue
		}
		if n.Kind != unstable.KeyValue {
			if from >= 0 { // up to the next table
				_, at := pathOf(nil, n)
				start := p.Shape(at).Start
				blank(b[from : start.Offset-start.Column+1])
				return true
			}
			if _, at := pathOf(nil, n); p.Shape(at).Start.Line == wrong.Line {
				start := p.Shape(at).Start
				from = start.Offset - start.Column + 1
			}
			continue
		}
		place := p.Shape(n.Raw)
		if from < 0 && !before(wrong, place.Start) && before(wrong, place.End) {
			blank(b[place.Start.Offset:place.End.Offset])
			return true
		}
	}
	if from < 0 {
		return false
	}
	blank(b[from:])
	return true
}

// before reports whether a mistake is before a place.
func before(m *Mistake, at unstable.Position) bool {
	return m.Line < at.Line || m.Line == at.Line && m.Column < at.Column
}

// blank makes a text white, but for the ends of its lines.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
}

// reason describes an error in terms of the file rather than of this program.
func reason(like reflect.Type, e *toml.DecodeError) string {
	text, key := strings.TrimPrefix(e.Error(), "toml: "), strings.Join(e.Key(), ".")
	if rest, ok := strings.CutPrefix(text, "cannot decode TOML "); ok && key != "" {
		is, _, _ := strings.Cut(rest, " into ")
		return fmt.Sprintf("%s must be %s, got %s", key, wants(typeOf(like, e.Key())), is)
	}
	if strings.HasPrefix(text, "cannot store a table in ") && key != "" {
		return fmt.Sprintf("%s must be %s, got a table", key, wants(typeOf(like, e.Key())))
	}
	for part, advice := range map[string]string{
		"at start of value":               "a text needs quotes, and true and false are lower case",
		"basic strings cannot have new":   "the quote at the end of the text is missing",
		"literal strings cannot have new": "the quote at the end of the text is missing",
		"already exists":                  "put all of it into one",
		"is already defined":              "remove one of them",
		"invalid UTF-8":                   "save the file as UTF-8",
	} {
		if strings.Contains(text, part) {
			return text + "; " + advice
		}
	}
	return text
}

// wants says which values are of a type.
func wants(t reflect.Type) string {
	switch {
	case t == nil:
		return "something else"
	case t == reflect.TypeFor[humanize.Duration]():
		return `a duration such as "90s" or "2m"`
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wants(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "an integer"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return `a list of strings, as in ["a", "b"]`
	case reflect.Struct, reflect.Map:
		return "a table"
	default:
		return "something else"
	}
}

// typeOf returns the type of what is at a path; nil if nothing can be. As in a file, the
// case of a name does not matter.
func typeOf(t reflect.Type, path []string) reflect.Type {
	for _, name := range path {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Map {
			t = t.Elem()
			continue
		}
		fields, names := fieldsOf(t)
		i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		if i < 0 {
			return nil
		}
		t = fields[i].Type
	}
	return t
}

// fieldsOf returns the settings in a struct, and what they are called; nil for other types.
func fieldsOf(t reflect.Type) (fields []reflect.StructField, names []string) {
	if t.Kind() != reflect.Struct {
		return nil, nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("toml"), ","); name != "" && name != "-" {
			fields, names = append(fields, f), append(names, name)
		}
	}
	return fields, names
}

// checkDurations finds durations that are not in quotes: a number would be nanoseconds.
func checkDurations(b []byte, like reflect.Type) error {
	duration := reflect.TypeFor[humanize.Duration]()
	for e := range Entries(b) {
		if e.Kind == unstable.String || typeOf(like, e.Path) != duration {
			continue
		}
		why := "must be " + wants(duration)
		if e.Kind == unstable.Integer {
			why = fmt.Sprintf(`has no unit; write "%ss" or "%sm"`, e.Value, e.Value)
		}
		return &Mistake{e.At.Line, e.At.Column, strings.Join(e.Path, ".") + " " + why}
	}
	return nil
}

// unknown returns the message for an unknown key, suggesting the most similar known one.
func unknown(like reflect.Type, key []string) string {
	text := "unknown setting " + strings.Join(key, ".") + ", ignored"
	table := key[:len(key)-1]
	in := typeOf(like, table)
	if in == nil {
		return text
	}
	_, names := fieldsOf(in)
	if meant := fuzzy.Meant(key[len(key)-1], names); meant != "" {
		text += "; did you mean " + strings.Join(append(slices.Clone(table), meant), ".") + "?"
	}
	return text
}
