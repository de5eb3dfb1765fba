package router

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	goneFor  = time.Minute
	goneKept = 64
)

// Subscribe returns a channel that gets a hint when there is a new snapshot to
// look at, and a function that ends it.
func (h *Host) Subscribe() (<-chan struct{}, func()) { return h.hints.Subscribe() }

// Snapshot returns the present version of everything. It is cheap when nothing
// has changed since the last time.
func (h *Host) Snapshot() *snapshot.Snapshot {
	h.mu.Lock()
	version := h.version
	h.mu.Unlock()
	if s := h.cached.Load(); s != nil && s.Version == version {
		return s
	}
	s := h.build()
	h.cached.Store(s)
	return s
}

func (h *Host) build() *snapshot.Snapshot {
	h.mu.Lock()
	s := &snapshot.Snapshot{
		Version:   h.version,
		Name:      h.opts.Name,
		Started:   h.started,
		Endpoints: h.endpoints,
		Warnings:  slices.Clone(h.warnings),
	}
	agents := slices.Clone(h.agents)
	h.gone = slices.DeleteFunc(h.gone, func(a snapshot.Agent) bool { return time.Since(a.Gone) > goneFor })
	gone := slices.Clone(h.gone)
	lazy := maps.Clone(h.lazy)
	h.mu.Unlock()

	for _, a := range agents {
		s.Agents = append(s.Agents, a.info())
	}
	s.Agents = append(s.Agents, gone...)
	// The deck's own command makes calls, which are in the log, but is no agent.
	s.Agents = slices.DeleteFunc(s.Agents, func(a snapshot.Agent) bool { return a.Transport == snapshot.ByCommand })
	perServer := h.calls.Fill(s)
	for _, m := range h.all() {
		m.mu.Lock()
		shown := snapshot.Server{
			Name: m.id.Name, Title: m.id.Title, State: m.shown(), Foreign: m.id.Foreign, Lazy: lazy[m.id.Name],
			Tools: m.listed.Tools, Bytes: m.bytes, Context: m.listed.Context, Wanted: m.wanted || perServer[m.id.Name] > 0,
		}
		m.mu.Unlock()
		if shown.Lazy {
			shown.Bytes, shown.Context, shown.State.Adds.Context = 0, 0, 0
			if shown.State.Status == snapshot.Ready {
				shown.State.Detail = strings.TrimSuffix("on demand, "+shown.State.Detail, ", ")
			}
		}
		s.Servers = append(s.Servers, shown)
	}
	return s
}

// Calls returns the calls that changed after the given change number, oldest
// first, and the number to pass next time. 0 asks for all that are kept: the
// newest 10,000.
func (h *Host) Calls(since uint64) ([]snapshot.Call, uint64) { return h.calls.Since(since) }

// Body returns what a call carried, false if it is no longer in memory.
func (h *Host) Body(id uint64) (snapshot.CallBody, bool) { return h.calls.Body(id) }

// Pictures are the newest pictures in the results of calls, the newest first, and a
// number that rises when there are others. The list must not be changed.
func (h *Host) Pictures() ([]snapshot.Picture, uint64) { return h.calls.Pictures() }
