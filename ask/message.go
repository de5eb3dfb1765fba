package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// message is a request line after reading. The id is the caller's own bytes.
type message struct {
	id       json.RawMessage
	kind     string // "ask" when the type was left out
	v        bool   // the caller knows the fields beyond the original format
	features map[string]bool
	fields   map[string]json.RawMessage
}

func nullID() json.RawMessage { return json.RawMessage("null") }

// parseMessage reads one line. On an error the message still has the id to
// answer with.
func parseMessage(line []byte) (message, error) {
	m := message{id: nullID()}
	if !utf8.Valid(line) {
		return m, errors.New("not valid UTF-8")
	}
	if !isObject(line) || json.Unmarshal(line, &m.fields) != nil {
		return m, errors.New("not a JSON object")
	}
	id := bytes.TrimSpace(m.fields["id"])
	switch {
	case len(id) == 0 || bytes.Equal(id, []byte("null")):
		m.id = encode("deck-" + NewKey()[:8])
	case id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9':
		m.id = id
	default:
		return m, errors.New("id is neither a string nor a number")
	}
	var features []string
	_ = json.Unmarshal(m.fields["features"], &features) // what is not a list of names counts as none
	_, hasV := m.fields["v"]
	_, hasFeatures := m.fields["features"]
	m.v = hasV || hasFeatures
	m.features = map[string]bool{}
	for _, f := range features {
		m.features[f] = true
	}
	raw, has := m.fields["type"]
	if err := json.Unmarshal(raw, &m.kind); has && err != nil {
		return m, errors.New("type is not a string")
	}
	if _, ok := m.fields["questions"]; ok && m.kind == "" {
		m.kind = "ask"
	}
	return m, nil
}

// request is the ask that m holds.
func (m *message) request() (Request, error) {
	qs, err := ParseQuestions(m.fields["questions"])
	if err != nil {
		return Request{}, err
	}
	r := Request{Questions: qs, Plain: !m.v}
	_ = json.Unmarshal(m.fields["from"], &r.From) // claims for display; unusable ones count as none
	r.Title = sanitize.Cut(r.From.Title, maxHeader)
	for _, s := range []*string{&r.From.Client, &r.From.ClientVersion, &r.From.Agent, &r.From.Session, &r.From.Cwd, &r.From.Title} {
		*s = sanitize.Cut(sanitize.Line(*s), maxHeader)
	}
	r.Timeout = m.millis("timeoutMs")
	r.ClientDeadline = m.millis("clientDeadlineMs")
	_ = json.Unmarshal(m.fields["resumeKey"], &r.ResumeKey) // not a string: no key
	_ = json.Unmarshal(m.fields["owner"], &r.Owner)         // as above
	return r, nil
}

func (m *message) millis(name string) time.Duration {
	var ms float64
	if json.Unmarshal(m.fields[name], &ms) != nil || ms <= 0 {
		return 0
	}
	return time.Duration(math.Min(ms, 1e12)) * time.Millisecond
}

// line is everything the deck sends, in the order of the fields.
type line struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Type     string          `json:"type"`
	Results  any             `json:"results,omitempty"`
	Message  string          `json:"message,omitempty"`
	V        int             `json:"v,omitempty"`
	Status   Status          `json:"status,omitempty"`
	Code     string          `json:"code,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Retry    bool            `json:"retry,omitempty"`
	State    string          `json:"state,omitempty"`
	Position int             `json:"position,omitempty"`
	App      string          `json:"app,omitempty"`
	Version  string          `json:"version,omitempty"`
	Pending  *int            `json:"pending,omitempty"`
	Socket   string          `json:"socket,omitempty"`
	Method   string          `json:"method,omitempty"`
	Items    any             `json:"items,omitempty"`
}

// bytes is l as one line with its end.
func (l line) bytes() []byte { return append(encode(l), '\n') }

func encode(v any) json.RawMessage {
	b, err := rawjson.Encode(v, "")
	if err != nil {
		return nullID()
	}
	return b
}

// reply is what the caller of m gets for r, in the form it understands.
func (m *message) reply(r Reply) line {
	switch r.Status {
	case Declined:
		text := "cancelled"
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		return m.fail("cancelled", text, r.Reason, false)
	case TimedOut:
		return m.fail("timeout", "timed out", "", false)
	default:
	}
	out := make([]Result, len(r.Results))
	for i, res := range r.Results {
		out[i] = m.adapt(res)
	}
	l := line{ID: m.id, Type: "result", Results: out}
	if m.v {
		l.V, l.Status = 1, r.Status
	}
	return l
}

// adapt says a result in fields that the caller knows, so that nothing the
// user typed is lost.
func (m *message) adapt(r Result) Result {
	if r.SelectedOptions == nil {
		r.SelectedOptions = []string{}
	}
	if !m.features["clarify"] && r.Clarify != "" {
		r.CustomInput, r.Clarify = r.Clarify, ""
	}
	if !m.features["skip"] {
		r.Skipped = false
	}
	if !m.features["notes"] {
		r.SelectedOptions = slices.Clone(r.SelectedOptions)
		for i, label := range r.SelectedOptions {
			if note := r.Notes[label]; note != "" {
				r.SelectedOptions[i] = label + " - " + note
			}
		}
		r.Notes, r.Note = nil, ""
	}
	return r
}

func (m *message) fail(code, text, reason string, retry bool) line {
	l := line{ID: m.id, Type: "error", Message: text}
	if m.v {
		l.V, l.Code, l.Reason, l.Retry = 1, code, reason, retry
	}
	return l
}

// failure is the error line for err.
func (m *message) failure(err error) line {
	var e *Error
	if !errors.As(err, &e) {
		return m.fail("internal", "internal error", "", false)
	}
	return m.fail(e.Code, e.Message, "", e.Retry && m.features["resume"])
}

func invalid(format string, args ...any) *Error {
	return &Error{Code: "invalid", Message: "invalid request: " + fmt.Sprintf(format, args...)}
}

func errTooLarge() *Error {
	return &Error{Code: "too_large", Message: fmt.Sprintf("request too large (limit %d bytes)", maxLine)}
}

func unsupported(kind string) *Error {
	return &Error{Code: "unsupported", Message: fmt.Sprintf("unsupported request type %q", strings.ToValidUTF8(kind, "\ufffd"))}
}
