// Package mockmodel is a stand-in, on loopback, for the model services that
// coding agents call, so that tests can run real agents without a network and
// without an account. It speaks Anthropic's messages, OpenAI's responses and
// chat completions, and Gemini's content generation.
//
// The "model" takes the steps of a script, one a request unless a step says otherwise, and
// then says END. Sub-agents can have scripts of their own.
package mockmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Step is one call that the model makes, or what it says at the end of a turn.
type Step struct {
	Before func()          // runs once, before the model answers; nil for nothing
	Tool   string          // how the offered name must end: "pencil_batch_get"
	Args   json.RawMessage // nil for none
	Says   string          // what the model says in place of a call, which ends its turn
	// Along is set if the call is made in the same turn as the one before it. Anthropic's
	// messages and chat completions carry that; elsewhere it is a turn of its own.
	Along bool
	Usage Usage // that the model reports for the turn; only Anthropic's messages carry it
}

// Usage is what a turn costs, in tokens.
type Usage struct{ In, Out, CacheRead, CacheWrite int }

// Seen is what became of a step.
type Seen struct {
	Offered []string // names of the tools in the request
	Called  bool     // the tool was offered, or found by a search
	Result  string   // what the agent sent back, as JSON; "" when it was not called
}

// Server is the service.
type Server struct {
	URL string

	mcp  string // name of the MCP server in the agent's configuration
	main *script

	mu     sync.Mutex // guards what follows, and the scripts; held while a Before runs
	others []*script
	ending []string
	judges string

	heard  sync.Mutex // guards what follows
	bodies []string
	last   string
}

// script is what one conversation does.
type script struct {
	word     string // in the first message of its conversation; "" for all others
	steps    []Step
	seen     []Seen
	at       int          // step to be made
	begun    map[int]bool // Before has run
	searched map[int]bool
	calls    []int // the steps that were called, in order
}

func newScript(word string, steps []Step) *script {
	return &script{word: word, steps: steps, seen: make([]Seen, len(steps)), begun: map[int]bool{}, searched: map[int]bool{}}
}

// New starts a service that makes the steps. mcp is the name under which the
// agent knows the MCP server.
func New(t *testing.T, mcp string, steps ...Step) *Server {
	t.Helper()
	s := &Server{mcp: mcp, main: newScript("", steps)}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Seen is what became of the steps so far.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.main.seen)
}

// Script has conversations whose first message holds a word make other steps. Only
// Anthropic's messages tell conversations apart.
func (s *Server) Script(word string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = append(s.others, newScript(word, steps))
}

// Ending has the model say something else at the end of a script than END, in pieces that
// are streamed. Only OpenAI's responses carry them so.
func (s *Server) Ending(pieces ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = pieces
}

// Judges has the model answer so when Claude Code's auto mode asks it to judge a call.
func (s *Server) Judges(says string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judges = says
}

// judged is that answer to a request without tools, "" if it asks for none.
func (s *Server) judged(body map[string]any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(text(body["system"])+text(body["messages"]), `\u003cblock\u003e`) {
		return ""
	}
	return s.judges
}

// SeenOf is Seen for the conversations with a word.
func (s *Server) SeenOf(word string) []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.scriptOf(word).seen)
}

// Bodies are the requests so far that offer tools, as they came. They are told while a Before runs, too.
func (s *Server) Bodies() []string {
	s.heard.Lock()
	defer s.heard.Unlock()
	return slices.Clone(s.bodies)
}

// scriptOf returns the script of the conversation that begins with a message.
func (s *Server) scriptOf(first string) *script {
	for _, o := range s.others {
		if strings.Contains(first, o.word) {
			return o
		}
	}
	return s.main
}

// Last is the last request with tools, as JSON.
func (s *Server) Last() string {
	s.heard.Lock()
	defer s.heard.Unlock()
	return s.last
}

// move is what the model does next: a call, or words.
type move struct {
	id, tool string
	args     json.RawMessage
	words    string
	pieces   []string // of words, as they are streamed; nil: at once
}

const searchTool = "ToolSearch"

// next decides on the model's answer: one move.
func (s *Server) next(offered, results []string) move {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn(s.main, offered, results)
}

// turns are the moves of a turn in the conversation that begins with a message.
func (s *Server) turns(first string, offered, results []string) (moves []move, usage Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sc := s.scriptOf(first)
	moves = []move{s.turn(sc, offered, results)}
	if moves[0].tool == "" || moves[0].tool == searchTool {
		return moves, Usage{In: 1, Out: 1}
	}
	usage = sc.steps[sc.at-1].Usage
	for sc.at < len(sc.steps) && sc.steps[sc.at].Along {
		at := sc.at
		m := s.turn(sc, offered, nil)
		if sc.at == at || m.tool == "" || m.tool == searchTool {
			break
		}
		moves = append(moves, m)
	}
	return moves, usage
}

// turn decides on a move of a conversation. offered are the request's tools, results
// what came of the calls made so far, without searches; "" is none yet.
func (s *Server) turn(sc *script, offered, results []string) move {
	if len(offered) == 0 {
		return move{words: "a title"} // a request on the side
	}
	for i, r := range results {
		if i < len(sc.calls) && r != "" {
			sc.seen[sc.calls[i]].Result = r
		}
	}
	for ; sc.at < len(sc.steps); sc.at++ {
		step := sc.steps[sc.at]
		if !sc.begun[sc.at] {
			sc.begun[sc.at] = true
			if step.Before != nil {
				step.Before()
			}
		}
		sc.seen[sc.at].Offered = offered
		if step.Says != "" {
			sc.at++
			return move{words: step.Says}
		}
		i := slices.Index(offered, step.Tool)
		if i < 0 {
			i = slices.IndexFunc(offered, func(n string) bool { return strings.HasSuffix(n, step.Tool) })
		}
		switch {
		case i >= 0:
			sc.seen[sc.at].Called = true
			sc.calls = append(sc.calls, sc.at)
			sc.at++
			args := step.Args
			if args == nil {
				args = json.RawMessage(`{}`)
			}
			return move{id: fmt.Sprintf("call_%s%d", sc.word, len(sc.calls)), tool: offered[i], args: args}
		case slices.Contains(offered, searchTool) && !sc.searched[sc.at]:
			sc.searched[sc.at] = true
			name := step.Tool
			if !strings.Contains(name, "__") && s.mcp != "" {
				name = "mcp__" + s.mcp + "__" + name
			}
			query, _ := json.Marshal(map[string]string{"query": "select:" + name}) // always encodes
			return move{id: fmt.Sprintf("search_%s%d", sc.word, sc.at), tool: searchTool, args: query}
		}
	}
	if len(s.ending) > 0 {
		return move{words: strings.Join(s.ending, ""), pieces: s.ending}
	}
	return move{words: "END"}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	raw, _ := io.ReadAll(r.Body)   // what is cut off is no JSON
	_ = json.Unmarshal(raw, &body) // what is no JSON has no tools
	if len(list(body["tools"])) > 0 {
		s.heard.Lock()
		s.bodies, s.last = append(s.bodies, string(raw)), text(body)
		s.heard.Unlock()
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
