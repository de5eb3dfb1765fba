package wire

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// learnRoot asks a client that supports roots for them if the connection came without a
// folder.
func (c *Conn) learnRoot() {
	if c.agent.HasRoot() || c.sess.GetClientCapabilities().Roots == nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, 5*time.Second)
	defer cancel()
	roots, err := c.sess.ListRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		return
	}
	for _, r := range roots.Roots {
		if c.agent.SetRoot(FilePath(r.URI)) {
			return
		}
	}
}

// FilePath returns the absolute path of a file URI, "" for anything else.
func FilePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // file:///C:/x
		p = strings.TrimPrefix(p, "/")
	}
	if p = filepath.FromSlash(p); !filepath.IsAbs(p) {
		return ""
	}
	return filepath.Clean(p)
}
