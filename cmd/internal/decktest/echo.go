package decktest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// EchoServer is an MCP server with two tools, for scripts, and with a third that asks
// the user what the schema in FORM says and answers with what it is told.
func EchoServer() {
	in := bufio.NewScanner(os.Stdin)
	var asks json.RawMessage // the call of form
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if m.Method == "" {
			b, _ := json.Marshal(string(m.Result) + string(m.Error)) // as below
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", asks, b)
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo-server","version":"1.2.3"}}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"echo","description":"Say it again` + os.Getenv("MORE") + `","inputSchema":{"type":"object"}},{"name":"env","inputSchema":{"type":"object"}}`
			if os.Getenv("FORM") != "" {
				answer += `,{"name":"form","inputSchema":{"type":"object"}}`
			}
			answer += `]}`
		case "tools/call":
			var p struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			}
			_ = json.Unmarshal(m.Params, &p) // it is empty then
			text := string(p.Arguments)
			switch p.Name {
			case "env":
				text = os.Getenv("LEVEL")
			case "form":
				asks = m.ID
				fmt.Printf(`{"jsonrpc":"2.0","id":"form","method":"elicitation/create","params":{"mode":"form","message":"Which journey?","requestedSchema":%s}}`+"\n", os.Getenv("FORM"))
				continue
			}
			b, _ := json.Marshal(text) // texts always encode
			answer = `"result":{"content":[{"type":"text","text":` + string(b) + `}]}`
		case "ping":
			answer = `"result":{}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
	}
}
