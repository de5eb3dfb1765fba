package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADeletedCallLogIsBegunAnew(t *testing.T) {
	for name, remove := range map[string]func(path string) error{
		"the file":   os.Remove,
		"the folder": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			j, w := testJournal(t, Options{})
			must(t, j.Open(t.Context()))
			j.Record(call(1))
			must(t, j.Sync(t.Context()))
			if err := remove(j.opt.Path); err != nil {
				t.Skipf("it cannot be deleted here: %v", err)
			}
			for n := 2; n <= 4; n++ {
				j.Record(call(n))
				must(t, j.Sync(t.Context()))
			}
			if !strings.Contains(w.String(), "the call log was deleted; started a new one") || strings.Count(w.String(), "new one") != 1 {
				t.Errorf("warned of %q", w.String())
			}
			must(t, j.Close(t.Context()))
			second, _ := testJournal(t, Options{Path: j.opt.Path})
			second.run = j.run + 1
			must(t, second.Open(t.Context()))
			if got, err := second.Search(t.Context(), Query{}); err != nil || ids(got) != "2 3 4" {
				t.Errorf("on the disk: %s, %v", ids(got), err)
			}
			must(t, second.Close(t.Context()))
		})
	}
}

func TestACallLogThatIsALinkIsNotFollowed(t *testing.T) {
	for _, end := range []string{"", "-wal", "-shm"} {
		j, w := testJournal(t, Options{})
		must(t, os.MkdirAll(filepath.Dir(j.opt.Path), 0o700))
		other := filepath.Join(t.TempDir(), "other")
		must(t, os.WriteFile(other, nil, 0o600))
		if end != "" { // else what belongs to no file is removed
			must(t, os.WriteFile(j.opt.Path, nil, 0o600))
		}
		if err := os.Symlink(other, j.opt.Path+end); err != nil {
			t.Skipf("no links here: %v", err)
		}
		must(t, j.Open(t.Context()))
		j.Record(call(1))
		must(t, j.Sync(t.Context()))
		if !j.InMemory() || w.String() == "" {
			t.Errorf("journal%s: kept in memory: %v, warned of %q", end, j.InMemory(), w.String())
		}
		must(t, j.Close(t.Context()))
		if info, err := os.Stat(other); err != nil || info.Size() != 0 {
			t.Errorf("journal%s: the link was followed: %v, %v", end, info, err)
		}
	}
}
