//go:build !unix

package file

import (
	"io/fs"
	"os"
	"time"
)

// NoFollow is the flag that keeps an opening from going through a link.
const NoFollow = 0

const noWait = 0

// OwnedByUser reports whether a file is the user's own. Files below the user's
// profile are, here.
func OwnedByUser(fs.FileInfo) bool { return true }

// OwnedBySystem reports false: there is no owner that would tell.
func OwnedBySystem(fs.FileInfo) bool { return false }

// OwnedBy reports false: users have no numbers.
func OwnedBy(fs.FileInfo, int) bool { return false }

// Names is how many names a file has: more than one are hard links. It is 0 where the system does not tell.
func Names(fs.FileInfo) uint64 { return 0 }

// Modes say nothing of others here.
func modeOf(fs.FileInfo) fs.FileMode { return 0 }

// patiently renames. A virus scanner or an indexer may hold the target for a
// moment, so a refusal is tried again for half a second.
func patiently(rename func() error) error {
	end := time.Now().Add(500 * time.Millisecond)
	for {
		err := rename()
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func syncRoot(*os.Root) {}
