package transport

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// learnRoot asks a client that supports roots for them if the connection came without a
// folder. It is also for a client whose roots have changed.
func (c *Conn) learnRoot() {
	c.learning.Lock() // the last answer counts
	defer c.learning.Unlock()
	if c.agent.HasRoot() && !c.announced || c.sess.GetClientCapabilities().Roots == nil {
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
			c.announced = true
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
