package router

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// complete gives a result what every client of 2026-07-28 must find in it, and what a
// server of an earlier protocol did not give. A server of the deck's own has said who it is,
// but the view's is another name.
func (v *View) complete(method string, result json.RawMessage, own bool) json.RawMessage {
	o, err := rawjson.SplitObject(result)
	if err != nil {
		return result
	}
	n := len(o)
	o = setDefault(o, "resultType", `"complete"`)
	if method == readResource {
		o = setDefault(setDefault(o, "ttlMs", "0"), "cacheScope", `"private"`)
	}
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	if own {
		replace(meta, serverInfoKey, json.RawMessage(v.serverInfo()))
		replace(o, "_meta", meta.JSON())
		n = -1 // changed
	}
	whose := setDefault(meta, serverInfoKey, v.serverInfo())
	switch {
	case o.Get("_meta") == nil:
		o = setDefault(o, "_meta", string(whose.JSON()))
	case err == nil && len(whose) > len(meta):
		o = slices.Clone(o)
		o[slices.IndexFunc(o, func(m rawjson.Member) bool { return m.Key == "_meta" })].Value = whose.JSON()
	case len(o) == n:
		return result
	}
	return o.JSON()
}

// setDefault is an object with a member more, unless it has one of that name. It is put before
// those behind it in the alphabet.
func setDefault(o rawjson.Object, key, value string) rawjson.Object {
	if o.Get(key) != nil {
		return o
	}
	at := slices.IndexFunc(o, func(m rawjson.Member) bool { return m.Key > key })
	if at < 0 {
		at = len(o)
	}
	return slices.Insert(slices.Clone(o), at, rawjson.Member{Key: key, Value: json.RawMessage(value)})
}

// compactJSON makes a reply fit a line, which those of other servers need not be.
func compactJSON(r backend.Reply) backend.Reply {
	for _, raw := range []*json.RawMessage{&r.Result, &r.Error} {
		if bytes.ContainsAny(*raw, "\r\n") {
			var b bytes.Buffer
			if json.Compact(&b, *raw) == nil {
				*raw = b.Bytes()
			}
		}
	}
	return r
}
