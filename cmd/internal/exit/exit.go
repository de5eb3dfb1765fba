// Package exit says how a command ends that does not end well: with which code, and whether
// it was called in a wrong way.
package exit

import (
	"errors"
	"fmt"
)

// Exit codes besides 0.
const (
	Failed Code = 1
	Usage  Code = 2
)

// Code ends the program with a code and no message of its own.
type Code int

// Error implements error.
func (c Code) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// UsageError is an error in how a command was called.
type UsageError struct{ error }

// Unwrap returns what is wrong.
func (u UsageError) Unwrap() error { return u.error }

// Wrong makes an error one in how a command was called.
func Wrong(err error) error { return UsageError{err} }

// Usagef formats an error in how a command was called.
func Usagef(format string, args ...any) error { return Wrong(fmt.Errorf(format, args...)) }

// Of is the code of a command that ended with err, and whether there is a message to print.
func Of(err error) (code Code, message bool) {
	switch {
	case err == nil:
		return 0, false
	case errors.As(err, &code):
		return code, false
	case errors.As(err, new(UsageError)):
		return Usage, true
	}
	return Failed, true
}
