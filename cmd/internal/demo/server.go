package demo

import (
	"encoding/json"
	"io"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Serve is a small MCP server over lines, a card of the demo's deck: it tells the weather.
func Serve(in io.Reader, out io.Writer) error {
	for lines := rpc.NewLines(in, rpc.MaxLine); ; {
		line, err := lines.Next()
		if err != nil {
			return nil // the deck has closed it
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		answer, known := map[string]any{
			"initialize": map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "weather", "version": "1.0.0"},
			},
			"tools/list": map[string]any{"tools": []any{
				map[string]any{"name": "forecast", "description": "The weather of the next days in a city", "inputSchema": weatherSchema()},
				map[string]any{"name": "warnings", "description": "Warnings of storms and floods for a city", "inputSchema": weatherSchema()},
			}},
			"tools/call": map[string]any{"content": []any{map[string]any{"type": "text", "text": "Rain until noon, then sun; 14 °C."}}},
			"ping":       map[string]any{},
		}[m.Method]
		reply := rpc.Failure(m.ID, rpc.Error{Code: -32601, Message: "no such method"})
		if known {
			if reply, err = rpc.Result(m.ID, answer); err != nil {
				return err
			}
		}
		if _, err := out.Write(reply); err != nil {
			return err
		}
	}
}

func weatherSchema() any {
	return map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}}
}
