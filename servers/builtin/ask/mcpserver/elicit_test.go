package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

func TestElicitationWithHandshake(t *testing.T) {
	tests := []struct {
		name   string
		action mcp.ElicitationResponseAction
		values map[string]any
		status string
		text   string
	}{
		{"accept", "accept", map[string]any{"a0": "1"}, "answered", "auth: API key"},
		{"free text wins", "accept", map[string]any{"a0": "1", "a0_other": "both"}, "answered", `auth: "both"`},
		{"empty is skipped", "accept", map[string]any{}, "partial", "auth: (skipped)"},
		{"case 64 no such option", "accept", map[string]any{"a0": "7"}, "partial", "auth: (skipped)"},
		{"decline", "decline", nil, "declined", ""},
		{"cancel", "cancel", nil, "declined", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, noQueue{}, nil, "x")
			b.ses.caps.Elicitation = &mcp.ElicitationCapability{}
			b.ses.forms = func(r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
				schema, _ := json.Marshal(r.Params.RequestedSchema)
				if !bytes.Contains(schema, []byte(`"oneOf":[{"const":"0","title":"OAuth"}`)) || bytes.Contains(schema, []byte("default")) || bytes.Contains(schema, []byte("required")) {
					t.Errorf("schema %s", schema)
				}
				return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: tt.action, Content: tt.values}}, nil
			}
			got := b.call(b.ctx, askParams(oneQuestion, nil))
			if got.IsError || got.StructuredContent.Status != tt.status || !strings.Contains(got.Content[0].Text, tt.text) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestElicitationSchemaForOldClients(t *testing.T) {
	qs, err := questions.ParseQuestions(json.RawMessage(`[{"question":"A?","options":["x","y"],"recommended":1},{"question":"B?","multi":true,"options":["x"]},{"question":"C?"}]`))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(formSchema(qs, "2025-06-18"))
	for _, want := range []string{`"enum":["0","1"],"enumNames":["x","y (recommended)"]`, `"a1_0":{"title":"Q2: x","type":"boolean"}`, `"a2_other"`} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("schema lacks %s: %s", want, got)
		}
	}
	if a := readForm(qs[1], 1, map[string]any{"a1_0": true}); len(a.Chosen) != 1 {
		t.Errorf("boolean: %+v", a)
	}
}

func TestElicitationAnswersCarryASignedState(t *testing.T) {
	sign := newSigner()
	qs, _ := questions.ParseQuestions(json.RawMessage(`[{"question":"A?","options":["x","y"]}]`))
	other, _ := questions.ParseQuestions(json.RawMessage(`[{"question":"B?","options":["x","y"]}]`))
	now := time.Now()
	state := sign.seal(digest(qs), now.Add(stateLives))
	tests := []struct {
		name  string
		state string
		sign  signer
		qs    []questions.Question
		at    time.Time
		want  bool
	}{
		{"good", state, sign, qs, now, true},
		{"expired", state, sign, qs, now.Add(2 * time.Hour), false},
		{"other questions", state, sign, other, now, false},
		{"other process", state, newSigner(), qs, now, false},
		{"later expiry forged", "9" + state, sign, qs, now, false},
		{"empty", "", sign, qs, now, false},
		{"garbage", "1.$$$", sign, qs, now, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.sign.valid(tt.state, digest(tt.qs), tt.at); got != tt.want {
				t.Errorf("valid is %v", got)
			}
		})
	}
}

func TestElicitationWithoutHandshake(t *testing.T) {
	b := newBench(t, noQueue{}, nil, "x")
	params := func(caps string, more map[string]any) map[string]any {
		p := askParams(oneQuestion, nil)
		p["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "x", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(caps),
		}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	if got := b.call(b.ctx, params(`{}`, nil)); !got.IsError || got.StructuredContent.Status != "unavailable" {
		t.Errorf("without the capability: %+v", got)
	}
	got := b.call(b.ctx, params(`{"elicitation":{}}`, nil))
	if got.ResultType != "input_required" || got.InputRequests["ask"] == nil || got.RequestState == "" {
		t.Fatalf("got %+v", got)
	}
	form := map[string]any{"ask": map[string]any{"action": "accept", "content": map[string]any{"a0": "0"}}}
	answered := b.call(b.ctx, params(`{"elicitation":{}}`, map[string]any{"inputResponses": form, "requestState": got.RequestState}))
	if answered.StructuredContent.Status != "answered" || answered.Content[0].Text != "User answers:\nauth: OAuth" {
		t.Errorf("retry: %+v", answered)
	}
	forged := b.call(b.ctx, params(`{"elicitation":{}}`, map[string]any{"inputResponses": form, "requestState": "1.abc"}))
	if forged.ResultType != "input_required" {
		t.Errorf("forged state: %+v", forged)
	}
}

func TestElicitationMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, noQueue{}, nil, "x")
		b.ses.caps.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}}
		b.ses.forms = func(mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
			time.Sleep(2 * time.Hour) // on the bubble's clock
			return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: "accept", Content: map[string]any{"a0": "0"}}}, nil
		}
		if got := <-b.start(askParams(oneQuestion, nil)); got.StructuredContent.Status != "answered" {
			t.Errorf("got %+v", got)
		}
	})
}
