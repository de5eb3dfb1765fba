package config

import (
	"fmt"
	"os"
	"strings"
)

// Isolate makes a folder the home of this process and of all that it starts, so that
// nothing of the user's own is read or changed, and moves into a project.
func Isolate(home, project string) error {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		for _, own := range []string{"XDG_", "MCPDECK_", "CLAUDE_", "CODEX_", "GEMINI_", "OPENCODE_", "LOGICSTAMP_", "PROJECT_PATH"} {
			if strings.HasPrefix(name, own) {
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
