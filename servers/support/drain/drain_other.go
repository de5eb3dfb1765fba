//go:build !unix

package drain

import (
	"os"
)

// reader reports whether what is written to a pipe can be read at its other end, which
// cannot be known here without writing.
func reader(*os.File) (reads, known bool) { return false, false }

// closed is [HungUp] of a file, which cannot be known here.
func closed(*os.File) bool { return false }
