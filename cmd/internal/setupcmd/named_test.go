package setupcmd

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestSetupSaysOfAVersionThatWasNeverRunThatItIsUntested(t *testing.T) {
	for version, want := range map[string]string{"": "; tested with 1.", "1.20.0": "; tested with 1.", "2.0.24": "OpenCode 2.0.24: "} {
		got := promptsOf("opencode", func(clients.Client) string { return version })
		if !strings.Contains(got, want) || strings.HasSuffix(got, "; untested") != (version == "2.0.24") {
			t.Errorf("%q: %s", version, got)
		}
	}
}

func TestSetupKnowsAProgramThatGoRunRemoves(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/go-build512223017/b001/exe/mcpdeck":                  true,
		"C:/Users/me/AppData/Local/go-build/3c/3ce0-d/mcpdeck.exe": true,
		"/home/me/go/bin/mcpdeck":                                  false,
		"/home/me/go-build/mcpdeck":                                false,
	} {
		if passing.MatchString(path) != want {
			t.Errorf("%s: not %t", path, want)
		}
	}
}
