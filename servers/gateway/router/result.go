package router

import (
	"encoding/json"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// statusOf is what a reply to a call of a tool means for the log; why is said of a request
// that was refused with an error.
func statusOf(r backend.Reply) (status snapshot.CallStatus, why string) {
	if r.Error == nil && r.Result == nil {
		return snapshot.Refused, "no answer"
	}
	if r.Error != nil {
		o, _ := rawjson.SplitObject(r.Error) // something else says nothing
		return snapshot.Refused, o.Str("message")
	}
	o, _ := rawjson.SplitObject(r.Result)
	if o.Flag("isError") {
		return snapshot.ToolError, ""
	}
	return snapshot.OK, ""
}

// logged is a reply as the log takes it.
func (to route) logged(r backend.Reply) *calllog.Result {
	if r.Result == nil {
		return nil
	}
	return &calllog.Result{
		Encode: func() ([]byte, error) {
			if to.own() {
				return bare(r.Result), nil
			}
			return r.Result, nil
		},
		Images: func() []calllog.Image { return imagesIn(r.Result) },
	}
}

// imagesIn are the pictures among the content blocks of a result.
func imagesIn(result json.RawMessage) (images []calllog.Image) {
	o, _ := rawjson.SplitObject(result)
	blocks, _ := rawjson.SplitArray(o.Get("content"))
	for _, raw := range blocks {
		if b, err := rawjson.SplitObject(raw); err == nil && b.Str("type") == "image" {
			images = append(images, calllog.Image{MIME: b.Str("mimeType"), Data: b.Str("data")})
		}
	}
	return images
}

// said is a reply with a text.
func said(text string) backend.Reply {
	return backend.Reply{Result: json.RawMessage(`{"content":[{"type":"text","text":` + string(rawjson.Quote(text)) + `}]}`)}
}

// refused is a reply in whose result the model reads why there is no other. It has the member
// that newer clients want; older ones do not mind.
func refused(text string) backend.Reply {
	return backend.Reply{Result: json.RawMessage(`{"resultType":"complete","content":[{"type":"text","text":` + string(rawjson.Quote(text)) + `}],"isError":true}`)}
}

// bare is a result of a server of the deck's own without what it says of the answer itself.
func bare(result json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(result)
	if err != nil {
		return result
	}
	o = slices.DeleteFunc(o, func(m rawjson.Member) bool {
		return m.Key == "_meta" || m.Key == "resultType" && string(m.Value) == `"complete"`
	})
	return o.JSON()
}
