package app

import (
	"os"
	"path/filepath"
	"testing"
)

// A deck that serves logs to standard error; one with a screen has the file.
func TestALogThatIsALinkIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	link, precious := filepath.Join(dir, "log.txt"), filepath.Join(dir, "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, link); err != nil {
		t.Fatal(err)
	}
	if f, err := openLogFile(link); err == nil {
		_, _ = f.Write([]byte("a line\n"))
		f.Close()
	}
	if b, err := os.ReadFile(precious); err != nil || string(b) != "precious" {
		t.Errorf("what the link leads to is %q, %v", b, err)
	}
}
