package main

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/tui"
)

// actions are the names in keys that an editor completes. There are others: those of one
// list alone, and of the answers of a confirmation.
func (g *generator) actions(all []tui.Bound) {
	keys := g.defs["config"].(map[string]any)["properties"].(map[string]any)["keys"].(map[string]any)
	properties := map[string]any{}
	for _, a := range all {
		about := a.Title + "."
		if len(a.Keys) > 0 {
			about += " By default " + strings.Join(a.Keys, ", ") + "."
		}
		properties[a.ID] = map[string]any{"type": "array", "description": about}
	}
	keys["properties"], keys["patternProperties"] = properties, map[string]any{"": keys["additionalProperties"]}
	delete(keys, "additionalProperties")
}
