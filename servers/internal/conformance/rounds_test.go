package conformance

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Tools that need an answer of the client's side are written once: a client of
// the 2026 revision gets the questions as a result and calls again, an older
// one is asked while the call is held open.

// form is an elicitation for one required field.
func form(message, field, kind string) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
	}}
}

// fields is an elicitation for several.
func fields(message string, properties map[string]any, required ...string) mcp.ElicitationParams {
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return mcp.ElicitationParams{Message: message, RequestedSchema: schema}
}

func sample(text string, tokens int) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(text)}},
		MaxTokens: tokens,
	}
}

// seal signs a request state; unseal gives it back, or an error when the client
// changed it.
type sealer struct{ key []byte }

func newSealer() sealer { return sealer{[]byte(rand.Text())} }

func (s sealer) seal(state string) string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(state))
	return state + "." + hex.EncodeToString(m.Sum(nil))
}

func (s sealer) unseal(sealed string) (string, error) {
	state, _, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(s.seal(state)), []byte(sealed)) {
		return "", errors.New("the request state was changed on its way")
	}
	return state, nil
}

// elicited asks with one form and describes the answer.
func elicited(id string, params func(mcp.CallToolRequest) mcp.ElicitationParams, describe func(*mcp.ElicitationResult) string) server.ToolHandlerFunc {
	return func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a := server.ElicitationResponse(r.Params.InputResponses, id)
		if a == nil || a.Action == "" {
			return server.NewInputRequestBuilder("").Elicit(id, params(r)).ToolResult(), nil
		}
		return mcp.NewToolResultText(describe(a)), nil
	}
}

func always(p mcp.ElicitationParams) func(mcp.CallToolRequest) mcp.ElicitationParams {
	return func(mcp.CallToolRequest) mcp.ElicitationParams { return p }
}

func action(what string) func(*mcp.ElicitationResult) string {
	return func(a *mcp.ElicitationResult) string {
		return fmt.Sprintf("%s: action=%s, content=%v", what, a.Action, a.Content)
	}
}

func field(a *mcp.ElicitationResult, name string) string {
	m, _ := a.Content.(map[string]any)
	return fmt.Sprint(m[name])
}

// sampled asks for one completion.
func sampled(id string, params func(mcp.CallToolRequest) mcp.CreateMessageParams) server.ToolHandlerFunc {
	return func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		a := server.SamplingResponse(r.Params.InputResponses, id)
		if a == nil {
			return server.NewInputRequestBuilder("").Sample(id, params(r)).ToolResult(), nil
		}
		return mcp.NewToolResultText(fmt.Sprintf("LLM response: %s", samplingText(a.Content))), nil
	}
}

func samplingText(content any) string {
	switch c := content.(type) {
	case mcp.TextContent:
		return c.Text
	case map[string]any:
		return fmt.Sprint(c["text"])
	}
	return fmt.Sprint(content)
}

func choice(extra map[string]any) map[string]any {
	out := map[string]any{"type": "string"}
	for k, v := range extra {
		out[k] = v
	}
	return out
}

func titled(values ...string) []any {
	var out []any
	for i, v := range values {
		out = append(out, map[string]any{"const": v, "title": fmt.Sprintf("Option %d", i+1)})
	}
	return out
}

func defaults() map[string]any {
	return map[string]any{
		"name":     choice(map[string]any{"default": "John Doe"}),
		"age":      map[string]any{"type": "integer", "default": 30},
		"score":    map[string]any{"type": "number", "default": 95.5},
		"status":   choice(map[string]any{"enum": []string{"active", "inactive", "pending"}, "default": "active"}),
		"verified": map[string]any{"type": "boolean", "default": true},
	}
}

func enums() map[string]any {
	three := []string{"option1", "option2", "option3"}
	return map[string]any{
		"untitledSingle": choice(map[string]any{"enum": three}),
		"titledSingle":   choice(map[string]any{"oneOf": titled("value1", "value2", "value3")}),
		"legacyEnum":     choice(map[string]any{"enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"One", "Two", "Three"}}),
		"untitledMulti":  map[string]any{"type": "array", "items": choice(map[string]any{"enum": three})},
		"titledMulti":    map[string]any{"type": "array", "items": map[string]any{"anyOf": titled("value1", "value2", "value3")}},
	}
}

func roundTripTools(seal sealer) []server.ServerTool {
	name := always(form("What is your name?", "name", "string"))
	hello := func(a *mcp.ElicitationResult) string { return "Hello, " + field(a, "name") + "!" }
	return append(statefulTools(seal),
		tool("test_elicitation", "Asks the user", elicited("answer", func(r mcp.CallToolRequest) mcp.ElicitationParams {
			text := map[string]any{"type": "string", "description": "the user's answer"}
			return fields(r.GetString("message", ""), map[string]any{"username": text, "email": text}, "username", "email")
		}, action("User response")), mcp.WithString("message", mcp.Description("what to ask"), mcp.Required())),
		tool("test_elicitation_sep1034_defaults", "Asks with defaults",
			elicited("answer", always(fields("Please review the defaults", defaults())), action("Elicitation completed"))),
		tool("test_elicitation_sep1330_enums", "Asks with choices",
			elicited("answer", always(fields("Please choose", enums())), action("Elicitation completed"))),
		tool("test_streaming_elicitation", "Asks the user", elicited("answer", name, hello)),
		tool("test_sampling", "Asks the client's model", sampled("answer", func(r mcp.CallToolRequest) mcp.CreateMessageParams {
			return sample(r.GetString("prompt", ""), 100)
		}), mcp.WithString("prompt", mcp.Description("what to ask"), mcp.Required())),
		tool("test_missing_capability", "Needs a client that samples", missingCapability),
		tool("test_input_required_result_elicitation", "Asks the user", elicited("user_name", name, hello)),
		tool("test_input_required_result_sampling", "Asks the client's model", sampled("capital_question", func(mcp.CallToolRequest) mcp.CreateMessageParams {
			return sample("What is the capital of France?", 100)
		})),
		tool("test_input_required_result_list_roots", "Asks for the roots", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			a := server.RootsResponse(r.Params.InputResponses, "client_roots")
			if a == nil {
				return server.NewInputRequestBuilder("").Roots("client_roots").ToolResult(), nil
			}
			return mcp.NewToolResultText(fmt.Sprintf("roots: %v", a.Roots)), nil
		}),
		tool("test_input_required_result_capabilities", "Asks only what the client can answer", capabilities),
	)
}

// statefulTools hand the client a state and want it back unchanged.
func statefulTools(seal sealer) []server.ServerTool {
	confirm := form("Please confirm", "ok", "boolean")
	confirmed := func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if server.ElicitationResponse(r.Params.InputResponses, "confirm") == nil {
			return server.NewInputRequestBuilder(seal.seal("asked")).Elicit("confirm", confirm).ToolResult(), nil
		}
		if _, err := seal.unseal(r.Params.RequestState); err != nil {
			return nil, &rpc.Error{Code: mcp.INVALID_PARAMS, Message: err.Error()}
		}
		return mcp.NewToolResultText("state-ok"), nil
	}
	return []server.ServerTool{
		tool("test_input_required_result_request_state", "Keeps a state", confirmed),
		tool("test_input_required_result_tampered_state", "Refuses a changed state", confirmed),
		tool("test_input_required_result_multiple_inputs", "Asks three things at once", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			in := r.Params.InputResponses
			who, text, roots := server.ElicitationResponse(in, "user_name"), server.SamplingResponse(in, "greeting"), server.RootsResponse(in, "client_roots")
			if who == nil || text == nil || roots == nil {
				return server.NewInputRequestBuilder(seal.seal("three")).Elicit("user_name", form("What is your name?", "name", "string")).
					Sample("greeting", sample("Generate a greeting", 50)).Roots("client_roots").ToolResult(), nil
			}
			if _, err := seal.unseal(r.Params.RequestState); err != nil {
				return nil, err
			}
			return mcp.NewToolResultText(fmt.Sprintf("%s %s, %d roots", samplingText(text.Content), field(who, "name"), len(roots.Roots))), nil
		}),
		tool("test_input_required_result_multi_round", "Asks twice", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			in := r.Params.InputResponses
			if server.ElicitationResponse(in, "step2") != nil {
				if s, err := seal.unseal(r.Params.RequestState); err != nil || s != "step2" {
					return nil, errors.New("not the state of step 2")
				}
				return mcp.NewToolResultText("both steps answered"), nil
			}
			if server.ElicitationResponse(in, "step1") != nil {
				return server.NewInputRequestBuilder(seal.seal("step2")).Elicit("step2", form("Step 2: What is your favorite color?", "color", "string")).ToolResult(), nil
			}
			return server.NewInputRequestBuilder(seal.seal("step1")).Elicit("step1", form("Step 1: What is your name?", "name", "string")).ToolResult(), nil
		}),
	}
}

// declared is what the request says its client can do.
func declared(ctx context.Context) mcp.ClientCapabilities {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.ClientCapabilities != nil {
		return *info.ClientCapabilities
	}
	return mcp.ClientCapabilities{}
}

func missingCapability(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if server.IsModernRequest(ctx) && declared(ctx).Sampling == nil {
		return nil, &rpc.Error{Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: "the client must be able to sample", Data: map[string]any{
			"requiredCapabilities": map[string]any{"sampling": map[string]any{}},
		}}
	}
	return mcp.NewToolResultText("ok"), nil
}

// capabilities asks only in ways that the request says its client knows.
func capabilities(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(r.Params.InputResponses) > 0 {
		return mcp.NewToolResultText("answered"), nil
	}
	b := server.NewInputRequestBuilder("")
	can := declared(ctx)
	if can.Sampling != nil {
		b.Sample("sample", sample("hello", 10))
	}
	if can.Elicitation != nil {
		b.Elicit("elicit", form("What is your name?", "name", "string"))
	}
	return b.ToolResult(), nil
}

func roundTripPrompt() server.ServerPrompt {
	const id = "user_context"
	return server.ServerPrompt{
		Prompt: mcp.NewPrompt("test_input_required_result_prompt", mcp.WithPromptDescription("Asks for its context")),
		Handler: func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			a := server.ElicitationResponse(r.Params.InputResponses, id)
			if a == nil {
				return server.NewInputRequestBuilder("").Elicit(id, form("What context should the prompt use?", "context", "string")).PromptResult(), nil
			}
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(field(a, "context")))}}, nil
		},
	}
}
