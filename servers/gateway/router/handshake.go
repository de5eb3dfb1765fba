package router

import (
	"encoding/json"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// The requests about the connection itself.
const (
	initialize  = "initialize"
	discover    = "server/discover"
	ping        = "ping"
	setLevel    = "logging/setLevel"
	listening   = "subscriptions/listen"
	subscribe   = "resources/subscribe"
	unsubscribe = "resources/unsubscribe"
)

const (
	codeResource = -32002 // of the era before
	codeVersion  = -32022

	capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
	serverInfoKey   = "io.modelcontextprotocol/serverInfo"
	logLevelKey     = "io.modelcontextprotocol/logLevel"
	subscriptionKey = "io.modelcontextprotocol/subscriptionId"
)

// capabilities are the deck's.
const capabilities = `{"logging":{},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true},"completions":{}}`

func isObject(raw json.RawMessage) bool {
	_, err := rawjson.SplitObject(raw)
	return err == nil
}

// Greeting is what a client has said of itself in a handshake, and what came of it.
type Greeting struct {
	Client, ClientVersion string
	Version               string          // of the protocol, as it was negotiated
	Capabilities          json.RawMessage // an object; nil: none
}

// greet answers a handshake.
func (v *View) greet(a *Agent, r *backend.Request) backend.Reply {
	version := r.Params.Get("protocolVersion")
	if version != nil && version[0] != '"' {
		return backend.Failed(rpc.CodeInvalid, "protocolVersion must be a string")
	}
	client, _ := rawjson.SplitObject(r.Params.Get("clientInfo")) // anything else says nothing
	g := Greeting{Client: client.Str("name"), ClientVersion: client.Str("version"), Version: negotiated(r.Params.Str("protocolVersion"))}
	if c := r.Params.Get("capabilities"); isObject(c) {
		g.Capabilities = slices.Clone(c) // the line is not kept
	}
	a.Greet(g)
	shown, info := v.shown()
	o := rawjson.Object{{Key: "protocolVersion", Value: rawjson.Quote(g.Version)}, {Key: "capabilities", Value: shown}, {Key: "serverInfo", Value: info}}
	return backend.Reply{Result: v.instructed(a, o)}
}

// negotiated is the version of the protocol of a connection that begins with a handshake.
func negotiated(wanted string) string {
	of := backend.Versions()[1:]
	switch {
	case wanted == "":
		return "2025-03-26" // of which a client need not say it
	case slices.Contains(of, wanted):
		return wanted
	}
	return of[0]
}

// discovered is what a client learns of the view without a handshake.
func (v *View) discovered(a *Agent) json.RawMessage {
	versions, _ := rpc.Raw(backend.Versions()) // always encodes
	shown, info := v.shown()
	meta := rawjson.Object{{Key: serverInfoKey, Value: info}}
	return v.instructed(a, rawjson.Object{
		{Key: "_meta", Value: meta.JSON()},
		{Key: "resultType", Value: json.RawMessage(`"complete"`)},
		{Key: "ttlMs", Value: json.RawMessage("0")},
		{Key: "cacheScope", Value: json.RawMessage(`"private"`)},
		{Key: "supportedVersions", Value: versions},
		{Key: "capabilities", Value: shown},
	})
}

// instructed is an introduction with the view's instructions.
func (v *View) instructed(a *Agent, o rawjson.Object) json.RawMessage {
	if text := v.instructions(a.Caller()); text != "" {
		o = append(o, rawjson.Member{Key: "instructions", Value: rawjson.Quote(text)})
	}
	return o.JSON()
}

// shown is what the view can do and who it is: the deck, or the server that it shows as it is
// without the deck.
func (v *View) shown() (can, info json.RawMessage) {
	can, info = json.RawMessage(capabilities), json.RawMessage(v.serverInfo())
	if as := v.asIs(); as != nil && as.Capabilities != nil {
		if changes := changing(as.Capabilities); changes != nil {
			can = changes
		}
	}
	return can, info
}
