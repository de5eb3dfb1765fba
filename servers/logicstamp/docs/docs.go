// Package docs holds the texts that explain contracts, bundles and comparisons
// to those who call the tools.
package docs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var files embed.FS

// Topics are the names of the texts, in reading order.
func Topics() []string {
	return []string{"forLLMs", "usage", "uifContracts", "schema", "context", "compareModes", "limitations"}
}

// Read gives one text.
func Read(topic string) (string, error) {
	data, err := files.ReadFile(topic + ".md")
	if err != nil {
		return "", fmt.Errorf("read the text %q: use one of %s", topic, strings.Join(Topics(), ", "))
	}
	return string(data), nil
}
