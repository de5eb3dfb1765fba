package upstream_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
)

func TestCardsKeepTheContract(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		for carrier, web := range map[string]bool{"a child": false, "a URL": true} {
			t.Run(era+" server, "+carrier, func(t *testing.T) {
				backendtest.Contract(t, func(t *testing.T) backend.Server {
					t.Helper()
					return upstream.NewAdapter(cardOf(t, &fake.Server{NoModern: era == "legacy", NoLegacy: era == "modern", Crashes: true}, web, upstream.Options{
						OnDemand: true, Share: upstream.ShareSession, ElicitAgent: true, StartOn: true,
					}), upstream.AdapterOptions{})
				})
			})
		}
	}
}
