package main

import (
	"strings"
	"testing"
)

func TestTheSwitchOfTheDeckPageKnowsPencilAndRefusesItsOwnServers(t *testing.T) {
	h := built(t, true)
	h.host.Start()
	if said, err := h.Toggle("pencil"); said != "" || err != nil {
		t.Errorf("Pencil: %q, %v", said, err)
	}
	if err := h.pencil.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d, ok := h.Details("pencil"); !ok || d.Error == "" && !d.Offered {
		t.Errorf("Pencil was not turned on: %+v", d)
	}
	if _, err := h.Toggle("ask"); err == nil || !strings.Contains(err.Error(), "part of mcpdeck") {
		t.Errorf("ask: %v", err)
	}
	if err := h.Restart("nobody"); err == nil {
		t.Error("a server that is not there was restarted")
	}
	if _, ok := h.Details("nobody"); ok {
		t.Error("a server that is not there has details")
	}
}
