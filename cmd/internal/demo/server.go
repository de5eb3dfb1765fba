package demo

import (
	"io"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Serve is a small MCP server over lines, a card of the demo's deck: it tells the weather.
func Serve(in io.Reader, out io.Writer) {
	const schema = `"inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}`
	answers := map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"1.0.0"}}`,
		"tools/list": `{"tools":[{"name":"forecast","description":"The weather of the next days in a city",` + schema +
			`,{"name":"warnings","description":"Warnings of storms and floods for a city",` + schema + `]}`,
		"tools/call": `{"content":[{"type":"text","text":"Rain until noon, then sun; 14 °C."}]}`,
		"ping":       `{}`,
	}
	(&fake.Server{NoModern: true, Answer: func(c *fake.Call) bool {
		if answer, known := answers[c.Method]; known {
			c.Result(answer)
		} else {
			c.Fail(rpc.CodeMethod, "no such method")
		}
		return true
	}}).Serve(in, out)
}
