package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Problem is why a value may not be accepted.
type Problem struct {
	Path string // of the field, or of one that it is in
	Text string // a sentence without its beginning: `"x" is not a number`
	Soft bool   // it may be accepted all the same
}

// Check says what is wrong with a value, in the order of the fields. The error says why
// the schema could not be held against it.
func (f *Form) Check(v *Value) ([]Problem, error) {
	fields := f.Fields(v)
	var out []Problem
	for _, field := range fields {
		if p, bad := field.problem(); bad {
			out = append(out, p)
		}
	}
	more, err := f.validate(fields, f.JSON(v))
	for _, p := range more {
		if !slices.ContainsFunc(out, func(o Problem) bool { return !o.Soft && (o.Path == p.Path || strings.HasPrefix(p.Path, o.Path+"/")) }) {
			out = append(out, p)
		}
	}
	place := map[string]int{}
	for i, field := range fields {
		if _, known := place[field.Path]; !known {
			place[field.Path] = i
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return place[a.Path] - place[b.Path] })
	return out, err
}

// CheckJSON says what is wrong with an object that is not in fields.
func (f *Form) CheckJSON(raw json.RawMessage) ([]Problem, error) {
	v, err := f.Read(raw)
	if err != nil {
		return []Problem{{Text: err.Error()}}, nil
	}
	return f.Check(v)
}

// problem is what is wrong with what was typed in one field.
func (f Field) problem() (Problem, bool) {
	t := strings.TrimSpace(f.Value.Text)
	p := Problem{Path: f.Path}
	if f.Value.Null || f.Role == Added || f.Role == Extra {
		return p, false
	}
	switch k := f.Kind(); {
	case t == "" && f.Role == Entry && (k == Number || k == JSON), f.Role == Entry && k == Choice && len(f.Value.Chosen) == 0:
		p.Text = "it is empty; fill it in or remove it"
	case t == "":
	case k == Number && !isNumber([]byte(t)):
		p.Text = fmt.Sprintf("%q is not a number", clip(t))
	case k == JSON && f.Path == "" && t[0] != '{':
		p.Text = "it must be an object, in braces"
	case k == JSON && !json.Valid([]byte(t)):
		p.Text = whereInvalid([]byte(t)).Error()
	case k == Text && !wellFormed(f.Shape.Format, f.Value.Text):
		p.Text, p.Soft = fmt.Sprintf("%q is not a valid %s", clip(f.Value.Text), f.Shape.Format), true
	}
	return p, p.Text != ""
}

func wellFormed(format, s string) bool {
	var err error
	switch format {
	case "email":
		var a *mail.Address
		if a, err = mail.ParseAddress(s); err == nil && a.Address != s {
			return false
		}
	case "uri":
		var u *url.URL
		if u, err = url.Parse(s); err == nil && u.Scheme == "" {
			return false
		}
	case "date":
		_, err = time.Parse(time.DateOnly, s)
	case "date-time":
		_, err = time.Parse(time.RFC3339, s)
	}
	return err == nil
}

// validate holds the schema against an object.
func (f *Form) validate(fields []Field, raw json.RawMessage) ([]Problem, error) {
	schema, err := f.checker()
	if err != nil {
		return nil, err
	}
	invalid, err := mistake(schema, raw)
	if invalid == nil {
		return nil, err
	}
	c := checked{fields: fields}
	c.walk(invalid)
	return c.out, nil
}

// mistake is what does not fit a schema in JSON, nil for nothing.
func mistake(schema *jsonschema.Schema, raw json.RawMessage) (*jsonschema.ValidationError, error) {
	if vast(raw) || deep(raw) {
		return nil, errVast
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read the values: %w", err)
	}
	var invalid *jsonschema.ValidationError
	if err = schema.Validate(doc); err != nil && !errors.As(err, &invalid) {
		return nil, fmt.Errorf("check the values: %w", err)
	}
	return invalid, nil
}

var errVast = errors.New("a number is too large, or a value nested too deep, to be checked")

// vast reports whether JSON has a number that takes too long to calculate with.
func vast(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i = rawjson.End(raw, i) - 1
		case c == '-' || '0' <= c && c <= '9':
			end := rawjson.End(raw, i)
			number := raw[i:end]
			if at := bytes.IndexAny(number, "eE"); at >= 0 {
				n, err := strconv.Atoi(string(number[at+1:]))
				if err != nil || n > 9999 || n < -9999 {
					return true
				}
			}
			if len(number) > 9999 {
				return true
			}
			i = end - 1
		}
	}
	return false
}

// checked makes problems of what the library found.
type checked struct {
	fields []Field
	out    []Problem
}

func (c *checked) add(path, text string) {
	for !slices.ContainsFunc(c.fields, func(f Field) bool { return f.Path == path }) && path != "" {
		path = path[:strings.LastIndexByte(path, '/')]
	}
	if p := (Problem{Path: path, Text: text}); !slices.Contains(c.out, p) {
		c.out = append(c.out, p)
	}
}

func (c *checked) walk(e *jsonschema.ValidationError) {
	path := pointer(e.InstanceLocation)
	causes := e.Causes
	key := ""
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			c.add(path+"/"+escape(name), "an answer is required")
		}
		return
	case *kind.OneOf:
		key = "oneOf"
		if len(k.Subschemas) > 1 {
			causes = nil
		}
	case *kind.AnyOf:
		key = "anyOf"
	}
	if key != "" {
		causes = c.taken(path, key, causes)
	}
	if len(causes) == 0 {
		c.add(path, sentence(e))
	}
	for _, cause := range causes {
		c.walk(cause)
	}
}

// taken are the causes that are about the alternative that the user has taken.
func (c *checked) taken(path, key string, causes []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	i := slices.IndexFunc(c.fields, func(f Field) bool { return f.Path == path && f.Kind() == Variant })
	if i < 0 {
		return nil
	}
	f := c.fields[i]
	at := f.Shape.chosen(f.Value)
	if at < 0 {
		return nil
	}
	end := "/" + key + "/" + strconv.Itoa(f.Shape.Options[at].at)
	var out []*jsonschema.ValidationError
	for _, cause := range causes {
		if strings.HasSuffix(cause.SchemaURL, end) {
			out = append(out, cause)
		}
	}
	return out
}

func pointer(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("/" + escape(s))
	}
	return b.String()
}

// sentence says what is wrong.
func sentence(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ") + ", not " + k.Got
	case *kind.MinLength:
		return fmt.Sprintf("it has %s; at least %d are required", humanize.Count(k.Got, "character"), k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("it has %s; at most %d are allowed", humanize.Count(k.Got, "character"), k.Want)
	case *kind.Minimum:
		return fmt.Sprintf("%s is below %s", decimal(k.Got), decimal(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("%s is above %s", decimal(k.Got), decimal(k.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("%s is not above %s", decimal(k.Got), decimal(k.Want))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("%s is not below %s", decimal(k.Got), decimal(k.Want))
	case *kind.MultipleOf:
		return fmt.Sprintf("%s is not a multiple of %s", decimal(k.Got), decimal(k.Want))
	case *kind.Pattern:
		return fmt.Sprintf("%q does not match the pattern %s", clip(k.Got), clip(k.Want))
	case *kind.MinItems:
		return fmt.Sprintf("choose or add at least %d; there are %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("choose or add at most %d; there are %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("%d and %d are the same", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return "it fits more than one of the alternatives"
		}
		return "it fits none of the alternatives"
	case *kind.AnyOf:
		return "it fits none of the alternatives"
	case *kind.AdditionalProperties:
		return "not allowed: " + clip(strings.Join(k.Properties, ", "))
	}
	return clip(e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

// decimal writes a number with as few digits as it needs.
func decimal(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact {
		return clip(r.FloatString(n))
	}
	return clip(r.RatString())
}

const maxClip = 80

func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxClip {
		return s
	}
	return string(r[:maxClip]) + "…"
}
