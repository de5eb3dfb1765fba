package cards

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
)

// inOne is a card on one line: what runs or is connected to, and with what.
func inOne(c settings.Card) string {
	out := []string{c.URL}
	if c.URL == "" {
		out[0] = c.CommandLine()
	}
	for _, table := range []map[string]string{c.Env, c.Headers} {
		for _, k := range slices.Sorted(maps.Keys(table)) {
			out = append(out, k+"="+table[k])
		}
	}
	return strings.Join(out, " ")
}
