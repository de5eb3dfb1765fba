package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// withAddress adds the URI of a resource that is missing to the error.
func withAddress(e *backend.Request, failure rpc.Error) rpc.Error {
	missing := failure.Code == mcp.INVALID_PARAMS || failure.Code == mcp.RESOURCE_NOT_FOUND
	if e.Method == string(mcp.MethodResourcesRead) && missing && failure.Data == nil && e.Key != "" {
		failure.Data = map[string]string{"uri": e.Key}
	}
	return failure
}

// answerWriter forwards a response. It completes a response that is a single error, and
// inserts replies that were made without the library.
type answerWriter struct {
	http.ResponseWriter
	ctx   context.Context
	e     *backend.Request
	agent *router.Agent
	view  *router.View

	receipts *receipts

	status int // delayed until the body is known
	sent   int // the status that was sent; 0: none yet
}

func (f *answerWriter) WriteHeader(status int) { f.status = status }

func (f *answerWriter) Write(p []byte) (int, error) {
	if !f.wants(p) {
		return len(p), nil
	}
	line, receipt := f.receipts.unwrapped(introduced(f.view, f.e, p))
	line, status := asServed(f.ctx, f.e, line), f.status
	if reply, served := router.Served(f.ctx); served && status != -1 {
		status = f.replied(reply)
		f.begin(status)
	} else if status != -1 {
		line, status = f.complete(line)
		f.begin(status)
	}
	defer f.receipts.redeem(receipt) // also if the client is gone
	if _, err := f.ResponseWriter.Write(line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// begin sends the status, once.
func (f *answerWriter) begin(status int) {
	if f.status == -1 {
		return
	}
	f.status = -1
	if status > 0 {
		f.sent = status
		f.ResponseWriter.WriteHeader(status)
	}
}

// Flush implements http.Flusher.
func (f *answerWriter) Flush() {
	f.begin(f.status)
	if fl, ok := f.ResponseWriter.(http.Flusher); ok {
		fl.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (f *answerWriter) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// wants reports whether a message is for the agent. The library sends each update of a
// resource to all agents.
func (f *answerWriter) wants(p []byte) bool {
	if !bytes.Contains(p, []byte(mcp.MethodNotificationResourceUpdated)) && !bytes.Contains(p, []byte(router.ToMember)) {
		return true
	}
	from, to, ok := object(p)
	if !ok {
		return true
	}
	m, err := rawjson.SplitObject(p[from:to])
	if err != nil || m.Get("method") == nil {
		return true
	}
	wrapped, _ := rawjson.SplitObject(m.Get("params")) // a notification of the library's
	if to := wrapped.Get(router.ToMember); to != nil && wrapped.Str(router.ToMember) != f.agent.Caller().Agent {
		return false
	}
	if m.Str("method") != mcp.MethodNotificationResourceUpdated {
		return true
	}
	params, _ := rawjson.SplitObject(router.Unwrap(m.Get("params")))
	if filter, err := filterOf(f.e); err == nil {
		return slices.Contains(filter.ResourceSubscriptions, params.Str("uri"))
	}
	return f.agent.Subscribed(params.Str("uri"))
}

// replied returns the status for a response.
func (f *answerWriter) replied(r backend.Reply) int {
	o, _ := rawjson.SplitObject(r.Error) // a result has no code
	switch code, err := strconv.Atoi(string(o.Get("code"))); {
	case err != nil || !f.e.Stateless():
		return http.StatusOK
	case code == mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case code == mcp.INVALID_REQUEST || code == mcp.INVALID_PARAMS || code == mcp.PARSE_ERROR || code == mcp.MISSING_REQUIRED_CLIENT_CAPABILITY || code == mcp.HEADER_MISMATCH:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// complete returns what to send instead of p, the first write: mcp-go writes an error in
// one piece.
func (f *answerWriter) complete(p []byte) (line []byte, status int) {
	if f.e.ID == nil || !strings.HasPrefix(f.Header().Get("Content-Type"), "application/json") || len(p) > 1<<16 {
		return p, f.status
	}
	var r struct {
		Error *rpc.Error `json:"error"`
	}
	if json.Unmarshal(p, &r) != nil || r.Error == nil {
		return p, f.status
	}
	failure := withAddress(f.e, *r.Error)
	status = f.status
	if f.e.Stateless() && (failure.Code == mcp.MISSING_REQUIRED_CLIENT_CAPABILITY || failure.Code == mcp.INVALID_PARAMS) {
		status = http.StatusBadRequest
	}
	return rpc.Failure(f.e.ID, failure), status
}
