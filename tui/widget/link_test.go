package widget_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// A link that is broken over rows is whole in each of them, and what stands beside
// the rows is none of it.
func TestAddressesInJSONAreLinks(t *testing.T) {
	const address = "https://example.com/a/very/long/path/that/does/not/fit?into=one&row=1"
	raw, _ := json.Marshal(map[string]string{"short": "see https://a.example now", "text": "line\n" + address + "\nlast"})
	rows := widget.JSON(theme.New(theme.Options{Dark: true}), raw, 40).Rows
	all := strings.Join(rows, "\n")
	if !strings.Contains(all, linkOf("https://a.example")) {
		t.Errorf("no link behind a key: %q", all)
	}
	parts := ""
	for _, row := range rows {
		if strings.Count(row, "\x1b]8;;h") != strings.Count(row, "\x1b]8;;\a") {
			t.Errorf("a link does not end with its row: %q", row)
		}
		if strings.Contains(row, linkOf(address)) {
			parts += strings.TrimLeft(ansi.Strip(row), " │")
		}
	}
	if parts != address {
		t.Errorf("the link reads %q", parts)
	}
}
