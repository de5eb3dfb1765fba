package router

import (
	"encoding/json"
	"slices"

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
	info := v.serverInfo()
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	switch has := meta.Get(serverInfoKey) != nil; {
	case o.Get("_meta") == nil:
		o = setDefault(o, "_meta", `{"`+serverInfoKey+`":`+info+`}`)
	case has && own:
		o = o.With("_meta", meta.With(serverInfoKey, json.RawMessage(info)).JSON())
	case !has && err == nil:
		o = o.With("_meta", setDefault(meta, serverInfoKey, info).JSON())
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
