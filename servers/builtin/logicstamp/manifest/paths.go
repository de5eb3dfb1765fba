package manifest

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Limits of the configurations that are read.
const (
	maxConfigs    = 500
	maxConfigSize = 1 << 20
	maxExtends    = 10
)

// Config is what the TypeScript configuration of a folder says of imports that
// are not relative. All paths are slash paths below the project.
type Config struct {
	// Dir is the folder, "." for the project's own.
	Dir string `json:"dir"`
	// BaseURL is where names are looked for, "" for nowhere.
	BaseURL string `json:"baseUrl,omitempty"`
	// Paths are the places of each pattern, which has one "*" at most.
	Paths map[string][]string `json:"paths,omitempty"`
}

// isConfig reports whether a file of this name can be a TypeScript configuration:
// tsconfig.json, jsconfig.json or one such as tsconfig.app.json.
func isConfig(name string) bool {
	return name == "jsconfig.json" || path.Ext(name) == ".json" && (name == "tsconfig.json" || strings.HasPrefix(name, "tsconfig."))
}

// readConfigs reads the configurations among files, one for each folder. What
// they say that cannot be read is left out.
func readConfigs(p *places, files []string) []Config {
	byDir := map[string][]string{}
	for _, name := range files[:min(len(files), maxConfigs)] {
		byDir[path.Dir(name)] = append(byDir[path.Dir(name)], name)
	}
	var out []Config
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		names := byDir[dir]
		// The main one wins; it may say only which others there are.
		slices.SortFunc(names, func(a, b string) int {
			if d := len(path.Base(a)) - len(path.Base(b)); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		merged := Config{Dir: dir}
		for _, name := range names {
			c := readConfig(p, name, maxExtends)
			merged.BaseURL = cmp.Or(merged.BaseURL, c.baseURL)
			if merged.Paths == nil {
				merged.Paths = c.resolved(dir)
			}
		}
		if merged.BaseURL != "" || merged.Paths != nil {
			out = append(out, merged)
		}
	}
	return out
}

// rawConfig is one configuration with what it extends.
type rawConfig struct {
	baseURL  string
	paths    map[string][]string
	pathsDir string
}

func (c rawConfig) resolved(dir string) map[string][]string {
	if len(c.paths) == 0 {
		return nil
	}
	base := cmp.Or(c.baseURL, c.pathsDir)
	out := map[string][]string{}
	for pattern, places := range c.paths {
		for _, place := range places {
			if rest, own := strings.CutPrefix(place, "${configDir}"); own {
				place = path.Join(dir, rest)
			} else {
				place = path.Join(base, place)
			}
			out[pattern] = append(out[pattern], place)
		}
	}
	return out
}

func readConfig(p *places, name string, depth int) rawConfig {
	var c rawConfig
	data, err := file.Inside(p.project, filepath.FromSlash(name), maxConfigSize)
	if err == nil {
		data, err = hujson.Standardize(data) // comments and commas at the end are allowed
	}
	var said struct {
		Extends         json.RawMessage `json:"extends"`
		CompilerOptions struct {
			BaseURL string              `json:"baseUrl"`
			Paths   map[string][]string `json:"paths"`
		} `json:"compilerOptions"`
	}
	if err != nil || json.Unmarshal(data, &said) != nil {
		return c
	}
	dir := path.Dir(name)
	for _, other := range extended(said.Extends) {
		if depth == 0 || !strings.HasPrefix(other, ".") {
			continue // one of a package
		}
		other = path.Join(dir, other)
		if path.Ext(other) != ".json" {
			other += ".json"
		}
		up := readConfig(p, other, depth-1)
		if up.baseURL != "" {
			c.baseURL = up.baseURL
		}
		if up.paths != nil {
			c.paths, c.pathsDir = up.paths, up.pathsDir
		}
	}
	if own := said.CompilerOptions; own.BaseURL != "" {
		c.baseURL = path.Join(dir, own.BaseURL)
	}
	if own := said.CompilerOptions; own.Paths != nil {
		c.paths, c.pathsDir = own.Paths, dir
	}
	return c
}

func extended(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var list []string
	_ = json.Unmarshal(raw, &list) // neither: it extends nothing
	return list
}
