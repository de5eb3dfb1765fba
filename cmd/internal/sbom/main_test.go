package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestTheModulesOfAProgram(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "example.com/main", Version: "v1.2.3+dirty"},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0"}},
		},
	}
	d := list(info)
	if got := d.Metadata.Component; got.URL != "pkg:golang/example.com/main@v1.2.3%2Bdirty" || got.Type != "application" {
		t.Errorf("the program is %+v", got)
	}
	var names []string
	for _, c := range d.Components {
		names = append(names, c.Name+" "+c.Version)
	}
	if got := strings.Join(names, ", "); got != "std go1.26.8, example.com/a v1.0.0, example.com/c v2.0.0" {
		t.Errorf("it has %s", got)
	}
	if h := d.Components[1].Hashes; len(h) != 1 || h[0].Content != "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" {
		t.Errorf("the hash is %v", h)
	}
}

func TestAProgramsListIsTheSameEachTime(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var lists []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(t.TempDir(), name)
		if err := write(own, path); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !json.Valid(b) || !strings.Contains(string(b), `"bomFormat": "CycloneDX"`) {
			t.Fatalf("%v: %s", err, b)
		}
		lists = append(lists, string(b))
	}
	if lists[0] != lists[1] {
		t.Errorf("%s\nand then\n%s", lists[0], lists[1])
	}
	if err := write(filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "list")); err == nil {
		t.Error("a program that is not there has a list")
	}
}
