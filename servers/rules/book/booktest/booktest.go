// Package booktest has books of rules for tests.
package booktest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/rules/book"
)

// New returns a book with a text, in folders of its own, which its user has not accepted.
func New(t testing.TB, text string) *book.Store {
	t.Helper()
	config, state := t.TempDir(), t.TempDir()
	for _, dir := range []string{config, state} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if text != "" {
		if err := os.WriteFile(filepath.Join(config, "rules.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return book.NewStore(config, state)
}

// Accept has the user of a book accept it as it is.
func Accept(t testing.TB, s *book.Store) *book.Store {
	t.Helper()
	if err := s.Accept(s.Now()); err != nil {
		t.Fatal(err)
	}
	return s
}

// OnlyReads returns a book that lets an agent read, which its user has accepted.
func OnlyReads(t testing.TB, agent string) *book.Store {
	t.Helper()
	s := New(t, "")
	if err := s.Keep(book.OnlyReads("m2", agent)); err != nil {
		t.Fatal(err)
	}
	return Accept(t, s)
}
