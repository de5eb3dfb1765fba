//go:build !unix

package socket

import "io/fs"

// Alive tells whether a process runs; this system does not say.
func Alive(int) bool { return false }

// Folders below the user's profile are the user's own here.
func ownedByUser(fs.FileInfo) bool { return true }

func openToOthers(fs.FileInfo) bool { return false }
