package logicstamp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// stampWith runs a real command and gives the folder with its output.
func stampWith(t *testing.T, cli, project string, args ...string) string {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(cli, append([]string{"context", "--skip-gitignore", "--quiet", "--out", out}, args...)...)
	cmd.Dir = project
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cli, err, text)
	}
	return out
}

// rewrite changes every file of a context, given as decoded JSON.
func rewrite(t *testing.T, dir string, change func(name string, v any) any) string {
	t.Helper()
	out := t.TempDir()
	for name := range treeState(t, dir) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, name)
		var v any
		if json.Unmarshal(data, &v) == nil && strings.HasSuffix(name, ".json") {
			if stamptest.WriteJSON(filepath.Join(out, rel), change(rel, v)) != 0 {
				t.Fatal("cannot write")
			}
		}
	}
	return out
}

// each calls f for every JSON object inside v.
func each(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, m := range v {
			each(m, f)
		}
	case []any:
		for _, m := range v {
			each(m, f)
		}
	}
}

// older turns a context of 0.8.8 into what 0.4.1 writes, and with bugs into
// what 0.3.0 writes: the old words, other semantic hashes, and for the latter
// absolute contract ids and no edges.
func older(t *testing.T, dir, project string, bugs bool) string {
	t.Helper()
	return rewrite(t, dir, func(name string, v any) any {
		each(v, func(m map[string]any) {
			if m["type"] == "UIFContract" {
				m["version"], m["logicSignature"] = m["composition"], m["interface"]
				delete(m, "composition")
				delete(m, "interface")
				m["schemaVersion"], m["semanticHash"] = "0.3", "uif:old"+m["semanticHash"].(string)[7:]
				if bugs {
					m["entryPathAbs"], m["os"] = filepath.Join(project, m["entryId"].(string)), "linux"
					m["entryId"] = m["entryPathAbs"]
				}
			}
			if _, ok := m["edges"]; ok && bugs {
				m["edges"] = []any{}
			}
			if _, ok := m["bundleHash"]; ok {
				m["bundleHash"] = "uifb:old"
			}
			if m["type"] == "LogicStampIndex" {
				m["meta"] = map[string]any{"source": "logicstamp-context@0.4.1"}
				if bugs {
					m["schemaVersion"], m["projectRootResolved"], m["meta"] = "0.1", project, map[string]any{"source": "logicstamp-context@0.3.0"}
				}
			}
		})
		return v
	})
}

// as writes the folder files of a context in another format.
func as(t *testing.T, dir, format string) string {
	t.Helper()
	out := rewrite(t, dir, func(_ string, v any) any { return v })
	for name := range treeState(t, out) {
		if strings.HasSuffix(name, "context_main.json") {
			continue
		}
		var bundles []json.RawMessage
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &bundles)
		}
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		for _, b := range bundles {
			if format == "pretty" {
				text.WriteString("\n# Bundle 1/1: x\n")
				_ = json.Indent(&text, b, "", "  ")
			} else {
				_ = json.Compact(&text, b)
			}
			text.WriteByte('\n')
		}
		if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Contexts of any two versions and formats of one small tree compare as equal.
// Those of 0.1.1 and 0.8.8 are made by the real commands; those between are made
// from the newest by what is known to differ.
func TestVersionsOfOneTreeAreEqual(t *testing.T) {
	t.Parallel()
	newest, oldest := stamptest.CLI(t, stampcli.Wanted), stamptest.CLI(t, "0.1.1")
	project := stamptest.Shop(t)
	dirs := map[string]string{
		"0.8.8": stampWith(t, newest, project, "--profile", "llm-chat", "--include-code", "none"),
		"0.1.1": stampWith(t, oldest, project, "--profile", "none", "--include-code", "none", "--depth", "2"),
	}
	dirs["0.4.1"] = older(t, dirs["0.8.8"], project, false)
	dirs["0.3.0"] = older(t, dirs["0.8.8"], project, true)
	dirs["0.8.8 ndjson"], dirs["0.8.8 pretty"] = as(t, dirs["0.8.8"], "ndjson"), as(t, dirs["0.8.8"], "pretty")
	dirs["0.3.0 pretty"] = as(t, dirs["0.3.0"], "pretty")
	sources, err := manifest.Take(t.Context(), project, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sides := map[string]compare.Side{}
	for name, dir := range dirs {
		c, err := contract.Read(dir, contract.Options{Project: project})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for id, v := range c.Visible() {
			if f, ok := sources.Find(id); !ok || f.FileHash != v.FileHash {
				t.Errorf("%s: %s has the file hash %s, the file %s", name, id, v.FileHash, f.FileHash)
			}
		}
		sides[name] = compare.Side{Context: c, Sources: sources}
	}
	for a, before := range sides {
		for b, after := range sides {
			if r := compare.Compare(before, after, compare.Options{}); r.Status != compare.Pass || len(r.ContractChanges) > 0 {
				t.Errorf("%s against %s: %+v", a, b, describeResult(r))
			}
		}
	}
}
