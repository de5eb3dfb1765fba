package config

import (
	"fmt"
	"os"
	"strings"
)

// Isolate makes a folder the home of this process and of all that it starts, so that
// nothing of the user's own is read or changed, and moves into a project. Own are prefixes
// of variables of agents' programs.
func Isolate(home, project string, own []string) error {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		for _, prefix := range append([]string{"XDG_", "MCPDECK_", "LOGICSTAMP_", "PROJECT_PATH"}, own...) {
			if strings.HasPrefix(name, prefix) {
				if err := os.Unsetenv(name); err != nil {
					return fmt.Errorf("clear %s: %w", name, err)
				}
			}
		}
	}
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "PWD": project} {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	if err := os.Chdir(project); err != nil {
		return fmt.Errorf("enter the project: %w", err)
	}
	return nil
}
