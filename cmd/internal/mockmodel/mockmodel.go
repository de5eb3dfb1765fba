// Package mockmodel is a stand-in, on loopback, for the model services that
// coding agents call, so that tests can run real agents without a network and
// without an account. It speaks Anthropic's messages, OpenAI's responses and
// chat completions, and Gemini's content generation.
//
// The "model" makes the calls of a script, one a turn, and then says END.
package mockmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Step is one call that the model makes.
type Step struct {
	Before func()          // runs once, before the model answers; nil for nothing
	Tool   string          // how the offered name must end: "pencil_batch_get"
	Args   json.RawMessage // nil for none
}

// Seen is what became of a step.
type Seen struct {
	Offered []string // names of the tools in the request
	Called  bool     // the tool was offered, or found by a search
	Result  string   // what the agent sent back, as JSON; "" when it was not called
}

// Server is the service.
type Server struct {
	URL string

	mcp   string // name of the MCP server in the agent's configuration
	steps []Step

	mu       sync.Mutex // guards what follows
	seen     []Seen
	at       int          // step to be made
	begun    map[int]bool // Before has run
	searched map[int]bool
	calls    []int // the steps that were called, in order
	last     string
}

// New starts a service that makes the steps. mcp is the name under which the
// agent knows the MCP server.
func New(t *testing.T, mcp string, steps ...Step) *Server {
	t.Helper()
	s := &Server{mcp: mcp, steps: steps, seen: make([]Seen, len(steps)), begun: map[int]bool{}, searched: map[int]bool{}}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Seen is what became of the steps so far.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Last is the last request with tools, as JSON.
func (s *Server) Last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// move is what the model does next: a call, or words.
type move struct {
	id, tool string
	args     json.RawMessage
	words    string
}

const searchTool = "ToolSearch"

// next decides on the model's answer. offered are the request's tools, results
// what came of the calls made so far, without searches.
func (s *Server) next(offered, results []string) move {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(offered) == 0 {
		return move{words: "a title"} // a request on the side
	}
	for i, r := range results {
		if i < len(s.calls) {
			s.seen[s.calls[i]].Result = r
		}
	}
	for ; s.at < len(s.steps); s.at++ {
		step := s.steps[s.at]
		if !s.begun[s.at] {
			s.begun[s.at] = true
			if step.Before != nil {
				step.Before()
			}
		}
		s.seen[s.at].Offered = offered
		i := slices.IndexFunc(offered, func(n string) bool { return strings.HasSuffix(n, step.Tool) })
		switch {
		case i >= 0:
			s.seen[s.at].Called = true
			s.calls = append(s.calls, s.at)
			s.at++
			args := step.Args
			if args == nil {
				args = json.RawMessage(`{}`)
			}
			return move{id: fmt.Sprintf("call_%d", len(s.calls)), tool: offered[i], args: args}
		case slices.Contains(offered, searchTool) && !s.searched[s.at]:
			s.searched[s.at] = true
			query, _ := json.Marshal(map[string]string{"query": "select:mcp__" + s.mcp + "__" + step.Tool}) // always encodes
			return move{id: fmt.Sprintf("search_%d", s.at), tool: searchTool, args: query}
		}
	}
	return move{words: "END"}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&body) // what is no JSON has no tools
	}
	if len(list(body["tools"])) > 0 {
		s.mu.Lock()
		s.last = text(body)
		s.mu.Unlock()
	}
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost:
		answer(w, map[string]any{"data": []any{map[string]any{"id": "mock", "object": "model"}}, "models": []any{}})
	case strings.HasSuffix(path, "/v1/messages"):
		s.anthropic(w, body)
	case strings.HasSuffix(path, "/responses"):
		s.responses(w, body)
	case strings.HasSuffix(path, "/chat/completions"):
		s.chat(w, body)
	case strings.Contains(path, "enerateContent"):
		s.gemini(w, body, strings.Contains(path, "stream"))
	default:
		answer(w, map[string]any{"input_tokens": 10})
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the agent may be gone
}

// event is one server-sent event.
type event struct {
	name string
	data any
}

func stream(w http.ResponseWriter, events ...event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		data, ok := e.data.(string)
		if !ok {
			b, _ := json.Marshal(e.data) // always encodes
			data = string(b)
		}
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// list, dict and word reach into decoded JSON; what is missing is empty.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func dict(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func word(v any) string {
	s, _ := v.(string)
	return s
}

func text(v any) string {
	b, _ := json.Marshal(v) // came from JSON
	return string(b)
}
