package relay

import (
	"bytes"
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

// replay is the state of a client's session that must be sent again to a new deck.
type replay struct {
	initialize  []byte
	initialized []byte
	setLevel    []byte
	subscribed  map[string][]byte // lines by resource
	listens     map[string][]byte // lines by request id
	filters     map[string]bool   // of listens, by request id: whether changes of tools are wanted
	ignore      map[string]int    // answers to replayed lines
	acks        int               // acknowledgements still to be dropped
}

// note records a line from the client. It returns the ID of the request that the line
// cancels, if any.
func (p *replay) note(e *backend.Request, line []byte) (cancelled string) {
	if p.listens == nil {
		p.subscribed, p.listens = map[string][]byte{}, map[string][]byte{}
		p.filters, p.ignore = map[string]bool{}, map[string]int{}
	}
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
		delete(p.listens, id)
		delete(p.filters, id)
		return id
	case listenMethod:
		if wanted, err := rawjson.SplitObject(e.Params.Get("notifications")); err == nil {
			p.listens[string(e.ID)], p.filters[string(e.ID)] = line, wanted.Flag("toolsListChanged")
		}
	}
	return ""
}

// again returns the lines to replay to a new deck. Their answers are dropped.
func (p *replay) again() [][]byte {
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
	return lines
}

// swallow reports whether a line from the deck answers a replayed line. id is that of an
// answer.
func (p *replay) swallow(id string, line []byte) bool {
	if id != "" {
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
