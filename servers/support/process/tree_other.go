//go:build !linux && !darwin

package process

import "os"

func processes(map[int]relative) []relative { return nil }

func look(int) (relative, bool) { return relative{}, false }

func environOf(int) string { return "" }

func argsOf(int) []string { return nil }

// Executable is the program that a process runs; it is not known here.
func Executable(int) (path string, info os.FileInfo) { return "", nil }

// TTY is the device of a process's terminal; it is not known here.
func TTY(int) string { return "" }
