// Package contract reads the output of any version of the stamp CLI into one
// model; nothing else looks at its JSON.
package contract

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// Context is one CLI output: the index and the bundles of every folder it names.
type Context struct {
	// Dir is the folder it was read from, Project the absolute path of the
	// project it describes, "" when unknown.
	Dir     string
	Project string
	// Tool is the index's own word, such as "logicstamp-context@0.8.8".
	Tool      string
	CreatedAt time.Time
	RawIndex  json.RawMessage
	Summary   Summary
	// Folders are in index order.
	Folders  []*Folder
	Warnings []problem.Warning
	// Stamp is for a reader that caches contexts: what it knew of the files.
	Stamp string

	visible map[string]Visible
}

// Summary is what the index says about the whole.
type Summary struct {
	Components, Bundles, Folders int
	Tokens                       int
	// Estimates are per model where an index has them.
	Estimates map[string]int
}

// Folder is one folder of the index with its bundles in file order.
type Folder struct {
	// Path is "." or a slash path below the project.
	Path string
	// File is the folder file's slash path below the context.
	File       string
	Declared   int
	Components []string
	IsRoot     bool
	RootLabel  string
	Tokens     int
	HasTokens  bool
	// Toon holds the text of a file in the toon format, whose bundles are not
	// read.
	Toon    string
	Bundles []*Bundle
}

// Analysis are the options that a context is made with.
type Analysis struct {
	Profile      string `json:"profile,omitempty"`
	Mode         string `json:"mode,omitempty"`
	Depth        int    `json:"depth"`
	IncludeStyle bool   `json:"includeStyle"`
}

// CompareFolders orders folders by their path, the top first.
func CompareFolders(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == ".":
		return -1
	case b == ".":
		return 1
	}
	return strings.Compare(a, b)
}

// Bundle is a root's contract with those reached from it.
type Bundle struct {
	// Root is the path of its root component; Folder and File say where it was
	// found.
	Root     string
	Folder   string
	File     string
	Position string
	Depth    int
	Hash     string
	// Raw is the bundle as the CLI wrote it, without white space.
	Raw     json.RawMessage
	Nodes   []*Node
	Edges   [][2]string
	Missing []Missing
	// Damaged is set when no node is the root.
	Damaged bool
	// Tokens is the length of Raw, without what changes at every run, divided by
	// four and rounded up.
	Tokens int
}

// Text is what of a source's text stands beside its contract.
type Text struct{ ID, Header, Code string }

// Texts are those of the bundle's nodes.
func (b *Bundle) Texts() []Text {
	var in struct {
		Graph struct {
			Nodes []struct{ CodeHeader, Code string }
		}
	}
	if json.Unmarshal(b.Raw, &in) != nil {
		return nil // it was read before
	}
	var out []Text
	for i, n := range in.Graph.Nodes[:min(len(in.Graph.Nodes), len(b.Nodes))] {
		out = append(out, Text{b.Nodes[i].ID, n.CodeHeader, n.Code})
	}
	return out
}

// RootNode is the node of the bundle's root, nil when damaged.
func (b *Bundle) RootNode() *Node {
	for _, n := range b.Nodes {
		if n.ID == b.Root {
			return n
		}
	}
	return nil
}

// Missing is a dependency the CLI could not resolve.
type Missing struct {
	Name       string
	Referenced string
}

// Node is one contract inside a bundle.
type Node struct {
	// ID is the component's slash path below the project.
	ID       string
	Contract *Contract
}

// Visible is a contract as the context shows it, with the roots it is reached
// from.
type Visible struct {
	*Contract
	// Root tells that it has a bundle of its own.
	Root bool
	// Roots are the paths of the roots whose bundles contain it, in order.
	Roots []string
}

// Vocabulary is the pair of words a contract uses for its two halves.
type Vocabulary struct{ Composition, Interface string }

// Contract is one component's record, normalised for comparison: sets are
// sorted, empty members absent, types text.
type Contract struct {
	ID          string
	Kind        string
	Description string
	Words       Vocabulary
	// Bare is set for a contract with neither composition nor interface; it is
	// compared by its hashes alone.
	Bare                                             bool
	Variables, Hooks, Components, Functions, Imports []string
	Language                                         []string
	Props, Emits                                     map[string]Type
	State                                            map[string]Type
	API, NextJS, Style                               string
	Exports                                          Exports
	SemanticHash                                     string
	FileHash                                         string
}

// Type is the type of a prop, an event or a state variable as text.
type Type struct {
	Text     string
	Optional bool
}

// Exports is what a component gives away: unknown, the default, names, or both.
type Exports struct {
	Default bool
	// Unnamed is set when names exist that the CLI did not tell.
	Unnamed bool
	Names   []string
	// Raw is the CLI's own value, compact; "" when absent.
	Raw string
}

// Known reports whether the command said anything.
func (e Exports) Known() bool { return e.Default || e.Unnamed || len(e.Names) > 0 }

// Equal compares what is exported, not how it was written.
func (e Exports) Equal(o Exports) bool {
	return e.Default == o.Default && e.Unnamed == o.Unnamed && slices.Equal(e.Names, o.Names)
}

// Name is the file name of a component without its extension.
func Name(id string) string {
	name := path.Base(id)
	return strings.TrimSuffix(name, path.Ext(name))
}

// RootNames are the names of a folder's roots, those that would read the same
// with their extension.
func RootNames(roots []string) map[string]string {
	count := map[string]int{}
	for _, r := range roots {
		count[Name(r)]++
	}
	out := map[string]string{}
	for _, r := range roots {
		out[r] = Name(r)
		if count[Name(r)] > 1 {
			out[r] = path.Base(r)
		}
	}
	return out
}

// Visible maps every path that occurs as a node to its contract; a root's own
// bundle wins over copies elsewhere.
func (c *Context) Visible() map[string]Visible {
	return c.visible
}

// Bundles are all bundles by root path; of two with one root the first counts.
func (c *Context) Bundles() map[string]*Bundle {
	out := map[string]*Bundle{}
	for _, f := range c.Folders {
		for _, b := range f.Bundles {
			if _, ok := out[b.Root]; !ok {
				out[b.Root] = b
			}
		}
	}
	return out
}

// Files are the index and the files it names.
func (c *Context) Files() []string {
	names := []string{IndexFile}
	for _, f := range c.Folders {
		names = append(names, f.File)
	}
	return names
}

// HasStyle reports whether any contract carries style data.
func (c *Context) HasStyle() bool {
	for _, v := range c.visible {
		if v.Style != "" {
			return true
		}
	}
	return false
}

// Depth is the largest depth of the bundles, 0 without bundles.
func (c *Context) Depth() int {
	depth := 0
	for _, f := range c.Folders {
		for _, b := range f.Bundles {
			depth = max(depth, b.Depth)
		}
	}
	return depth
}

// index fills the map of visible contracts.
func (c *Context) index() {
	c.visible = map[string]Visible{}
	for _, f := range c.Folders {
		for _, b := range f.Bundles {
			for _, n := range b.Nodes {
				v, seen := c.visible[n.ID]
				if !seen || n.ID == b.Root {
					v.Contract = n.Contract
				}
				v.Root = v.Root || n.ID == b.Root
				if len(v.Roots) == 0 || v.Roots[len(v.Roots)-1] != b.Root {
					v.Roots = append(v.Roots, b.Root)
				}
				c.visible[n.ID] = v
			}
		}
	}
}

// Empty is the context of a project without components.
func Empty(project, tool string) *Context {
	c := &Context{Project: project, Tool: tool}
	c.index()
	return c
}
