package setup

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestACommandAsEachShellReadsIt(t *testing.T) {
	plain, spaced := `C:\Users\ana\bin\mcpdeck-hook.exe`, `C:\Users\Ana O'Hara\mcpdeck.exe`
	for name, tt := range map[string]struct {
		shell         clients.Shell
		plain, spaced string
	}{
		"Git Bash":   {clients.GitBash, `C:/Users/ana/bin/mcpdeck-hook.exe claude`, `'C:/Users/Ana O'\''Hara/mcpdeck.exe' hook claude`},
		"cmd":        {clients.Cmd, `C:\Users\ana\bin\mcpdeck-hook.exe claude`, `"C:\Users\Ana O'Hara\mcpdeck.exe" hook claude`},
		"PowerShell": {clients.PowerShell, `C:\Users\ana\bin\mcpdeck-hook.exe claude`, `& 'C:\Users\Ana O''Hara\mcpdeck.exe' hook claude`},
		"sh":         {clients.Sh, `'C:\Users\ana\bin\mcpdeck-hook.exe' claude`, `'C:\Users\Ana O'\''Hara\mcpdeck.exe' hook claude`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := commandLine(tt.shell, []string{plain, "claude"}); got != tt.plain {
				t.Errorf("got %s, want %s", got, tt.plain)
			}
			got := commandLine(tt.shell, []string{spaced, "hook", "claude"})
			if got != tt.spaced {
				t.Errorf("got %s, want %s", got, tt.spaced)
			}
			c, _ := clients.Find("claude")
			for _, command := range []string{tt.plain, tt.spaced} {
				if !hooksOf(c, "").own(command) {
					t.Errorf("setup does not know %s for its own", command)
				}
			}
		})
	}
}
