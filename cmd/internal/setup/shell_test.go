package setup

import (
	"os/exec"
	"path/filepath"
	"strings"
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

// TestAHookWhoseProgramIsGoneDoesNotFail is what keeps a program to which such a hook is a denial
// from refusing everything once mcpdeck was removed.
func TestAHookWhoseProgramIsGoneDoesNotFail(t *testing.T) {
	gone := filepath.ToSlash(filepath.Join(t.TempDir(), "mcpdeck-hook"))
	c, _ := clients.Find("claude")
	for _, tt := range []struct {
		shell clients.Shell
		want  string
	}{
		{clients.Sh, `set -- GONE claude; [ -x "$1" ] && "$@"; exit 0`},
		{clients.GitBash, "GONE claude; exit 0"},
		{clients.Cmd, "GONE claude & exit 0"},
		{clients.PowerShell, "try { GONE claude } catch {}; exit 0"},
	} {
		command := strings.ReplaceAll("GONE claude", "GONE", gone)
		guarded := tt.shell.Guard(command)
		if got := strings.ReplaceAll(guarded, gone, "GONE"); got != tt.want || clients.Bare(guarded) != command {
			t.Errorf("it is %s, want %s; bare it is %s", got, tt.want, clients.Bare(guarded))
		}
		if !hooksOf(c, "x").own(guarded) {
			t.Errorf("%s is not known as mcpdeck's", guarded)
		}
		if sh, err := exec.LookPath("sh"); err == nil && tt.shell <= clients.GitBash {
			if out, err := exec.Command(sh, "-c", guarded).Output(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v, it prints %q", guarded, err, out)
			}
		}
	}
	for system, want := range map[string]clients.Shell{"windows": clients.GitBash, "linux": clients.Sh, "darwin": clients.Sh} {
		if got := shellOf(c, system); got != want {
			t.Errorf("on %s shell %d reads it, want %d", system, got, want)
		}
	}
}
