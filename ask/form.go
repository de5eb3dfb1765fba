package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// Form is what a server asks the user to fill in (MCP's elicitation in form
// mode), as questions: a string with given values becomes a single choice, a list
// a multiple choice, a boolean a yes or no, anything else a text. Make one with
// [ParseForm].
type Form struct {
	message string
	fields  []*formField // none: the user agrees or does not
	order   []*formField // of the questions asked last
}

// formField is one property of a form.
type formField struct {
	name     string
	kind     string // "string", "number", "integer", "boolean", "array"
	required bool
	rules    rawjson.Object
	labels   []string
	values   []json.RawMessage // by label
	asked    map[string]any    // the question, as an agent would write it
	answer   json.RawMessage   // nil: none
	done     bool
	problem  string // with the last answer
}

// Elicited is how a form came back. Content is an object, nil unless Action is
// "accept".
type Elicited struct {
	Action  string // "accept", "decline" or "cancel"
	Content json.RawMessage
}

// Elicit puts a form to the user and waits until it is filled in, or not. What
// does not fit a field is asked for again. A cancelled ctx withdraws it; the error
// is that of [Queue.Ask], and the form is then cancelled.
func (q *Queue) Elicit(ctx context.Context, req Request, f *Form) (Elicited, error) {
	for {
		var err error
		if req.Questions, err = f.questions(); err != nil {
			return Elicited{Action: "cancel"}, err
		}
		r, err := q.Ask(ctx, req)
		switch {
		case err != nil:
			return Elicited{Action: "cancel"}, err
		case r.Status == Declined:
			return Elicited{Action: "decline"}, nil
		case r.Status == TimedOut:
			return Elicited{Action: "cancel"}, nil
		}
		if e, done := f.take(r.Results); done {
			return e, nil
		}
	}
}

// ParseForm reads the schema of a form: an object with flat properties. The
// error says why the user cannot be asked it.
func ParseForm(message string, schema json.RawMessage) (*Form, error) {
	o, err := rawjson.Parse(schema)
	if err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	f := &Form{message: cutBytes(strings.TrimSpace(message), maxQuestion)}
	props := rawjson.Object{}
	if raw := o.Get("properties"); raw != nil {
		if props, err = rawjson.SplitObject(raw); err != nil {
			return nil, fmt.Errorf("read the form: properties: %w", err)
		}
	}
	required := texts(o.Get("required"))
	for _, p := range props {
		rules, err := rawjson.SplitObject(p.Value)
		if err != nil {
			return nil, fmt.Errorf("read the form: %s: %w", clip(p.Key), err)
		}
		field := &formField{name: p.Key, kind: rules.Str("type"), rules: rules, required: slices.Contains(required, p.Key)}
		field.shape()
		f.fields = append(f.fields, field)
	}
	_, err = f.questions()
	return f, err
}

// shape makes the field's question.
func (f *formField) shape() {
	f.asked = map[string]any{"id": f.name, "required": f.required, "allowOther": false, "description": f.rules.Str("description")}
	if t := f.rules.Str("title"); t != "" && len(t) <= maxHeader {
		f.asked["header"] = t
	}
	from := f.rules
	switch f.kind {
	case "boolean":
		f.asked["kind"] = Confirm
		f.labels, f.values = []string{"Yes", "No"}, []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	case "array":
		from, _ = rawjson.SplitObject(f.rules.Get("items")) // another kind of JSON names no values
		f.asked["multi"] = true
		f.asked["minSelect"] = f.whole("minItems", 0)
		if n := f.whole("maxItems", 0); n > 0 {
			f.asked["maxSelect"] = n
		}
		f.choices(from)
	default:
		f.choices(from)
	}
	if len(f.labels) == 0 {
		f.asked["kind"], f.asked["allowOther"] = Text, true
		if d := f.rules.Get("default"); d != nil && string(d) != "null" {
			f.asked["placeholder"] = cutBytes("default: "+word(d), maxHeader)
		}
		return
	}
	f.asked["options"] = f.labels
	var likely []int
	defaults, several := rawjson.SplitArray(f.rules.Get("default"))
	if !several {
		defaults = []json.RawMessage{f.rules.Get("default")}
	}
	for i, v := range f.values {
		if slices.ContainsFunc(defaults, func(d json.RawMessage) bool { return string(d) == string(v) }) {
			likely = append(likely, i)
		}
	}
	if f.kind != "array" && len(likely) == 1 {
		f.asked["recommended"] = likely[0]
	} else {
		f.asked["recommended"] = likely
	}
}

// choices reads the given values, in both ways they are written.
func (f *formField) choices(from rawjson.Object) {
	titled, ok := rawjson.SplitArray(from.Get("oneOf"))
	if !ok {
		titled, _ = rawjson.SplitArray(from.Get("anyOf"))
	}
	for _, raw := range titled {
		if o, err := rawjson.SplitObject(raw); err == nil && o.Get("const") != nil {
			f.choice(o.Get("const"), o.Str("title"))
		}
	}
	if len(f.values) > 0 {
		return
	}
	values, _ := rawjson.SplitArray(from.Get("enum"))
	names := texts(from.Get("enumNames"))
	for i, v := range values {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		f.choice(v, name)
	}
}

func (f *formField) choice(value json.RawMessage, label string) {
	if strings.TrimSpace(label) == "" {
		label = word(value)
	}
	if slices.ContainsFunc(f.labels, func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(label) }) {
		label += " (" + word(value) + ")"
	}
	f.labels, f.values = append(f.labels, label), append(f.values, value)
}

// questions are what is still to be answered.
func (f *Form) questions() ([]Question, error) {
	if len(f.fields) == 0 {
		text := f.message
		if text == "" {
			text = "Go on?"
		}
		return []Question{{ID: "agree", Question: text, Kind: Confirm, Required: true, Options: []Option{{Label: "Yes"}, {Label: "No"}}}}, nil
	}
	var asked []map[string]any
	f.order = f.order[:0]
	for _, field := range f.fields {
		if field.done {
			continue
		}
		q := maps.Clone(field.asked)
		name, about := field.rules.Str("title"), field.rules.Str("description")
		if name == "" {
			name = (Question{ID: field.name}).Label(-1)
		}
		q["question"] = name
		before := []string{f.message}
		if len(f.fields) == 1 && f.message != "" {
			q["question"], before[0] = f.message, name
		}
		if field.problem != "" {
			before = append([]string{field.problem}, before...)
		}
		q["description"] = cutBytes(strings.Trim(strings.Join(append(before, about), "\n\n"), "\n"), maxDescription)
		asked = append(asked, q)
		f.order = append(f.order, field)
	}
	raw, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("put the form: %w", err)
	}
	return ParseQuestions(raw)
}

// take reads answers, one per question. It tells whether the form is done.
func (f *Form) take(results []Result) (Elicited, bool) {
	if len(f.fields) == 0 {
		if len(results) == 1 && slices.Equal(results[0].SelectedOptions, []string{"Yes"}) {
			return Elicited{Action: "accept", Content: json.RawMessage("{}")}, true
		}
		return Elicited{Action: "decline"}, true
	}
	for i, r := range results {
		if i < len(f.order) {
			f.order[i].take(r)
		}
	}
	content := []byte{'{'}
	for _, field := range f.fields {
		if !field.done {
			return Elicited{}, false
		}
		if field.answer == nil {
			continue
		}
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = append(append(append(content, rawjson.Quote(field.name)...), ':'), field.answer...)
	}
	return Elicited{Action: "accept", Content: append(content, '}')}, true
}

func (f *formField) take(r Result) {
	var err error
	f.answer, err = f.value(r)
	f.done, f.problem = err == nil, ""
	if err != nil {
		f.problem = "Not accepted: " + err.Error() + "."
	}
}

// value is an answer as the server wants it, nil for none.
func (f *formField) value(r Result) (json.RawMessage, error) {
	switch {
	case r.Clarify != "":
		return nil, errors.New("you cannot ask back here; answer or decline")
	case r.Skipped && f.required:
		return nil, errors.New("answer it, or decline the whole request")
	case r.Skipped:
		return nil, nil
	case len(f.labels) == 0:
		return f.text(r.CustomInput)
	}
	var chosen []json.RawMessage
	for i, l := range f.labels {
		if slices.Contains(r.SelectedOptions, l) {
			chosen = append(chosen, f.values[i])
		}
	}
	if f.kind != "array" {
		if len(chosen) != 1 {
			return nil, errors.New("give one value")
		}
		return chosen[0], nil
	}
	out := []byte{'['}
	for i, v := range chosen {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']'), nil
}

// text is typed text as the server wants it.
func (f *formField) text(s string) (json.RawMessage, error) {
	switch f.kind {
	case "integer", "number":
		return f.number(strings.TrimSpace(s))
	case "array":
		var out []string
		for l := range strings.Lines(s) {
			if l = strings.TrimSpace(l); l != "" {
				out = append(out, l)
			}
		}
		return json.Marshal(out)
	}
	n := utf8.RuneCountInString(s)
	if least := f.whole("minLength", 0); n < least {
		return nil, fmt.Errorf("it has %d characters; at least %d are required", n, least)
	}
	if most := f.whole("maxLength", n); n > most {
		return nil, fmt.Errorf("it has %d characters; at most %d are allowed", n, most)
	}
	if !wellFormed(f.rules.Str("format"), s) {
		return nil, fmt.Errorf("%q is not a valid %s", clip(s), f.rules.Str("format"))
	}
	return rawjson.Quote(s), nil
}

func (f *formField) number(s string) (json.RawMessage, error) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !json.Valid([]byte(s)) {
		return nil, fmt.Errorf("%q is not a number", clip(s))
	}
	if f.kind == "integer" && strings.Trim(s, "-0123456789") != "" {
		return nil, fmt.Errorf("%q is not a whole number", clip(s))
	}
	if least, err := strconv.ParseFloat(string(f.rules.Get("minimum")), 64); err == nil && n < least {
		return nil, fmt.Errorf("%s is below %s", s, f.rules.Get("minimum"))
	}
	if most, err := strconv.ParseFloat(string(f.rules.Get("maximum")), 64); err == nil && n > most {
		return nil, fmt.Errorf("%s is above %s", s, f.rules.Get("maximum"))
	}
	return json.RawMessage(s), nil
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

func (f *formField) whole(rule string, absent int) int {
	n, err := strconv.Atoi(string(f.rules.Get(rule)))
	if err != nil {
		return absent
	}
	return n
}

// word is a value as the user reads it: a string without its quotes.
func word(v json.RawMessage) string {
	if s, err := rawjson.Text(v); err == nil {
		return s
	}
	return string(v)
}

func texts(raw json.RawMessage) []string {
	list, _ := rawjson.SplitArray(raw)
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = word(v)
	}
	return out
}

func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
