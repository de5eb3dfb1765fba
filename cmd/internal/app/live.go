package app

import (
	"context"
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// listControl tells a command about the servers.
func (w *Switches) listControl(context.Context, transport.Requester, json.RawMessage) (any, error) {
	out := map[string]Live{}
	for _, s := range w.host.Snapshot().Servers {
		d, _ := w.Details(s.Name)
		f := w.host.Figures(s.Name)[""]
		out[s.Name] = Live{string(s.State.Status), d.Protocol, d.Era, s.Tools, s.Context, f.Calls, f.P95.Milliseconds(), s.State.Adds, s.Missing()}
	}
	return out, nil
}

// Live is a server of the running deck.
type Live struct {
	State    string         `json:"state"`              // starting, ready, off, degraded, failed
	Protocol string         `json:"protocol,omitempty"` // that it speaks
	Era      string         `json:"era,omitempty"`      // legacy, modern
	Tools    int            `json:"tools"`              // that agents have
	Context  int            `json:"contextBytes"`       // of what a model gets of them
	Calls    uint64         `json:"calls"`
	P95      int64          `json:"p95Milliseconds,omitempty"`
	Adds     snapshot.Count `json:"adds,omitzero"`     // once it is on
	Missing  string         `json:"missing,omitempty"` // the optional program that is not installed, while nobody wants the server
}
