//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestAnAgentForAnEditorRunsAsWithoutMcpdeck has it start by mcpdeck acp, alone and inside
// another one.
func TestAnAgentForAnEditorRunsAsWithoutMcpdeck(t *testing.T) {
	for name, line := range map[string][]string{"alone": {"acp", "--"}, "in another": {"acp", "--", "mcpdeck", "acp"}} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t)
			d.path = filepath.Dir(d.program) + ":" + d.path
			d.env = append(d.env, "ANTHROPIC_API_KEY=secret", "MCPDECK_NAME=x")
			start := func(script string) (*exec.Cmd, io.WriteCloser, *bytes.Buffer, *bytes.Buffer) {
				c := d.command(append(line, "sh", "-c", script)...)
				out, said := &bytes.Buffer{}, &bytes.Buffer{}
				c.Stdout, c.Stderr = out, said
				in, err := c.StdinPipe()
				if err == nil {
					err = c.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { d.kill(c) })
				return c, in, out, said
			}
			code := func(c *exec.Cmd) int {
				var end *exec.ExitError
				if err := c.Wait(); !errors.As(err, &end) {
					return 0
				}
				return end.ExitCode()
			}
			c, in, out, said := start(`echo "$ANTHROPIC_API_KEY $MCPDECK_ACP $MCPDECK_NAME" >&2; cat; printf 'last\033[1m words'; exit 3`)
			if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"a"}`+"\r\nno JSON"); err != nil {
				t.Fatal(err)
			}
			_ = in.Close()
			if got := code(c); got != 3 || out.String() != `{"jsonrpc":"2.0","method":"a"}`+"\r\nno JSONlast\033[1m words" || said.String() != "secret 1 x\n" {
				t.Errorf("code %d, said %q and %q", got, out, said)
			}

			settings := filepath.Join(d.home, ".config/mcpdeck/config.toml")
			if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700), os.WriteFile(settings, []byte("a = ["), 0o600)); err != nil {
				t.Fatal(err)
			}
			c, in, out, said = start(`cat; exit 3`)
			_, _ = io.WriteString(in, "hi")
			_ = in.Close()
			if got := code(c); got != 3 || out.String() != "hi" || !strings.Contains(said.String(), "array is incomplete") {
				t.Errorf("with broken settings: code %d, said %q and %q", got, out, said)
			}
			if err := os.Remove(settings); err != nil {
				t.Fatal(err)
			}

			ready := filepath.Join(d.home, "ready")
			c, _, _, said = start(`trap 'echo asked to end >&2; exit 7' TERM; trap 'exit 8' INT; : >` + ready + `; while :; do sleep 0.05; done`)
			testwait.Until(t, "the agent", func() bool {
				_, err := os.Stat(ready)
				return err == nil
			})
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if got := code(c); got != 7 || !strings.Contains(said.String(), "asked to end") {
				t.Errorf("asked to end: code %d, %q", got, said)
			}

			c, _, _, _ = start(`kill -KILL $$`)
			if got := code(c); got != 128+int(syscall.SIGKILL) {
				t.Errorf("killed: code %d", got)
			}
		})
	}
}
