package userauth

import "golang.org/x/sys/unix"

// Hide keeps other processes of the user out of this one: they can neither trace
// it nor read its memory and open files, where a code or a passphrase may be. The
// superuser still can.
func Hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
