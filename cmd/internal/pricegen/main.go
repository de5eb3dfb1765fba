// Command pricegen writes the table of prices from the one that LiteLLM's wheel on PyPI
// carries. It includes the chat models of the vendors whose programs mcpdeck lists, and
// of each what the table reads.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
)

const table = "litellm/model_prices_and_context_window_backup.json"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: pricegen VERSION")
	}
	if err := generate(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func generate(version string) error {
	dir, err := os.MkdirTemp("", "pricegen-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for such
	if out, err := exec.Command("pip", "download", "--no-deps", "--only-binary=:all:", "--dest", dir, "litellm=="+version).CombinedOutput(); err != nil {
		return fmt.Errorf("pip download: %w\n%s", err, out)
	}
	wheels, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
	if len(wheels) != 1 {
		return errors.New("pip brought no wheel")
	}
	wheel, err := zip.OpenReader(wheels[0])
	if err != nil {
		return err
	}
	defer func() { _ = wheel.Close() }() // it was only read
	all, err := fs.ReadFile(wheel, table)
	if err != nil {
		return err
	}
	license, err := fs.ReadFile(wheel, "litellm-"+version+".dist-info/licenses/LICENSE")
	if err != nil {
		return err
	}
	if err := os.WriteFile("LICENSE.litellm", license, 0o644); err != nil {
		return err
	}
	source := fmt.Sprintf("LiteLLM %s, taken on %s", version, time.Now().UTC().Format(time.DateOnly))
	out, err := trimmed(all, source)
	if err != nil {
		return err
	}
	return os.WriteFile("prices.json", out, 0o644)
}

// trimmed is the table with what is used of it, a model a line.
func trimmed(all []byte, source string) ([]byte, error) {
	var models map[string]map[string]json.RawMessage
	if err := json.Unmarshal(all, &models); err != nil {
		return nil, err
	}
	kept := map[string][]byte{}
	var vendors []string
	for _, a := range agents.All() {
		if a.Usage != nil && a.Usage.Vendor != "" {
			vendors = append(vendors, a.Usage.Vendor)
		}
	}
	for name, m := range models {
		if !wanted(name, m, vendors) {
			continue
		}
		maps.DeleteFunc(m, func(member string, _ json.RawMessage) bool { return !usage.Used(member) })
		line, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		short := name
		for _, v := range vendors {
			short = strings.TrimPrefix(short, v+"/")
		}
		if _, had := kept[short]; !had || short != name { // the vendor's own service wins
			kept[short] = line
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"source\": %q,\n\"license\": \"MIT, Copyright (c) 2023 Berri AI; see LICENSE.litellm\"", source)
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		fmt.Fprintf(&b, ",\n%q: %s", name, kept[name])
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

func wanted(name string, m map[string]json.RawMessage, vendors []string) bool {
	word := func(member string) (s string) {
		_ = json.Unmarshal(m[member], &s) // "" is not wanted
		return s
	}
	if mode := word("mode"); mode != "chat" && mode != "responses" {
		return false
	}
	if cost := string(m["input_cost_per_token"]); cost == "" || cost == "0" || cost == "0.0" {
		return false
	}
	for _, other := range []string{"audio", "tts", "lyria", "robotics", "ft:", "search", "omni", "image", "learnlm", "gemma", "container"} {
		if strings.Contains(name, other) {
			return false
		}
	}
	by := word("litellm_provider")
	return slices.ContainsFunc(vendors, func(v string) bool {
		return by == v || by == "vertex_ai-language-models" && strings.HasPrefix(name, v+"-")
	})
}
