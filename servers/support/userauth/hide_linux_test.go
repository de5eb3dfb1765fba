package userauth

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestAHiddenProcessCannotBeTraced(t *testing.T) {
	if err := Hide(); err != nil {
		t.Fatal(err)
	}
	n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if n != 0 || err != nil {
		t.Errorf("dumpable: %d, %v", n, err)
	}
}
