//go:build unix

package codex

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
)

func TestAProbeSaysWhatTheDaemonHas(t *testing.T) {
	d := newDaemon(t)
	o := approvals.Deps{Folder: d.Home, Frames: func(ctx context.Context, c net.Conn) (approvals.Frames, error) { return frames.Dial(ctx, c) }}
	if _, err := probe(t.Context(), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a daemon: %v", err)
	}
	d.Runs("one", standin.Idle(), nil)
	started(t, d)
	if has, err := probe(t.Context(), o); err != nil || has != "its daemon 0.169.0 has 1 session" {
		t.Errorf("%q, %v", has, err)
	}
}

func TestASocketThatOthersCouldHaveMadeIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(d *standin.Codex) error{
		"open folder of the link":   func(d *standin.Codex) error { return os.Chmod(filepath.Join(d.Home, "app-server-control"), 0o755) },
		"open folder of the socket": func(d *standin.Codex) error { return os.Chmod(filepath.Join(d.Home, "run"), 0o770) },
		"link to a link": func(d *standin.Codex) error {
			if err := os.Rename(d.Path, d.Path+"2"); err != nil {
				return err
			}
			return os.Symlink(d.Path+"2", d.Path)
		},
		"no socket": func(d *standin.Codex) error {
			if err := os.Remove(d.Path); err != nil {
				return err
			}
			return os.WriteFile(d.Path, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaemon(t)
			started(t, d)
			c, err := dial(t.Context(), d.Home)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			if err := spoil(d); err != nil {
				t.Fatal(err)
			}
			if c, err := dial(t.Context(), d.Home); err == nil {
				_ = c.Close()
				t.Error("it was taken")
			}
		})
	}
}
