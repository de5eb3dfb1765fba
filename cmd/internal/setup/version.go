package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// versionWithin is how long a program may take to say its version.
const versionWithin = 10 * time.Second

// VersionOf returns what a client's program says its version is, and whether it is here.
func VersionOf(ctx context.Context, environ []string, c clients.Client) (version string, installed bool) {
	for _, name := range c.Programs {
		path, err := process.Find(name)
		if err != nil {
			continue
		}
		if version := packagedVersion(path, name); version != "" {
			return version, true
		}
		ctx, cancel := context.WithTimeout(ctx, versionWithin)
		defer cancel()
		var out bytes.Buffer
		_ = process.Run(ctx, process.Of([]string{path, "--version"}, process.Tool, environ), process.Streams{Out: &out}) // what it said counts
		return regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(out.String()), true
	}
	return "", false
}

// packagedVersion returns the version of the npm package that a program is of, "" if it is
// of none. Some such programs take many seconds to say it themselves.
func packagedVersion(path, name string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	const levels = 4 // of folders in a package
	for range levels {
		path = filepath.Dir(path)
		b, err := file.Read(filepath.Join(path, "package.json"), 1<<20)
		if err != nil {
			continue
		}
		var p struct {
			Version string
			Bin     json.RawMessage
		}
		if json.Unmarshal(b, &p) == nil && p.Version != "" && bytes.Contains(p.Bin, []byte(`"`+name+`"`)) {
			return p.Version
		}
	}
	return ""
}
