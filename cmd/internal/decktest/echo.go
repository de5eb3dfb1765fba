package decktest

import (
	"os"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// EchoServer is an MCP server with two tools, for scripts, and with a third that asks
// the user what the schema in FORM says and answers with what it is told.
func EchoServer() {
	form := os.Getenv("FORM")
	list := `{"name":"echo","description":"Say it again` + os.Getenv("MORE") + `","inputSchema":{"type":"object"}},{"name":"env","inputSchema":{"type":"object"}}`
	if form != "" {
		list += `,{"name":"form","inputSchema":{"type":"object"}}`
	}
	(&fake.Server{NoModern: true, Answer: func(c *fake.Call) bool {
		switch c.Method + " " + c.Params.Str("name") {
		case "initialize ":
			c.Result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo-server","version":"1.2.3"}}`)
		case "tools/list ":
			c.Result(`{"tools":[` + list + `]}`)
		case "tools/call echo":
			c.Text(string(c.Params.Get("arguments")))
		case "tools/call env":
			c.Text(os.Getenv("LEVEL"))
		case "tools/call form":
			if said, ok := c.Ask(c.Done, "elicitation/create", `{"mode":"form","message":"Which journey?","requestedSchema":`+form+`}`); ok {
				c.Text(said)
			}
		case "ping ":
			return false
		default:
			c.Fail(rpc.CodeMethod, "no such method")
		}
		return true
	}}).Serve(os.Stdin, os.Stdout)
}
