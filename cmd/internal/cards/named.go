package cards

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// maxPackage is the maximum size of a package.json in bytes.
const maxPackage = 1 << 20

// Named returns the names of the server in a server.json and of the server that the npm
// package of its card says it is, if both are known: npm lets anyone publish a package under
// another's description. The package is looked for where npx has or would have it from,
// without the network.
func Named(description []byte, card settings.Card, m Machine) (described, packaged string) {
	var d struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(description, &d) != nil || len(card.Command) < 3 || card.Command[0] != "npx" {
		return "", ""
	}
	id, version := "", ""
	for _, word := range card.Command[1:] {
		if at := strings.LastIndexByte(word, '@'); !strings.HasPrefix(word, "-") && at > 0 {
			id, version = word[:at], word[at+1:]
			break
		}
	}
	if id == "" || !filepath.IsLocal(filepath.FromSlash(id)) {
		return "", ""
	}
	inside := filepath.Join("node_modules", filepath.FromSlash(id), "package.json")
	paths := []string{filepath.Join(m.Dir, inside)}
	cached, err := filepath.Glob(filepath.Join(m.Home, ".npm", "_npx", "*", inside))
	if err == nil {
		paths = append(paths, cached...)
	}
	for _, path := range paths {
		b, err := file.Read(path, maxPackage)
		var p struct {
			Version string `json:"version"`
			MCPName string `json:"mcpName"`
		}
		if err == nil && json.Unmarshal(b, &p) == nil && p.Version == version && p.MCPName != "" {
			return sanitize.Line(d.Name), sanitize.Line(p.MCPName)
		}
	}
	return "", ""
}
