package host

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/calls"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// shape is how the results of tools of a kind are read and made.
type shape[T any] struct {
	// refusal is a result in which the model reads why there is no other.
	refusal func(text string) T
	// status is what a result means for the log; why is said of a request that was
	// refused with an error.
	status func(T) (status deck.CallStatus, why string)
	logged func(T) *calls.Result
}

// typed are the results of handlers of the library.
var typed = shape[*mcp.CallToolResult]{
	refusal: mcp.NewToolResultError,
	status: func(r *mcp.CallToolResult) (deck.CallStatus, string) {
		if r != nil && r.IsError {
			return deck.ToolError, ""
		}
		return deck.OK, ""
	},
	logged: resultOf,
}

// resultOf is a result as the log takes it.
func resultOf(r *mcp.CallToolResult) *calls.Result {
	if r == nil {
		return nil
	}
	// The response gets its metadata while the log reads the result.
	copied := *r
	copied.Meta = nil
	return &calls.Result{
		Encode: func() ([]byte, error) { return json.Marshal(&copied) },
		Images: func() (images []calls.Image) {
			for _, c := range copied.Content {
				if i, ok := c.(mcp.ImageContent); ok {
					images = append(images, calls.Image{MIME: i.MIMEType, Data: i.Data})
				}
			}
			return images
		},
	}
}

// raw are the replies of a [Router].
var raw = shape[backend.Reply]{
	refusal: func(text string) backend.Reply { return backend.Reply{Result: refusalResult(text)} },
	status: func(r backend.Reply) (deck.CallStatus, string) {
		if r.Error == nil && r.Result == nil {
			return deck.Refused, "no answer"
		}
		if r.Error != nil {
			o, _ := rawjson.SplitObject(r.Error) // something else says nothing
			return deck.Refused, o.Str("message")
		}
		o, _ := rawjson.SplitObject(r.Result)
		if o.Flag("isError") {
			return deck.ToolError, ""
		}
		return deck.OK, ""
	},
	logged: func(r backend.Reply) *calls.Result {
		if r.Result == nil {
			return nil
		}
		return &calls.Result{
			Encode: func() ([]byte, error) { return r.Result, nil },
			Images: func() []calls.Image { return imagesIn(r.Result) },
		}
	},
}

// imagesIn are the pictures among the content blocks of a result.
func imagesIn(result json.RawMessage) (images []calls.Image) {
	o, _ := rawjson.SplitObject(result)
	blocks, _ := rawjson.SplitArray(o.Get("content"))
	for _, raw := range blocks {
		if b, err := rawjson.SplitObject(raw); err == nil && b.Str("type") == "image" {
			images = append(images, calls.Image{MIME: b.Str("mimeType"), Data: b.Str("data")})
		}
	}
	return images
}

// refusalResult is a result in which the model reads why there is no other. It has
// the member that newer clients want; older ones do not mind.
func refusalResult(text string) json.RawMessage {
	return json.RawMessage(`{"resultType":"complete","content":[{"type":"text","text":` + string(rawjson.Quote(text)) + `}],"isError":true}`)
}
