package router

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
)

// slow is a server that is held up while it makes an offer, if the test wants that.
type slow struct {
	module
	has   atomic.Value // the name of its tool
	holds atomic.Pointer[chan struct{}]
	held  chan struct{} // closed then
}

func (s *slow) Catalogue() *backend.Catalogue {
	o := (&module{name: s.name, tools: []string{s.has.Load().(string)}}).Catalogue()
	if hold := s.holds.Swap(nil); hold != nil {
		close(s.held)
		<-*hold
	}
	return o
}

func TestAnOlderOfferDoesNotReplaceANewerOne(t *testing.T) {
	m := &slow{module: module{name: "a"}, held: make(chan struct{})}
	m.has.Store("older")
	h := started(t, Options{Servers: []backend.Server{m}})
	hold := make(chan struct{})
	m.holds.Store(&hold)
	older, newer := make(chan struct{}), make(chan struct{})
	go func() { m.events.Changed(); close(older) }()
	<-m.held
	m.has.Store("newer")
	go func() { m.events.Changed(); close(newer) }()
	select {
	case <-newer:
	case <-time.After(100 * time.Millisecond): // it waits for the other
	}
	close(hold)
	<-older
	<-newer
	if o := h.module("a").current(); len(o.Tools) != 1 || o.Tools[0].Key != "newer" {
		t.Errorf("offered are %v", o.Tools)
	}
}
