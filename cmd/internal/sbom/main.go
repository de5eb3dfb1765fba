// Command sbom writes the parts list of a Go program, as CycloneDX JSON: the modules that
// the linker has noted in it, and Go's own library. The same program gives the same list.
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Ref     string `json:"bom-ref"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"` // of the module, as go.sum has it
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(program, path string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read the program's modules: %w", err)
	}
	b, err := json.MarshalIndent(list(info), "", "  ")
	if err != nil {
		return fmt.Errorf("write the parts list: %w", err)
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

func list(info *debug.BuildInfo) document {
	main := module("application", info.Main)
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{main}}
	d.Components = append(d.Components, module("library", debug.Module{Path: "std", Version: info.GoVersion}))
	for _, m := range info.Deps {
		d.Components = append(d.Components, module("library", *cmp.Or(m.Replace, m)))
	}
	return d
}

func module(kind string, m debug.Module) component {
	url := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	c := component{Ref: url, Type: kind, Name: m.Path, Version: m.Version, URL: url}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
	}
	return c
}
