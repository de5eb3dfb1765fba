package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Limits of a request, in bytes or counts.
const (
	MaxQuestions   = 20
	MaxOptions     = 50
	maxQuestion    = 8 << 10
	maxHeader      = 200
	maxDescription = 64 << 10
	maxLabel       = 1 << 10
	maxID          = 200
	maxProblems    = 5
)

// ParseQuestions parses the questions of a request as models write them: a list, a
// single question, or either in a JSON string, with common alternative field names. The
// error lists at most five problems, each with its position.
func ParseQuestions(raw json.RawMessage) ([]Question, error) {
	if len(raw) > maxLine {
		return nil, fmt.Errorf("questions are larger than %d bytes", maxLine)
	}
	v, err := decode(raw)
	if err != nil {
		return nil, errors.New("questions are not valid JSON")
	}
	if s, ok := v.(string); ok {
		if v, err = decode([]byte(s)); err != nil {
			return nil, errors.New("questions is a string that is not a JSON list")
		}
	}
	if one, ok := v.(map[string]any); ok {
		v = []any{one}
	}
	list, ok := v.([]any)
	switch {
	case v == nil:
		return nil, errors.New("questions is missing: pass a list of 1 to 20 questions")
	case !ok:
		return nil, errors.New("questions is not a list")
	case len(list) == 0:
		return nil, errors.New("questions must not be empty")
	case len(list) > MaxQuestions:
		return nil, fmt.Errorf("too many questions: %d (limit %d)", len(list), MaxQuestions)
	}
	p := &parser{taken: map[string]bool{}}
	return p.questions(list)
}

// decode reads one JSON value, numbers kept as written.
func decode(raw []byte) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read json: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read json: more than one value")
	}
	return v, nil
}

// numbered returns the ID for question i (from 0) if it has none.
func numbered(i int) string { return "q" + strconv.Itoa(i+1) }

type parser struct {
	taken    map[string]bool // question ids
	problems []string
	where    string // with the joint to what follows: "question 2 (cache): "
}

func (p *parser) problem(format string, args ...any) {
	p.problems = append(p.problems, p.where+fmt.Sprintf(format, args...))
}

func (p *parser) questions(list []any) ([]Question, error) {
	ids := make([]string, len(list))
	for i, v := range list {
		p.where = fmt.Sprintf("question %d: ", i+1)
		m, ok := v.(map[string]any)
		if !ok {
			continue
		}
		id := p.id(m)
		if id == "" {
			continue
		}
		if p.taken[id] {
			p.problem("duplicate id %q", clip(id))
		}
		ids[i], p.taken[id] = id, true
	}
	out := make([]Question, len(list))
	for i, v := range list {
		p.where = fmt.Sprintf("question %d: ", i+1)
		m, ok := v.(map[string]any)
		if !ok {
			p.problem("is not an object")
			continue
		}
		if ids[i] == "" {
			ids[i] = p.free(i)
		}
		p.where = fmt.Sprintf("question %d (%s): ", i+1, clip(ids[i]))
		out[i] = p.question(m)
		out[i].ID = ids[i]
	}
	return out, p.err()
}

func (p *parser) err() error {
	if len(p.problems) == 0 {
		return nil
	}
	shown := p.problems[:min(len(p.problems), maxProblems)]
	msg := strings.Join(shown, "; ")
	if n := len(p.problems) - len(shown); n > 0 {
		msg += fmt.Sprintf("; and %d more", n)
	}
	return errors.New(msg)
}

// id returns the explicit ID of a question, "" for none. A number is used as written.
func (p *parser) id(m map[string]any) string {
	switch v := m["id"].(type) {
	case nil:
	case string:
		if strings.TrimSpace(v) == "" {
			return ""
		}
		if len(v) > maxID {
			p.problem("the id is longer than %d bytes", maxID)
		}
		return v
	case json.Number:
		return v.String()
	default:
		p.problem("the id is not a string")
	}
	return ""
}

// free returns an unused ID for question i.
func (p *parser) free(i int) string {
	for {
		id := numbered(i)
		if !p.taken[id] {
			p.taken[id] = true
			return id
		}
		i++
	}
}

func (p *parser) question(m map[string]any) Question {
	problems := len(p.problems)
	text := breaks(p.text(m, maxQuestion, "question", "prompt", "text"))
	if strings.TrimSpace(text) == "" && len(p.problems) == problems {
		p.problem("has no question text")
	}
	q := Question{
		Question:    text,
		Header:      lineEnds(p.text(m, maxHeader, "header")),
		Description: breaks(p.text(m, maxDescription, "description")),
		Placeholder: lineEnds(p.text(m, maxHeader, "placeholder")),
		Multi:       p.flag(m, false, "multi", "multiSelect", "multiple"),
		AllowOther:  p.flag(m, true, "allowOther"),
		Required:    p.flag(m, true, "required"),
	}
	kind, _ := m["kind"].(string)
	q.Options = p.options(m)
	if Kind(kind) == Confirm && len(q.Options) == 0 {
		q.Options = []Option{{Label: "Yes"}, {Label: "No"}}
	}
	q.Recommended = recommended(m["recommended"], q.Options, q.Multi)
	q.dropOther()
	q.Kind = kindOf(Kind(kind), len(q.Options))
	if len(q.Options) == 0 && !q.AllowOther && Kind(kind) != Text {
		p.problem("has neither options nor free text, so it cannot be answered")
	}
	if q.Multi {
		p.selection(m, &q)
	}
	return q
}

func kindOf(asked Kind, options int) Kind {
	switch {
	case options == 0:
		return Text
	case asked == Confirm:
		return Confirm
	}
	return Choice
}

func (p *parser) selection(m map[string]any, q *Question) {
	q.MinSelect = 1
	if n, ok := whole(m["minSelect"]); ok && n >= 0 {
		q.MinSelect = n
	}
	if n, ok := whole(m["maxSelect"]); ok && n > 0 {
		q.MaxSelect = n
	}
	if len(q.Options) == 0 {
		q.MinSelect, q.MaxSelect = 0, 0
		return
	}
	if q.MaxSelect > 0 && q.MinSelect > q.MaxSelect {
		p.problem("minSelect %d is greater than maxSelect %d", q.MinSelect, q.MaxSelect)
	}
	if q.MinSelect > len(q.Options) {
		p.problem("minSelect %d is greater than the number of options, %d", q.MinSelect, len(q.Options))
	}
}

func (p *parser) options(m map[string]any) []Option {
	v, ok := m["options"]
	if !ok || v == nil {
		v = m["choices"]
	}
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		p.problem("options is not a list")
		return nil
	}
	if len(list) > MaxOptions {
		p.problem("too many options: %d (limit %d)", len(list), MaxOptions)
		return nil
	}
	out := make([]Option, len(list))
	seen := map[string]bool{}
	where := p.where
	for i, v := range list {
		p.where = fmt.Sprintf("%soption %d ", where, i+1)
		out[i] = p.option(v)
		key := strings.TrimSpace(out[i].Label)
		if key != "" && seen[key] {
			p.problem("has the duplicate label %q", clip(key))
		}
		seen[key] = true
	}
	p.where = where
	return out
}

func (p *parser) option(v any) Option {
	var o Option
	switch v := v.(type) {
	case string:
		o.Label = v
	case map[string]any:
		switch l := v["label"].(type) {
		case string:
			o.Label = l
		case nil:
		default:
			p.problem("has a label that is not a string")
			return o
		}
		o.Description = breaks(p.text(v, maxDescription, "description"))
		o.Preview = breaks(p.text(v, maxDescription, "preview"))
	default:
		p.problem("is neither a string nor an object")
		return o
	}
	switch {
	case strings.TrimSpace(o.Label) == "":
		p.problem("has no label")
	case len(o.Label) > maxLabel:
		p.problem("has a label longer than %d bytes", maxLabel)
	}
	return o
}

// text returns the value of the first of names in m. A value that is not a string is a
// problem; null counts as missing.
func (p *parser) text(m map[string]any, limit int, names ...string) string {
	for _, name := range names {
		v, ok := m[name]
		if !ok || v == nil {
			continue
		}
		s, ok := v.(string)
		if !ok {
			p.problem("%s is not a string", names[0])
			return ""
		}
		if len(s) > limit {
			p.problem("%s is longer than %d bytes", names[0], limit)
			return ""
		}
		return s
	}
	return ""
}

// flag returns the value of the first of names in m: a boolean, or "true" or "false".
func (p *parser) flag(m map[string]any, absent bool, names ...string) bool {
	for _, name := range names {
		switch v := m[name].(type) {
		case nil:
			continue
		case bool:
			return v
		case string:
			if b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(v))); err == nil {
				return b
			}
		}
		p.problem("%s is not true or false", names[0])
		return absent
	}
	return absent
}

// whole parses a number whose fraction is zero.
func whole(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<30 {
		return 0, false
	}
	return int(f), true
}

func clip(s string) string {
	const limit = 60
	s = strings.ToValidUTF8(s, "\ufffd")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// CheckQuestions reports what is wrong with questions that [ParseQuestions] did not return: those
// of another machine's deck.
func CheckQuestions(qs []Question) error {
	if len(qs) == 0 || len(qs) > MaxQuestions {
		return fmt.Errorf("%s at once", humanize.Count(len(qs), "question"))
	}
	ids := map[string]bool{}
	for i := range qs {
		q := &qs[i]
		if q.ID == "" || ids[q.ID] {
			return fmt.Errorf("question %d has no id of its own", i+1)
		}
		ids[q.ID] = true
		if len(q.Options) > MaxOptions || q.Kind == Confirm && len(q.Options) < 2 {
			return fmt.Errorf("question %q has %s", q.ID, humanize.Count(len(q.Options), "option"))
		}
		if slices.ContainsFunc(q.Recommended, func(n int) bool { return n < 0 || n >= len(q.Options) }) {
			return fmt.Errorf("question %q recommends an option that it does not have", q.ID)
		}
		switch q.Kind {
		case Choice, Text, Confirm:
		case Form:
			if _, err := q.Form(); err != nil {
				return fmt.Errorf("question %q: %w", q.ID, err)
			}
		default:
			return fmt.Errorf("question %q is of the unknown kind %q", q.ID, q.Kind)
		}
	}
	return nil
}
