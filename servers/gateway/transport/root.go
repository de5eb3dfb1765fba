package transport

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// learnRoot asks a client that supports roots for them if the connection came without a
// folder. It is also for a client whose roots have changed.
func (c *Conn) learnRoot() {
	c.learning.Lock() // the last answer counts
	defer c.learning.Unlock()
	if c.agent.HasRoot() && !c.announced || !hasRoots(c.agent.Capabilities()) {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, 5*time.Second)
	defer cancel()
	raw, err := c.ask(ctx, "roots/list", nil)
	var roots struct{ Roots []struct{ URI string } }
	if err != nil || json.Unmarshal(raw, &roots) != nil {
		return
	}
	for _, r := range roots.Roots {
		if c.agent.SetRoot(FilePath(r.URI)) {
			c.announced = true
			return
		}
	}
}

// hasRoots reports whether a client answers which roots it has.
func hasRoots(capabilities json.RawMessage) bool {
	can, _ := rawjson.SplitObject(capabilities) // something else has none
	return can.Some("roots") != nil
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
