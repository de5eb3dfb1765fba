package mockmodel

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"
)

type object = map[string]any

func (s *Server) anthropic(w http.ResponseWriter, body object) {
	var offered, results []string
	for _, t := range list(body["tools"]) {
		offered = append(offered, word(dict(t)["name"]))
	}
	first := ""
	for i, m := range list(body["messages"]) {
		if i == 0 {
			first = text(dict(m)["content"])
		}
		for _, c := range list(dict(m)["content"]) {
			c := dict(c)
			n := ordinal(word(c["tool_use_id"]))
			if word(c["type"]) != "tool_result" || n == 0 {
				continue
			}
			for len(results) < n {
				results = append(results, "")
			}
			results[n-1] = text(c["content"])
		}
	}
	if verdict := s.judged(body); len(offered) == 0 && verdict != "" {
		answer(w, object{
			"id": "judged", "type": "message", "role": "assistant", "model": "mock", "content": []any{object{"type": "text", "text": verdict}},
			"stop_reason": "end_turn", "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1},
		})
		return
	}
	moves, used := s.turns(first, offered, results)
	in := object{"input_tokens": max(used.In, 1), "output_tokens": 1, "cache_read_input_tokens": used.CacheRead, "cache_creation_input_tokens": used.CacheWrite}
	events := []event{{"message_start", object{"type": "message_start", "message": object{
		"id": fmt.Sprintf("m%d-%x", len(results), crc32.ChecksumIEEE([]byte(first))), "type": "message", "role": "assistant", "model": "mock", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": in,
	}}}}
	stop := "end_turn"
	for i, m := range moves {
		block, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": m.words}
		if m.tool != "" {
			stop = "tool_use"
			block = object{"type": "tool_use", "id": m.id, "name": m.tool, "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(m.args)}
		}
		events = append(
			events,
			event{"content_block_start", object{"type": "content_block_start", "index": i, "content_block": block}},
			event{"content_block_delta", object{"type": "content_block_delta", "index": i, "delta": delta}},
			event{"content_block_stop", object{"type": "content_block_stop", "index": i}},
		)
	}
	stream(w, append(
		events,
		event{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": max(used.Out, 1)}}},
		event{"message_stop", object{"type": "message_stop"}},
	)...)
}

// ordinal returns the number of a call by its ID, 0 for one that the script did not make.
func ordinal(id string) int {
	rest, ok := strings.CutPrefix(id, "call_")
	n, err := strconv.Atoi(rest[strings.LastIndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })+1:])
	if !ok || err != nil {
		return 0
	}
	return n
}

func (s *Server) responses(w http.ResponseWriter, body object) {
	var offered, results []string
	space := map[string]string{}
	for _, t := range list(body["tools"]) {
		t := dict(t)
		if word(t["type"]) != "namespace" {
			offered = append(offered, word(t["name"]))
			continue
		}
		for _, u := range list(t["tools"]) {
			name := word(dict(u)["name"])
			offered = append(offered, name)
			space[name] = word(t["name"])
		}
	}
	for _, item := range list(body["input"]) {
		if item := dict(item); word(item["type"]) == "function_call_output" {
			results = append(results, text(item["output"]))
		}
	}
	m := s.next(offered, results)
	item := object{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": []any{
		object{"type": "output_text", "text": m.words, "annotations": []any{}},
	}}
	if m.tool != "" {
		item = object{"type": "function_call", "id": "f" + m.id, "call_id": m.id, "name": m.tool, "arguments": string(m.args), "status": "completed"}
		if n := space[m.tool]; n != "" {
			item["namespace"] = n
		}
	}
	usage := object{
		"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": 1, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2,
	}
	events := []event{
		{"response.created", object{"type": "response.created", "response": object{"id": "r", "object": "response", "status": "in_progress", "output": []any{}}}},
		{"response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item}},
	}
	if m.pieces == nil {
		m.pieces = []string{m.words}
	}
	for _, piece := range m.pieces {
		events = append(events, event{"response.output_text.delta", object{"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": item["id"], "delta": piece}})
	}
	stream(w, append(
		events,
		event{"response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item}},
		event{"response.completed", object{"type": "response.completed", "response": object{
			"id": "r", "object": "response", "status": "completed", "output": []any{item}, "usage": usage,
		}}},
	)...)
}

func (s *Server) chat(w http.ResponseWriter, body object) {
	var offered, results []string
	for _, t := range list(body["tools"]) {
		offered = append(offered, word(dict(dict(t)["function"])["name"]))
	}
	for _, m := range list(body["messages"]) {
		if m := dict(m); word(m["role"]) == "tool" {
			results = append(results, text(m["content"]))
		}
	}
	moves, _ := s.turns("", offered, results)
	finish, message := "stop", object{"role": "assistant", "content": moves[0].words}
	if moves[0].tool != "" {
		var calls []any
		for i, m := range moves {
			calls = append(calls, object{"index": i, "id": m.id, "type": "function", "function": object{"name": m.tool, "arguments": string(m.args)}})
		}
		finish, message = "tool_calls", object{"role": "assistant", "content": nil, "tool_calls": calls}
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if body["stream"] != true {
		answer(w, object{"id": "c", "object": "chat.completion", "created": 1, "model": "mock", "usage": usage, "choices": []any{
			object{"index": 0, "message": message, "finish_reason": finish},
		}})
		return
	}
	chunk := func(choice, usage object) object {
		out := object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "mock", "choices": []any{choice}}
		if usage != nil {
			out["usage"] = usage
		}
		return out
	}
	stream(
		w,
		event{"", chunk(object{"index": 0, "delta": message, "finish_reason": nil}, nil)},
		event{"", chunk(object{"index": 0, "delta": object{}, "finish_reason": finish}, usage)},
		event{"", "[DONE]"},
	)
}

func (s *Server) gemini(w http.ResponseWriter, body object, streamed bool) {
	var offered, results []string
	for _, t := range list(body["tools"]) {
		for _, f := range list(dict(t)["functionDeclarations"]) {
			offered = append(offered, word(dict(f)["name"]))
		}
	}
	for _, c := range list(body["contents"]) {
		for _, p := range list(dict(c)["parts"]) {
			if r := dict(p)["functionResponse"]; r != nil {
				results = append(results, text(dict(r)["response"]))
			}
		}
	}
	m := s.next(offered, results)
	part := object{"text": m.words}
	if m.tool != "" {
		part = object{"functionCall": object{"name": m.tool, "args": m.args}}
	}
	reply := object{
		"candidates":    []any{object{"content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if streamed {
		stream(w, event{"", reply})
		return
	}
	answer(w, reply)
}
