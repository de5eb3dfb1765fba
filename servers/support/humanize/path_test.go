package humanize_test

import (
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

func TestAPathBelowHomeBeginsWithATilde(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/home/ana": "~", "/home/ana/x/y": "~/x/y", "/home/anax/y": "/home/anax/y", "/etc": "/etc"} {
		if got := humanize.Tilde(filepath.FromSlash(path), filepath.FromSlash("/home/ana")); got != filepath.FromSlash(want) && got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := humanize.Tilde("/etc", ""); got != "/etc" {
		t.Errorf("without a home: %s", got)
	}
}
