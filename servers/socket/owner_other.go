//go:build !unix

package socket

import "io/fs"

// Folders below the user's profile are the user's own here.
func ownedByUser(fs.FileInfo) bool { return true }

func openToOthers(fs.FileInfo) bool { return false }
