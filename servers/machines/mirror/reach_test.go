//go:build unix

package mirror

import (
	"os"
	"path/filepath"
	"testing"
)

func TestALinkThatEndsSaysWhyToWhoReadsAndWhoWrites(t *testing.T) {
	engine := filepath.Join(t.TempDir(), "engine")
	if err := os.WriteFile(engine, []byte("#!/bin/sh\necho 'first' >&2\necho 'No route to host.' >&2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := Reach{Engine: engine, Environ: os.Environ()}.Dial("shop")(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for err == nil { // until it has ended
		_, err = c.Write([]byte("{}\n"))
	}
	if err.Error() != "No route to host" {
		t.Errorf("who writes is told %q", err)
	}
	if _, err := c.Read(make([]byte, 10)); err == nil || err.Error() != "No route to host" {
		t.Errorf("who reads is told %v", err)
	}
}
