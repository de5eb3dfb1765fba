package child

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// The next deck finds what a killed one left behind, and knows the program's own group
// from what the program let go.
func TestLeftoversOfAKilledDeckAreFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system may not tell with what environment a process was started")
	}
	for _, program := range []string{"sh", "setsid", "sleep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: %v", program, err)
		}
	}
	dir := t.TempDir()
	first, left, err := OpenMarks(dir)
	if err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	// The program goes on, and so does what it started in a session of its own.
	ready := filepath.Join(t.TempDir(), "ready")
	p, mark, err := first.Start(process.Command{
		Program: "sh", Args: []string{"-c", `setsid sleep 600 & echo $$ >"$0"; exec sleep 600`, ready}, Own: os.Environ(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	testwait.Until(t, "both programs", func() bool {
		alive := first.Left(mark)
		return len(alive) == 2 && alive[0].Program == "sleep" && alive[1].Program == "sleep"
	})
	_, left, err = OpenMarks(dir)
	if err != nil || len(left) != 0 {
		t.Fatalf("a deck that lives has left %v, %v", left, err)
	}
	if err := first.file.Unlock(); err != nil { // as the end of its process does
		t.Fatal(err)
	}
	second, left, err := OpenMarks(dir)
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, l := range left {
		if l.Own != (l.PID == p.PID) {
			t.Errorf("%s %d: its own %v", l.Program, l.PID, l.Own)
		}
		if l.Own {
			own++
		}
		l.End()
	}
	if len(left) != 2 || own != 1 {
		t.Errorf("%d left, %d of the program's own", len(left), own)
	}
	<-p.Exited
	testwait.Until(t, "nothing is left", func() bool { return len(first.Left(mark)) == 0 })
	third, left, err := OpenMarks(dir)
	if err != nil || len(left) != 0 {
		t.Fatalf("%v, %v", left, err)
	}
	if _, err := os.Stat(first.file.Path()); !os.IsNotExist(err) {
		t.Error("the marks of a deck of which nothing is left are kept")
	}
	second.Close()
	third.Close()
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) > 1 { // one deck of above never closed
		t.Errorf("left in the folder: %q, %v", files, err)
	}
}

func TestMarksNeedNoFolder(t *testing.T) {
	m, left, err := OpenMarks("")
	if err != nil || left != nil {
		t.Fatal(left, err)
	}
	defer m.Close()
	if _, _, err := m.Start(process.Command{Program: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("what is not there was started")
	}
}

// A deck that starts takes the file of another that starts for none of a deck that is
// gone.
func TestDecksThatStartAtOnceKeepTheirMarks(t *testing.T) {
	dir := t.TempDir()
	var decks sync.WaitGroup
	for range 8 {
		decks.Go(func() {
			for range 8 {
				m, left, err := OpenMarks(dir)
				if err != nil || len(left) != 0 {
					t.Error(left, err)
					return
				}
				if err := note(m.file.Path(), "x-1 0\n"); err != nil {
					t.Error(err)
				}
				m.Close()
			}
		})
	}
	decks.Wait()
}
