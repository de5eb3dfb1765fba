// Package recovery starts goroutines that cannot bring the process down.
//
// Bubble Tea restores the terminal after a panic in Update, View or a command,
// but a panic in any other goroutine leaves the alternate screen, mouse mode
// and a raw tty behind. So every goroutine of the program starts here.
package recovery

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Go runs fn in a new goroutine. A panic in fn is recorded with its stack by
// the default slog logger, under name, and ends only that goroutine.
func Go(name string, fn func()) {
	go func() {
		defer Recover(name)
		fn()
	}()
}

// Recover turns, deferred, a panic into a log record named name.
func Recover(name string) {
	if v := recover(); v != nil {
		record(name, v)
	}
}

// Call runs fn and returns its panic, if any, as an error that holds no stack;
// the stack goes to the log.
func Call(name string, fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			record(name, v)
			err = fmt.Errorf("%s: internal error", name)
		}
	}()
	return fn()
}

func record(name string, v any) {
	slog.Error("panic recovered", "in", name, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
}
