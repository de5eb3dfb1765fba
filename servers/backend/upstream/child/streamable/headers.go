package streamable

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// The protocol's headers.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
	headerLast    = "Last-Event-Id"
)

// modernVersion returns the protocol version in the _meta of a request, or "" if there is
// none; the request then belongs to an initialized connection.
func modernVersion(params json.RawMessage) string {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return ""
	}
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	if err != nil {
		return ""
	}
	return meta.Str("io.modelcontextprotocol/protocolVersion")
}

// modernHeaders repeats parts of a request's body in headers, so that intermediaries can
// tell requests apart.
func modernHeaders(h http.Header, version string, m rpc.Message, params []param) {
	h.Set(headerVersion, version)
	h.Set(headerMethod, m.Method)
	o, err := rawjson.SplitObject(m.Params)
	if err != nil {
		return
	}
	switch m.Method {
	case "tools/call", "prompts/get":
		h.Set(headerName, headerValue(o.Str("name")))
	case "resources/read":
		h.Set(headerName, headerValue(o.Str("uri")))
	}
	for _, p := range params {
		if value, ok := p.value(o.Get("arguments")); ok {
			h.Set(headerParam+p.header, headerValue(value))
		}
	}
}

// headerValue encodes s for a header: as is or, if that is not possible, as base64 between
// markers.
func headerValue(s string) string {
	const open, end = "=?base64?", "?="
	plain := strings.Trim(s, " \t") == s && !(strings.HasPrefix(s, open) && strings.HasSuffix(s, end)) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if plain {
		return s
	}
	return open + base64.StdEncoding.EncodeToString([]byte(s)) + end
}

// param is a tool argument that is repeated in a header.
type param struct {
	path   []string // within the arguments
	header string   // without the prefix
}

// value returns the header's value for these arguments, or false to omit the header.
func (p param) value(arguments json.RawMessage) (string, bool) {
	at := arguments
	for _, key := range p.path {
		o, err := rawjson.SplitObject(at)
		if err != nil {
			return "", false
		}
		at = o.Some(key)
	}
	if at == nil {
		return "", false
	}
	switch at[0] {
	case '"':
		s, err := rawjson.Text(at)
		return s, err == nil
	case 't', 'f':
		return string(at), true
	case '{', '[':
		return "", false
	}
	const exact = 1<<53 - 1
	f, err := strconv.ParseFloat(string(at), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// toolParams returns the repeated arguments of the tools on a page, by tool name.
func toolParams(page json.RawMessage) map[string][]param {
	o, err := rawjson.SplitObject(page)
	if err != nil {
		return nil
	}
	tools, _ := rawjson.SplitArray(o.Get("tools"))
	all := map[string][]param{}
	for _, raw := range tools {
		tool, err := rawjson.SplitObject(raw)
		if err != nil {
			continue
		}
		all[tool.Str("name")] = schemaParams(tool.Get("inputSchema"), nil)
	}
	return all
}

func schemaParams(schema json.RawMessage, path []string) (all []param) {
	const deepest = 32
	o, err := rawjson.SplitObject(schema)
	if err != nil || len(path) > deepest {
		return nil
	}
	properties, err := rawjson.SplitObject(o.Get("properties"))
	if err != nil {
		return nil
	}
	for _, m := range properties {
		property, err := rawjson.SplitObject(m.Value)
		if err != nil {
			continue
		}
		below := append(slices.Clone(path), m.Key)
		if header := property.Str("x-mcp-header"); isToken(header) {
			all = append(all, param{below, header})
		}
		all = append(all, schemaParams(m.Value, below)...)
	}
	return all
}

// isToken reports whether s is valid in a header name.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > '~' || !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}
