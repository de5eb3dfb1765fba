package mcpserver

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
)

// A form is what the protocol of the handshake has, over each carrier.
func TestAFormIsOfTheVersionThatWasAgreedOn(t *testing.T) {
	h := routertest.Start(t, InDeck(noQueue{}, "0"))
	carriers := map[string]func(t *testing.T) transporttest.Talker{
		"stdio": func(t *testing.T) transporttest.Talker {
			t.Helper()
			return transporttest.OverStream(t, h, router.ViewSpec{}, false)
		},
		"socket": func(t *testing.T) transporttest.Talker {
			t.Helper()
			return transporttest.OverStream(t, h, router.ViewSpec{}, true)
		},
		"http": func(t *testing.T) transporttest.Talker { t.Helper(); return transporttest.OverHTTP(t, h, "/") },
	}
	versions := []struct{ version, want, not string }{
		{"2025-06-18", `"a0_1":{"title":"Q1: y","type":"boolean"}`, `"array"`},
		{"2025-11-25", `"a0":{"description":"Which?","items":{"anyOf":[{"const":"0","title":"x"},{"const":"1","title":"y"}]}`, `"boolean"`},
	}
	for name, open := range carriers {
		for _, tt := range versions {
			t.Run(name+" "+tt.version, func(t *testing.T) {
				a := open(t)
				a.Say(t, "initialize", `{"protocolVersion":"`+tt.version+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"tester","version":"1"}}`, "0")
				a.Tell(t, "notifications/initialized", "{}")
				a.Begin(t, "tools/call", `{"name":"ask","arguments":{"questions":[{"question":"Which?","multi":true,"options":["x","y"]}]}}`, "1")
				form := a.Next(t)
				for !strings.Contains(form, `"elicitation/create"`) {
					form = a.Next(t)
				}
				if !strings.Contains(form, tt.want) || strings.Contains(form, tt.not) {
					t.Errorf("the form is %s", form)
				}
			})
		}
	}
}
