package pixelsrc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// sentence is an error that an agent reads as it stands.
type sentence string

func (s sentence) Error() string { return string(s) }

// Failf makes an error that an agent reads as it stands.
func Failf(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

// JSON writes a value indented, with <, > and & as they are.
func JSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("%q", "internal error: "+err.Error())
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
