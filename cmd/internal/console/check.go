package console

import (
	"encoding/json"
	"io"
)

// Check is a row of what commands report as JSON, the same in all of them.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
	Fix    string `json:"fix,omitempty"` // what to do; a command if there is one
}

// PrintJSON prints a value as JSON, on one line or indented. & and the like stand for
// themselves: it is read in a terminal.
func PrintJSON(w io.Writer, v any, indent bool) error {
	e := json.NewEncoder(JSON(w))
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}
