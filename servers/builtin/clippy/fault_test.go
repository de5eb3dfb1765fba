//go:build unix

package clippy

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestErrorsAreSaidInWords(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"EACCES", &fs.PathError{Op: "open", Path: "/home/ada/x", Err: syscall.EACCES}, "permission denied"},
		{"EPERM", syscall.EPERM, "permission denied"},
		{"ENOSPC", &fs.PathError{Op: "write", Path: "/home/ada/x", Err: syscall.ENOSPC}, "the disk is full"},
		{"EDQUOT", syscall.EDQUOT, "the disk is full"},
		{"EROFS", syscall.EROFS, "the file system is read-only"},
		{"ENAMETOOLONG", syscall.ENAMETOOLONG, "the name is too long"},
		{"ELOOP", syscall.ELOOP, "too many symbolic links"},
		{"EIO", &fs.PathError{Op: "read", Path: "/home/ada/x", Err: syscall.EIO}, "the operation failed (EIO)"},
		{"ESTALE", syscall.ESTALE, "the operation failed (ESTALE)"},
		{"other", errors.New("secret detail"), "the operation failed"},
		{"a fault stays", say("as it is"), "as it is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sentence(system(tt.err)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	d := &desktop{system: "darwin"}
	if got := sentence(d.explain(syscall.EPERM)); !strings.Contains(got, "System Settings") {
		t.Errorf("macOS is not told the way out: %q", got)
	}
	if got := Given("a\x1b\n" + strings.Repeat("b", 300)); strings.ContainsAny(got, "\x1b\n") || len(got) > 220 {
		t.Errorf("given is %q", got)
	}
}
