package router

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
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
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
				all := h.Snapshot().Calls
				if len(all) < 2 {
					continue
				}
				if all[0].Done != tt.want || (all[0].Total > 0) != (tt.want > 0) {
					t.Errorf("%v of %v, want %v", all[0].Done, all[0].Total, tt.want)
				}
				return
			}
			t.Error("the calls are not in the snapshot")
		})
	}
}
