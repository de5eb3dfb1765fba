package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
)

// A link in place of the store's folder would let snapshots, and what is removed of
// them, go where it leads.
func TestAStoreIsNotOpenedThroughALink(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("links need a privilege on Windows")
	}
	target, link := t.TempDir(), filepath.Join(t.TempDir(), "snapshots")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(store.Options{Dir: link}); err == nil {
		t.Error("opened through a link, want an error")
	}
	s, err := store.Open(store.Options{Dir: target})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(target, target+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target+".moved", target); err != nil {
		t.Fatal(err)
	}
	if dir, err := s.Staging(); err == nil {
		t.Errorf("staged in %s through a link that came later, want an error", dir)
	}
}
