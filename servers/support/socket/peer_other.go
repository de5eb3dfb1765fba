//go:build !linux && !darwin

package socket

import (
	"net"
	"os"
)

// PeerOf says the user itself: on this system the folder's permissions alone
// protect the socket.
func PeerOf(*net.UnixConn) (Peer, error) { return Peer{UID: os.Geteuid()}, nil }

// Program returns the name of a process's program; this system does not say.
func Program(int) string { return "" }

// wraps tells whether a shell only runs one command for another program; this
// system does not say.
func wraps(int) bool { return false }

// container tells processes of containers apart; this system does not say.
func container(int) string { return "" }

// Parent returns the id of a process's parent; this system does not say.
func Parent(int) int { return 0 }

// Folder returns a process's working folder; this system does not say.
func Folder(int) string { return "" }
