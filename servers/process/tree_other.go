//go:build !linux && !darwin

package process

func processes() []relative { return nil }

func look(int) (relative, bool) { return relative{}, false }

func environOf(int) string { return "" }

func argsOf(int) []string { return nil }

// TTY is the device of a process's terminal; it is not known here.
func TTY(int) string { return "" }
