package relay

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// retryMark marks the result of a call that was waiting for the user when the deck
// ended. The relay resends the call to the next deck.
const retryMark = `"` + backend.RetryMeta + `":true`

// replay is the state of a client's session that must be sent again to a new deck, and its
// requests without an answer.
type replay struct {
	// resumable names the tools whose calls are resent, as told by the current link or the one
	// before it.
	resumable []string
	flight    map[string]pendingRequest // by id
	sent      int                       // counts requests

	initialize  []byte
	initialized []byte
	setLevel    []byte
	subscribed  map[string][]byte // lines by resource
	listens     map[string][]byte // lines by request id
	filters     map[string]bool   // of listens, by request id: whether changes of tools are wanted
	ignore      map[string]int    // answers to replayed lines
	acks        int               // acknowledgements still to be dropped
}

// pendingRequest is a request without an answer.
type pendingRequest struct {
	line []byte // of a request that is resent to the next deck, else nil
	at   int    // sequence number, to resend in the same order
}

func newReplay() replay {
	return replay{
		flight: map[string]pendingRequest{}, subscribed: map[string][]byte{}, listens: map[string][]byte{},
		filters: map[string]bool{}, ignore: map[string]int{},
	}
}

// note records a line from the client, and returns it as it is to be sent, with its end.
func (p *replay) note(e *backend.Request, line []byte) []byte {
	again := e.ID != nil && e.Kind == backend.Tool && slices.Contains(p.resumable, e.Key)
	if again {
		line = withResumeKey(e)
	}
	line = append(line, '\n')
	switch e.Method {
	case "initialize":
		p.initialize = line
	case "notifications/initialized":
		p.initialized = line
	case "logging/setLevel":
		p.setLevel = line
	case "resources/subscribe":
		p.subscribed[e.Key] = line
	case "resources/unsubscribe":
		delete(p.subscribed, e.Key)
	case "notifications/cancelled":
		id := string(e.Params.Get("requestId"))
		delete(p.flight, id)
		delete(p.listens, id)
		delete(p.filters, id)
	case listenMethod:
		if wanted, err := rawjson.SplitObject(e.Params.Get("notifications")); err == nil {
			p.listens[string(e.ID)], p.filters[string(e.ID)] = line, wanted.Flag("toolsListChanged")
		}
		return line
	}
	if e.ID != nil && e.Method != "" {
		p.sent++
		f := pendingRequest{at: p.sent}
		if again {
			f.line = line
		}
		p.flight[string(e.ID)] = f
	}
	return line
}

// lost forgets the requests that are not resent to the next deck, and returns their ids.
func (p *replay) lost() (ids []string) {
	for id, f := range p.flight {
		if f.line == nil {
			ids = append(ids, id)
			delete(p.flight, id)
		}
	}
	return ids
}

// again returns the lines for a new deck, the first one or one that the client has moved to:
// what it is to know of the session, whose answers are dropped, and the requests to resend.
func (p *replay) again(moved bool) [][]byte {
	var lines [][]byte
	repeat := func(line []byte) {
		if line == nil {
			return
		}
		if e, bad := transport.Decode(bytes.TrimSpace(line)); bad == nil && e.ID != nil && e.Method != listenMethod {
			p.ignore[string(e.ID)]++
		}
		lines = append(lines, line)
	}
	repeat(p.initialize)
	repeat(p.initialized)
	repeat(p.setLevel)
	for _, uri := range slices.Sorted(maps.Keys(p.subscribed)) {
		repeat(p.subscribed[uri])
	}
	for _, id := range slices.Sorted(maps.Keys(p.listens)) {
		repeat(p.listens[id])
		p.acks++
	}
	for _, f := range slices.SortedFunc(maps.Values(p.flight), func(a, b pendingRequest) int { return cmp.Compare(a.at, b.at) }) {
		if f.line != nil {
			lines = append(lines, sentAgain(f.line, moved))
		}
	}
	return lines
}

// swallow notes a line from the deck, and reports whether the client must not see it: it
// answers a replayed line, or a request that is sent to the next deck.
func (p *replay) swallow(line []byte) bool {
	if id := answerID(line); id != "" {
		if p.flight[id].line != nil && bytes.Contains(line, []byte(retryMark)) {
			return true
		}
		delete(p.flight, id)
		if p.ignore[id] > 0 {
			p.ignore[id]--
			return true
		}
		delete(p.listens, id)
		delete(p.filters, id)
		return false
	}
	if p.acks > 0 && bytes.Contains(line[:min(len(line), 120)], []byte("notifications/subscriptions/acknowledged")) {
		p.acks--
		return true
	}
	return false
}

// answerID returns the raw ID of an answer from the deck, or "" for any other message.
// The deck writes the ID right after the version.
func answerID(line []byte) string {
	const before = `{"jsonrpc":"2.0","id":`
	if len(line) <= len(before) || string(line[:len(before)]) != before {
		return ""
	}
	end := rawjson.End(line, len(before))
	rest := line[end:]
	if len(rest) > 9 && string(rest[:9]) == `,"method"` {
		return ""
	}
	return string(line[len(before):end])
}

// changed returns the notification that the tools may have changed.
func (p *replay) changed() [][]byte {
	if p.initialized != nil {
		line, err := rpc.Notification(toolsChanged, nil)
		if err != nil {
			return nil
		}
		return [][]byte{line}
	}
	var lines [][]byte
	for _, id := range slices.Sorted(maps.Keys(p.filters)) {
		if !p.filters[id] {
			continue
		}
		line, err := rpc.Notification(toolsChanged,
			map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/subscriptionId": json.RawMessage(id)}})
		if err == nil {
			lines = append(lines, line)
		}
	}
	return lines
}

// withResumeKey adds a random key and the time to the request's _meta.
func withResumeKey(e *backend.Request) []byte {
	var key [16]byte
	_, _ = rand.Read(key[:]) // never fails
	asked := strconv.FormatInt(time.Now().UnixMilli(), 10)
	return withMeta(e, rawjson.Member{Key: backend.ResumeKeyMeta, Value: rawjson.Quote(hex.EncodeToString(key[:]))}, rawjson.Member{Key: backend.AskedMeta, Value: json.RawMessage(asked)})
}

// sentAgain returns the line of a request to send to a deck other than the first.
func sentAgain(line []byte, moved bool) []byte {
	e, bad := transport.Decode(bytes.TrimSpace(line))
	if !moved || bad != nil {
		return line
	}
	return append(withMeta(e, rawjson.Member{Key: backend.AgainMeta, Value: json.RawMessage("true")}), '\n')
}

// withMeta returns the line of a request with members of its _meta added or replaced.
func withMeta(e *backend.Request, more ...rawjson.Member) []byte {
	if e.Params == nil || e.Meta == nil && e.Params.Get("_meta") != nil {
		return e.Line // the deck says what is wrong with it
	}
	isNew := func(m rawjson.Member) bool {
		return slices.ContainsFunc(more, func(n rawjson.Member) bool { return n.Key == m.Key })
	}
	meta := rawjson.Member{Key: "_meta", Value: append(slices.DeleteFunc(slices.Clone(e.Meta), isNew), more...).JSON()}
	params := slices.Clone(e.Params)
	if at := slices.IndexFunc(params, func(m rawjson.Member) bool { return m.Key == "_meta" }); at >= 0 {
		params[at] = meta
	} else {
		params = append(params, meta)
	}
	m := e.Message
	m.Params = params.JSON()
	return m.Encode()
}
