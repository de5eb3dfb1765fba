package pixelsrc

import (
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// sentence is an error that an agent reads as it stands.
type sentence string

func (s sentence) Error() string { return string(s) }

// Failf makes an error that an agent reads as it stands.
func Failf(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

// JSON writes a value indented, with <, > and & as they are.
func JSON(v any) string {
	b, err := rawjson.Encode(v, "  ")
	if err != nil {
		return fmt.Sprintf("%q", "internal error: "+err.Error())
	}
	return string(b)
}
