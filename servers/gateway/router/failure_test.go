package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// failing is a server with one tool that fails and one that is turned off.
type failing struct{ module }

func (m *failing) Catalogue() *backend.Catalogue {
	c := m.module.Catalogue()
	c.Tools[1].Off, c.Tools[1].Redact = "remember_this is turned off", redact.Kind{Keep: []string{"key"}}
	c.Refuse = func(tool string) string {
		if strings.HasPrefix(tool, "child_") {
			return "the child does not run"
		}
		return ""
	}
	return c
}

// TestHowACallThatFailsIsAnswered holds that each failure has one answer, and is in
// the log once, with the same words.
func TestHowACallThatFailsIsAnswered(t *testing.T) {
	tests := []struct {
		name, tool, args string
		err              error
		result           string
		failure          string
		status           snapshot.CallStatus
		logged           string
	}{
		{"an error for the model", "fails", `{}`, errors.New("no luck"), "Error: no luck", "", snapshot.ToolError, "Error: no luck"},
		{"a protocol error", "fails", `{}`, &rpc.Error{Code: 7, Message: "not so", Data: "x"}, "", `{"code":7,"message":"not so","data":"x"}`, snapshot.Refused, "not so"},
		{"one that is wrapped", "fails", `{}`, fmt.Errorf("try: %w", &rpc.Error{Code: 7, Message: "not so"}), "", `{"code":7,"message":"try: not so"}`, snapshot.Refused, "try: not so"},
		{"a tool that is turned off", "remember_this", `{"value":"hush"}`, nil, "remember_this is turned off", "", snapshot.ToolError, "remember_this is turned off"},
		{"a child's tool without the child", "child_draw", `{}`, nil, "the child does not run", "", snapshot.ToolError, "the child does not run"},
		{"a slip of the pen", "Remember_this1", `{"value":"hush"}`, nil, "", `{"code":-32602,"message":"unknown tool \"Remember_this1\"; call tools/list to see the tools of m"}`, snapshot.Refused, `unknown tool "Remember_this1"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := &kepts{}
			h := started(t, Options{
				Servers: []backend.Server{&failing{module{name: "m", tools: []string{"fails", "remember_this"}, handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, tt.err }}}}, Recorder: rec,
			})
			if s := h.Snapshot().Servers[0]; s.Tools != 1 {
				t.Errorf("%d tools are listed, want the one that is on", s.Tools)
			}
			v, err := h.View(ViewSpec{})
			if err != nil {
				t.Fatal(err)
			}
			a := h.Connect(snapshot.Caller{}, nil)
			reply := say(t.Context(), a, v, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tt.tool, tt.args))
			if !strings.Contains(string(reply.Result), tt.result) || (tt.result == "") != (reply.Result == nil) || string(reply.Error) != tt.failure {
				t.Errorf("answered %s, %s; want %s, %s", reply.Result, reply.Error, tt.result, tt.failure)
			}
			calls := settled(h, 1).Calls
			if len(calls) != 1 || calls[0].Status != tt.status || !strings.HasPrefix(calls[0].Result, tt.logged) {
				t.Errorf("logged %+v, want one that is %s: %s", calls, tt.status, tt.logged)
			}
			rec.mu.Lock()
			defer rec.mu.Unlock()
			if strings.Contains(fmt.Sprint(rec.bodies, calls), "hush") {
				t.Errorf("the log keeps what it must not: %q", rec.bodies)
			}
		})
	}
}
