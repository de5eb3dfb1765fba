package help

import (
	"strings"
	"testing"
)

func TestHelpPaintsNamesAlone(t *testing.T) {
	for _, r := range []struct{ name, text, want string }{
		{"a heading", "Servers:", "<b>Servers:"},
		{"a command", "Servers:\n  add   Add one", "<b>Servers:\n  <n>add<f>   Add one"},
		{"a flag", "Flags:\n  -h, --help         help\n      --port int     port", "<b>Flags:\n  <n>-h, --help<f>         help\n      <n>--port<f> int     port"},
		{"a line of usage", "Usage:\n  mcpdeck [flags]", "<b>Usage:\n  mcpdeck [flags]"},
		{"an example", "Examples:\n  mcpdeck undo", "<b>Examples:\n  mcpdeck undo"},
		{"a sentence", "Environment:\n  A variable can stand", "<b>Environment:\n  A variable can stand"},
	} {
		t.Run(r.name, func(t *testing.T) {
			got := strings.NewReplacer("\x1b[1m", "<b>", "\x1b[36m", "<n>", "\x1b[2m", "<f>", "\x1b[m", "").Replace(paint(r.text))
			if got != r.want {
				t.Errorf("got %q, want %q", got, r.want)
			}
		})
	}
}
