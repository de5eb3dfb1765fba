package mcpserver

import (
	"embed"
	"fmt"
	"strings"
)

// docs explain contracts, bundles and comparisons to those who call the tools.
//
//go:embed docs/*.md
var docs embed.FS

// topics are the names of the texts, in reading order.
func topics() []string {
	return []string{"forLLMs", "usage", "uifContracts", "schema", "context", "compareModes", "limitations"}
}

// readDoc gives one text.
func readDoc(topic string) (string, error) {
	data, err := docs.ReadFile("docs/" + topic + ".md")
	if err != nil {
		return "", fmt.Errorf("read the text %q: use one of %s", topic, strings.Join(topics(), ", "))
	}
	return string(data), nil
}
