package mcpserver

import (
	"strings"
	"testing"
)

// FuzzRead reads resources under addresses as they come.
func FuzzRead(f *testing.F) {
	for _, uri := range []string{"pixelsrc://palettes", "pixelsrc://palette/gameboy", "pixelsrc://example/%2e%2e/coin", "pixelsrc://template/item", "pixelsrc://example/..%2f..%2fguide%2ffull"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		mime, body, err := readResource(uri)
		if err == nil && (mime == "" || body == "") {
			t.Errorf("%q gives nothing", uri)
		}
		if strings.Contains(uri, "example/") && strings.Contains(body, "# Pixelsrc Primer") {
			t.Errorf("%q leads out of the examples", uri)
		}
	})
}

// FuzzBase64 decodes what agents send as base64.
func FuzzBase64(f *testing.F) {
	f.Add("data:image/png;base64,AAAA")
	f.Add("a-_=\n")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := decodeBase64(s)
		if err == nil && len(b) > len(s) {
			t.Errorf("%d bytes of %d", len(b), len(s))
		}
	})
}
