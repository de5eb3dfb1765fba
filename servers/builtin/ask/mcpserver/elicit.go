package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

// When no deck runs, a client that can show forms is asked to show one. The
// handler returns input_required, which mcp-go turns into a request to the
// client where the protocol revision still has those.

const (
	formKey    = "ask"
	stateLives = time.Hour           // from the client, which may keep it
	heldLives  = 30 * 24 * time.Hour // within this process, while the client shows the form
)

// elicit asks the client to show a form; nil when it cannot.
func (h handlers) elicit(ctx context.Context, req mcp.CallToolRequest, qs []questions.Question) *mcp.CallToolResult {
	if !showsForms(ctx, req) {
		return nil
	}
	params := mcp.ElicitationParams{
		Mode: mcp.ElicitationModeForm, Message: formMessage(qs),
		RequestedSchema: formSchema(qs, server.RequestProtocolVersion(ctx)),
	}
	lives := stateLives
	if version := server.RequestProtocolVersion(ctx); !mcp.IsModernProtocol(version) {
		lives = heldLives
	}
	state := h.sign.seal(digest(qs), time.Now().Add(lives))
	return server.NewInputRequestBuilder(state).Elicit(formKey, params).ToolResult()
}

// elicited reads the form, if this is the call that brings it back with the
// state this process gave out for the same questions.
func (h handlers) elicited(_ context.Context, req mcp.CallToolRequest, qs []questions.Question) (*mcp.CallToolResult, bool) {
	form := server.ElicitationResponse(req.Params.InputResponses, formKey)
	if form == nil || !h.sign.valid(req.Params.RequestState, digest(qs), time.Now()) {
		return nil, false
	}
	if form.Action != mcp.ElicitationResponseActionAccept {
		return outcome(questions.Reply{Status: questions.Declined}), true
	}
	content, _ := form.Content.(map[string]any)
	d := questions.NewDraft(qs)
	for i, q := range qs {
		d.Answers[i] = readForm(q, i, content)
	}
	return outcome(d.Reply(qs)), true
}

func showsForms(ctx context.Context, req mcp.CallToolRequest) bool {
	var caps *mcp.ElicitationCapability
	if c := req.Params.Meta.ClientCapabilities(); c != nil {
		caps = c.Elicitation
	} else if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		caps = s.GetClientCapabilities().Elicitation
	}
	return caps != nil && (caps.Form != nil || caps.URL == nil)
}

func formMessage(qs []questions.Question) string {
	var b strings.Builder
	for i, q := range qs {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if len(qs) > 1 {
			fmt.Fprintf(&b, "%d. ", i+1)
		}
		b.WriteString(q.Question)
		if q.Description != "" {
			b.WriteString("\n" + q.Description)
		}
	}
	return b.String()
}

// formSchema is flat, has no defaults and requires nothing: a client that
// accepts forms by itself must not make up answers. Values are indexes.
func formSchema(qs []questions.Question, version string) map[string]any {
	modern := version >= mcp.ProtocolVersion20251125
	props := map[string]any{}
	for i, q := range qs {
		key := "a" + strconv.Itoa(i)
		title := q.Label(i)
		switch {
		case len(q.Options) == 0:
			props[key+"_other"] = map[string]any{"type": "string", "title": title, "description": q.Question}
			continue
		case q.Multi && modern:
			props[key] = map[string]any{"type": "array", "title": title, "description": q.Question, "items": map[string]any{"anyOf": consts(q)}}
		case q.Multi:
			for n := range q.Options {
				props[key+"_"+strconv.Itoa(n)] = map[string]any{"type": "boolean", "title": title + ": " + optionTitle(q, n)}
			}
		case modern:
			props[key] = map[string]any{"type": "string", "title": title, "description": q.Question, "oneOf": consts(q)}
		default:
			values, names := make([]string, len(q.Options)), make([]string, len(q.Options))
			for n := range q.Options {
				values[n], names[n] = strconv.Itoa(n), optionTitle(q, n)
			}
			props[key] = map[string]any{"type": "string", "title": title, "description": q.Question, "enum": values, "enumNames": names}
		}
		if q.HasOther() {
			props[key+"_other"] = map[string]any{"type": "string", "title": title + ": something else"}
		}
	}
	return map[string]any{"type": "object", "properties": props}
}

func consts(q questions.Question) []map[string]any {
	out := make([]map[string]any, len(q.Options))
	for n := range q.Options {
		out[n] = map[string]any{"const": strconv.Itoa(n), "title": optionTitle(q, n)}
	}
	return out
}

func optionTitle(q questions.Question, n int) string {
	label := q.Options[n].Label
	for _, r := range q.Recommended {
		if r == n && !questions.MarkedRecommended(label) {
			return label + " (recommended)"
		}
	}
	return label
}

// readForm takes one question's answer out of a form. What is not there, or
// not one of the options, is skipped.
func readForm(q questions.Question, i int, content map[string]any) questions.AnswerDraft {
	key := "a" + strconv.Itoa(i)
	var a questions.AnswerDraft
	choose := func(v any) {
		s, _ := v.(string)
		if n, err := strconv.Atoi(s); err == nil && n >= 0 && n < len(q.Options) {
			a.Chosen = append(a.Chosen, n)
		}
	}
	if list, ok := content[key].([]any); ok && q.Multi {
		for _, v := range list {
			choose(v)
		}
	} else {
		choose(content[key])
	}
	for n := range q.Options {
		if on, _ := content[key+"_"+strconv.Itoa(n)].(bool); on && q.Multi {
			a.Chosen = append(a.Chosen, n)
		}
	}
	if s, _ := content[key+"_other"].(string); strings.TrimSpace(s) != "" && q.HasOther() {
		a.Other, a.OtherOn = s, true
	}
	a.Skipped = len(a.Chosen) == 0 && !a.OtherOn
	return a
}

// digest stands for the questions in the state of a form.
func digest(qs []questions.Question) []byte {
	sum := sha256.Sum256(encode(qs))
	return sum[:]
}

// signer makes the state that a client hands back with a form, so that it
// cannot be made up or used for other questions. The key lives as long as the
// process.
type signer struct{ key []byte }

func newSigner() signer {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // crypto/rand never fails: it crashes the program first
	return signer{key: key}
}

func (s signer) mac(digest []byte, until int64) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(digest)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(until)))
	return h.Sum(nil)
}

func (s signer) seal(digest []byte, until time.Time) string {
	at := until.Unix()
	return strconv.FormatInt(at, 10) + "." + base64.RawURLEncoding.EncodeToString(s.mac(digest, at))
}

func (s signer) valid(state string, digest []byte, now time.Time) bool {
	until, sum, ok := strings.Cut(state, ".")
	at, err := strconv.ParseInt(until, 10, 64)
	if !ok || err != nil || now.Unix() > at {
		return false
	}
	got, err := base64.RawURLEncoding.DecodeString(sum)
	return err == nil && hmac.Equal(got, s.mac(digest, at))
}
