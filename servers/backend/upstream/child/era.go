package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Era is the generation of the protocol that a server speaks: with a handshake for the
// whole connection, or with the client's information in every request.
type Era string

// The eras.
const (
	Legacy Era = "legacy" // up to 2025-11-25
	Modern Era = "modern" // 2026-07-28
)

const (
	wantProtocol     = "2025-11-25"
	modernProtocol   = "2026-07-28"
	discoverPatience = 5 * time.Second // for a server that may ignore unknown requests
)

// The members of _meta that describe a connection and not the request.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaDeclared     = "mcpdeck/clientCapabilities" // of [Declaring], never sent
)

// Hello is what a server reports about itself, unchanged.
type Hello struct {
	Protocol     string          // the protocol version in use
	Server       json.RawMessage // its serverInfo; nil: none
	Capabilities json.RawMessage // nil: none
	Instructions string
	Result       json.RawMessage // the complete result of initialize or server/discover
}

// Has reports whether a capability is declared.
func (h Hello) Has(capability string) bool {
	o, err := rawjson.SplitObject(h.Capabilities)
	return err == nil && o.Some(capability) != nil
}

// Era returns the protocol era in use.
func (c *Conn) Era() Era { return c.era }

// Hello returns what the server reported about itself.
func (c *Conn) Hello() Hello { return c.hello }

// greet determines the era of the server by its first answer, which is final.
func (c *Conn) greet(ctx context.Context) error {
	switch {
	case c.o.Era == Legacy:
		return c.initialize(ctx)
	case c.o.Era == Modern:
		return c.discover(ctx)
	case c.o.Remembered == Legacy:
		err := c.initialize(ctx)
		if refused(err) && c.discover(ctx) == nil {
			return nil
		}
		return err
	}
	asked, err := c.Conn.Start(ctx, "server/discover", c.discovery, nil)
	if err != nil {
		return err
	}
	silence := time.NewTimer(discoverPatience)
	defer silence.Stop()
	select {
	case a := <-asked.Reply:
		if a.Err != nil && !refused(a.Err) {
			return a.Err
		}
		if a.Err == nil && c.discovered(a.Result) == nil {
			return nil
		}
		return c.initialize(ctx)
	case <-silence.C:
		return c.race(ctx, asked)
	case <-ctx.Done():
		asked.Forget()
		return ctx.Err()
	}
}

// race also sends the other greeting to a server that has not answered. The server may
// be slow to start, or ignore unknown requests; the first answer counts.
func (c *Conn) race(ctx context.Context, asked *rpc.Request) error {
	hello, err := c.Conn.Start(ctx, "initialize", c.introduction, nil)
	if err != nil {
		return err
	}
	defer asked.Forget()
	defer hello.Forget()
	modern, legacy := asked.Reply, hello.Reply
	for {
		select {
		case a := <-modern:
			if a.Err == nil && c.discovered(a.Result) == nil {
				return nil
			}
			modern = nil
		case a := <-legacy:
			if a.Err == nil {
				return c.initialized(a.Result)
			}
			legacy, err = nil, a.Err
		case <-ctx.Done():
			return ctx.Err()
		}
		if modern == nil && legacy == nil {
			return err
		}
	}
}

// client returns what servers are told about the deck.
func client(version string) json.RawMessage {
	return json.RawMessage(`{"name":"mcpdeck","version":` + string(rawjson.Quote(version)) + `}`)
}

func (c *Conn) capabilities() json.RawMessage {
	if c.o.Capabilities == nil {
		return json.RawMessage("{}")
	}
	return c.o.Capabilities
}

func (c *Conn) introduction(string) []byte {
	can := c.capabilities()
	if c.o.Handshake != nil {
		can = c.o.Handshake
	}
	return rawjson.Object{{Key: "protocolVersion", Value: json.RawMessage(`"` + wantProtocol + `"`)}, {Key: "capabilities", Value: can}, {Key: "clientInfo", Value: c.me}}.JSON()
}

func (c *Conn) discovery(string) []byte {
	return rawjson.Object{{Key: "_meta", Value: c.hop(c.capabilities()).JSON()}}.JSON()
}

// hop returns the members of _meta that a modern server needs with every request.
func (c *Conn) hop(capabilities json.RawMessage) rawjson.Object {
	return rawjson.Object{
		{Key: metaVersion, Value: json.RawMessage(`"` + modernProtocol + `"`)}, {Key: metaClient, Value: c.me}, {Key: metaCapabilities, Value: capabilities},
	}
}

// Declaring returns the _meta of a request, an object or nil, with client capabilities to
// declare to a modern server for this request alone.
func Declaring(meta, capabilities json.RawMessage) json.RawMessage {
	o, _ := rawjson.SplitObject(meta) // nil: there is none
	return append(slices.Clip(o), rawjson.Member{Key: metaDeclared, Value: capabilities}).JSON()
}

func (c *Conn) initialize(ctx context.Context) error {
	hello, err := c.Conn.Call(ctx, "initialize", c.introduction(""))
	if err != nil {
		return err
	}
	return c.initialized(hello)
}

// initialized handles the answer to initialize.
func (c *Conn) initialized(hello json.RawMessage) error {
	o, err := rawjson.SplitObject(hello)
	if err != nil {
		return fmt.Errorf("its response to initialize is %w", err)
	}
	protocol := o.Str("protocolVersion")
	if !slices.Contains([]string{"2024-11-05", "2025-03-26", "2025-06-18", wantProtocol}, protocol) {
		return fmt.Errorf("unsupported protocol version %q", protocol)
	}
	c.know(Legacy, Hello{Protocol: protocol, Server: o.Some("serverInfo"), Result: hello}, o)
	c.Offer(rpc.Message{Method: "notifications/initialized"}.Line())
	return nil
}

func (c *Conn) discover(ctx context.Context) error {
	hello, err := c.Conn.Call(ctx, "server/discover", c.discovery(""))
	if err != nil {
		return err
	}
	return c.discovered(hello)
}

// discovered handles the answer to server/discover.
func (c *Conn) discovered(hello json.RawMessage) error {
	o, err := rawjson.SplitObject(hello)
	if err != nil {
		return fmt.Errorf("its response to initialize is %w", err)
	}
	versions, _ := rawjson.SplitArray(o.Get("supportedVersions"))
	if !slices.ContainsFunc(versions, func(v json.RawMessage) bool { return string(v) == `"`+modernProtocol+`"` }) {
		return errors.New("it does not speak protocol " + modernProtocol)
	}
	server := o.Some("serverInfo")
	if meta, err := rawjson.SplitObject(o.Get("_meta")); err == nil && meta.Some(metaServer) != nil {
		server = meta.Some(metaServer)
	}
	c.know(Modern, Hello{Protocol: modernProtocol, Server: server, Result: hello}, o)
	return nil
}

// know records who the server is; o is its parsed result.
func (c *Conn) know(era Era, h Hello, o rawjson.Object) {
	h.Capabilities, h.Instructions = o.Some("capabilities"), o.Str("instructions")
	c.era, c.hello, c.Protocol = era, h, h.Protocol
	if info, err := rawjson.SplitObject(h.Server); err == nil {
		c.Server, c.Version = info.Str("name"), info.Str("version")
	}
	c.Instructions = strings.TrimSpace(sanitize.Passed(h.Instructions, maxInstructions))
}

// dress adapts the params of a request to the era of the server: _meta tells a modern
// server about the deck, and nothing about an agent's own connection. All else is
// unchanged.
func (c *Conn) dress(params rawjson.Object) []byte {
	meta := params.Get("_meta")
	mine, err := rawjson.SplitObject(meta)
	var hop rawjson.Object
	switch {
	case meta != nil && err != nil:
		return params.JSON()
	case c.era == Modern:
		can := mine.Get(metaDeclared)
		if can == nil {
			can = c.capabilities()
		}
		hop = c.hop(can)
	case params == nil:
		return nil
	case c.era == "" || !bytes.Contains(meta, []byte("modelcontextprotocol")):
		return params.JSON()
	}
	for _, m := range mine {
		switch m.Key {
		case metaVersion, metaClient, metaCapabilities, metaDeclared:
		case metaLogLevel:
			if c.era == Modern {
				hop = append(hop, m)
			}
		default:
			hop = append(hop, m)
		}
	}
	out := params.Without("_meta")
	if len(hop) > 0 {
		out = append(out, rawjson.Member{Key: "_meta", Value: hop.JSON()})
	}
	return out.JSON()
}
