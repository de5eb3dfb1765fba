package config

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed schema.json
var schema []byte

// Template is a configuration file with every option, its default and what it is for,
// all of it commented out.
//
//go:embed config.toml
var Template string

// Schemas are the files that there is a JSON schema of: "config", "server" for the files in
// servers.d, and "theme" for those in themes.
func Schemas() []string { return []string{"config", "server", "theme"} }

// SchemaFile is the name of the file next to the configuration that has a schema.
func SchemaFile(of string) string { return of + ".schema.json" }

// Schema is the JSON schema of a file.
func Schema(of string) ([]byte, error) {
	if of == "config" {
		return schema, nil
	}
	var whole struct {
		Draft string                     `json:"$schema"`
		Defs  map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &whole); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	part := map[string]any{}
	if err := json.Unmarshal(whole.Defs[of], &part); err != nil {
		return nil, fmt.Errorf("no schema of %q; there are %s", of, strings.Join(slices.Sorted(maps.Keys(whole.Defs)), ", "))
	}
	part["$schema"] = whole.Draft
	return json.MarshalIndent(part, "", "  ")
}
