package fake_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// A child connects to the fake over pipes in both eras.
func TestTheFakeAsAProgram(t *testing.T) {
	for name, tt := range map[string]struct {
		server *fake.Server
		want   child.Era
	}{
		"both":   {&fake.Server{Sticky: true}, child.Modern},
		"legacy": {&fake.Server{NoModern: true}, child.Legacy},
		"modern": {&fake.Server{NoLegacy: true}, child.Modern},
	} {
		t.Run(name, func(t *testing.T) {
			c, tools, err := child.Open(t.Context(), child.Options{Name: "fake", Start: tt.server.Start, Limit: time.Minute, Log: new(child.Log)})
			if err != nil {
				t.Fatal(err)
			}
			defer c.End()
			if c.Era() != tt.want || len(tools) != 20 {
				t.Errorf("era %s, %d tools", c.Era(), len(tools))
			}
			if got, err := c.Call(t.Context(), "tools/call", rawjson.Object{{Key: "name", Value: json.RawMessage(`"echo"`)}, {Key: "arguments", Value: json.RawMessage(`{"text":"hi"}`)}}); err != nil || !strings.Contains(string(got), `"hi"`) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
