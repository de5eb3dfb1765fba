package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/near"
)

// Read parses a settings file into the struct that v points to. It warns about keys that the
// struct does not have. Errors and warnings begin with the line number.
func Read(b []byte, v any) (warnings []string, err error) {
	err = toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(v)
	var unread *toml.StrictMissingError
	var bad *toml.DecodeError
	switch {
	case errors.As(err, &unread):
		for _, e := range unread.Errors {
			row, _ := e.Position()
			warnings = append(warnings, fmt.Sprintf("line %d: %s", row, unknown(reflect.TypeOf(v).Elem(), e.Key())))
		}
		return warnings, nil
	case errors.As(err, &bad):
		row, column := bad.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", row, column, reason(bad))
	}
	return nil, err
}

// reason describes an error in terms of the file rather than of this program.
func reason(e *toml.DecodeError) string {
	text := strings.TrimPrefix(e.Error(), "toml: ")
	rest, ok := strings.CutPrefix(text, "cannot decode TOML ")
	if !ok || len(e.Key()) == 0 {
		return text
	}
	is, _, _ := strings.Cut(rest, " into ")
	wants := "something else"
	for kind, words := range map[string]string{"int": "an integer", "bool": "true or false", "string": "a string", "[]string": "a list of strings"} {
		if strings.HasSuffix(rest, " of type "+kind) {
			wants = words
		}
	}
	return fmt.Sprintf("%s must be %s, got %s", strings.Join(e.Key(), "."), wants, is)
}

// unknown returns the message for an unknown key, suggesting the most similar known one.
func unknown(like reflect.Type, key []string) string {
	text := "unknown setting " + strings.Join(key, ".") + ", ignored"
	if meant := near.Meant(key[len(key)-1], beside(like, key)); meant != "" {
		text += "; did you mean " + strings.Join(append(slices.Clone(key[:len(key)-1]), meant), ".") + "?"
	}
	return text
}

// beside returns the valid keys in the table of the last key of a path.
func beside(t reflect.Type, key []string) []string {
	switch {
	case t.Kind() == reflect.Map && len(key) > 1:
		return beside(t.Elem(), key[1:])
	case t.Kind() != reflect.Struct:
		return nil
	}
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if len(key) > 1 && name == key[0] {
			return beside(f.Type, key[1:])
		}
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	if len(key) > 1 {
		return nil
	}
	return names
}
