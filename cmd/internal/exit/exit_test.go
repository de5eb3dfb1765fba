package exit

import (
	"errors"
	"fmt"
	"testing"
)

func TestHowACommandEnds(t *testing.T) {
	for name, row := range map[string]struct {
		err     error
		code    Code
		message bool
	}{
		"well":              {nil, 0, false},
		"a failure":         {errors.New("x"), Failed, true},
		"wrong usage":       {fmt.Errorf("mcp: %w", Usagef("no server %q", "x")), Usage, true},
		"a code of its own": {fmt.Errorf("end: %w", Code(130)), 130, false},
	} {
		if code, message := Of(row.err); code != row.code || message != row.message {
			t.Errorf("%s: got %d, %v; want %d, %v", name, code, message, row.code, row.message)
		}
	}
	cause := errors.New("cause")
	if err := Wrong(cause); !errors.Is(err, cause) || err.Error() != "cause" {
		t.Errorf("what is wrong is %v", err)
	}
	if text := Code(3).Error(); text != "exit 3" {
		t.Errorf("a code says %q", text)
	}
}
