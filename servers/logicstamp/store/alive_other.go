//go:build !unix

package store

import "os"

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p != nil
}
