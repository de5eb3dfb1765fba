package process

import "errors"

// Detach would start a program that outlives mcpdeck.
func Detach(Command) error {
	return errors.New("a program that outlives mcpdeck cannot be started on Windows")
}
