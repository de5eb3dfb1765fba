package userauth

import "golang.org/x/sys/unix"

// Hide keeps debuggers of the user out of this process, where a code or a
// passphrase may be. The superuser still gets in.
func Hide() error { return unix.PtraceDenyAttach() }
