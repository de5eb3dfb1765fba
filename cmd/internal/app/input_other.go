//go:build !unix

package app

import "time"

// lastInput is not known on this system.
func lastInput() time.Time { return time.Time{} }
