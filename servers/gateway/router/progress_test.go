package router

import (
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestProgressOfACallIsInTheSnapshot(t *testing.T) {
	tests := []struct {
		name, method string
		params       string
		want         float64 // of 5
	}{
		{"as a module says it", "notifications/progress", `{"progress":3.0,"total":5.0}`, 3},
		{"as a server said it", "notifications/progress", `{"progressToken":7,"progress":4,"total":5,"later":1.0}`, 4},
		{"without a total", "notifications/progress", `{"progress":2.0}`, 0},
		{"a log message", "notifications/message", `{"progress":2.0,"total":5.0}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := started(t, Options{})
			r := h.calls.Begin(&calllog.Figures{}, snapshot.Caller{Client: "tester"}, calllog.Request{Server: "m", Tool: "t"})
			(&request{agent: &Agent{}, raw: &backend.Request{}, client: backend.Nobody{}, call: r}).Notify(tt.method, json.RawMessage(tt.params))
			after := h.calls.Begin(&calllog.Figures{}, snapshot.Caller{Client: "tester"}, calllog.Request{Server: "m", Tool: "after"})
			defer after.End(snapshot.OK, nil, "")
			defer r.End(snapshot.OK, nil, "")
			testwait.Until(t, "the calls are in the snapshot", func() bool { return len(h.Snapshot().Calls) == 2 })
			if got := h.Snapshot().Calls[0]; got.Done != tt.want || (got.Total > 0) != (tt.want > 0) {
				t.Errorf("%v of %v, want %v", got.Done, got.Total, tt.want)
			}
		})
	}
}
