package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// ErrUnsafe says that what lies at a socket's path may be another user's.
var ErrUnsafe = errors.New("not this user's socket")

// Dial connects to the socket at path if it is the user's own: no link, not
// another user's file, no process of another user behind it. Otherwise the
// error is ErrUnsafe.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().Type()&(fs.ModeSymlink|fs.ModeDir) != 0:
		return nil, fmt.Errorf("connect to %s: %w: it is a link or a folder; remove it", path, ErrUnsafe)
	case !file.OwnedByUser(info):
		return nil, fmt.Errorf("connect to %s: %w: its file belongs to another user", path, ErrUnsafe)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("connect to %s: not a Unix socket", path)
	}
	if p, err := PeerOf(u); err != nil || !p.Trusted() {
		c.Close()
		return nil, fmt.Errorf("connect to %s: %w: another user's process is listening there", path, ErrUnsafe)
	}
	return c, nil
}
