package book

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestAChangeOfTheBookIsNoticed changes it as editors, agents and the deck's own commands do.
func TestAChangeOfTheBookIsNoticed(t *testing.T) {
	for name, change := range map[string]func(s *Store) error{
		"written over": func(s *Store) error { return os.WriteFile(s.path, []byte(text+"# more\n"), 0o600) },
		"truncated":    func(s *Store) error { return os.Truncate(s.path, int64(len(text)/2)) },
		"replaced": func(s *Store) error {
			if err := os.WriteFile(s.path+".new", []byte(text+"\n"), 0o600); err != nil {
				return err
			}
			return os.Rename(s.path+".new", s.path)
		},
		"removed": func(s *Store) error { return os.Remove(s.path) },
		"open to others": func(s *Store) error {
			return os.Chmod(s.path, 0o644)
		},
		"a link": func(s *Store) error {
			if err := os.Rename(s.path, s.path+".real"); err != nil {
				return err
			}
			return os.Symlink(s.path+".real", s.path)
		},
		"turned off":  func(s *Store) error { return NewStore(filepath.Dir(s.path), filepath.Dir(s.state)).Off() },
		"its folder":  func(s *Store) error { return os.Rename(filepath.Dir(s.path), filepath.Dir(s.path)+".old") },
		"its own way": func(s *Store) error { return s.Off() },
	} {
		t.Run(name, func(t *testing.T) {
			s := stored(t)
			if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := s.Accept(s.Now()); err != nil {
				t.Fatal(err)
			}
			told := make(chan struct{}, 1024)
			if err := s.Watch(t.Context(), func() { told <- struct{}{} }); err != nil {
				t.Skip("files cannot be watched here:", err)
			}
			if now := s.Recent(); !now.Answers() {
				t.Fatalf("it is %+v", now)
			}
			began := time.Now()
			if err := change(s); err != nil {
				t.Fatal(err)
			}
			<-told
			testwait.Until(t, "no rule allows", func() bool { now := s.Recent(); return !now.Answers() })
			t.Log("after", time.Since(began))
		})
	}
}

func TestWhatIsNotWatchedIsReadEachTime(t *testing.T) {
	s := stored(t)
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Accept(s.Now()); err != nil {
		t.Fatal(err)
	}
	if now := s.Recent(); !now.Answers() {
		t.Fatalf("it is %+v", now)
	}
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if now := s.Recent(); now.Answers() {
		t.Error("rules allow")
	}
}
