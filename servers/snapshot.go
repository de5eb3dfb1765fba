package servers

import (
	"slices"
	"time"
)

const (
	snapshotCalls = 512
	goneFor       = time.Minute
	goneKept      = 64
)

// Subscribe returns a channel that gets a hint when there is a new snapshot to
// look at, and a function that ends it.
func (h *Host) Subscribe() (<-chan struct{}, func()) { return h.hints.subscribe() }

// Snapshot returns the present version of everything. It is cheap when nothing
// has changed since the last time.
func (h *Host) Snapshot() *Snapshot {
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

func (h *Host) build() *Snapshot {
	h.mu.Lock()
	s := &Snapshot{
		Version:   h.version,
		Name:      h.opts.Name,
		Started:   h.started,
		Endpoints: h.endpoints,
		Warnings:  slices.Clone(h.warnings),
	}
	agents := slices.Clone(h.agents)
	h.gone = slices.DeleteFunc(h.gone, func(a AgentInfo) bool { return time.Since(a.Gone) > goneFor })
	gone := slices.Clone(h.gone)
	h.mu.Unlock()

	for _, a := range agents {
		s.Agents = append(s.Agents, a.info())
	}
	s.Agents = append(s.Agents, gone...)
	// The deck's own command makes calls, which are in the log, but is no agent.
	s.Agents = slices.DeleteFunc(s.Agents, func(a AgentInfo) bool { return a.Transport == ByCommand })
	perServer := h.calls.fill(s)
	for _, m := range h.modules {
		m.mu.Lock()
		s.Servers = append(s.Servers, ServerInfo{
			Name: m.id.Name, Title: m.id.Title, State: m.state,
			Tools: len(m.offer.Tools), Bytes: m.bytes, Calls: perServer[m.id.Name],
		})
		m.mu.Unlock()
	}
	return s
}
