package main

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guide is CONTRIBUTING.md, the map of the code.
const guide = "../../.github/CONTRIBUTING.md"

// roomOf is the box of the picture in which a package lies: the longest name that is
// the package's or above it. NAME stands for any.
func roomOf(pkg string, boxes map[string]place) (room string) {
	fits := func(box string) bool {
		parts, want := strings.Split(pkg, "/"), strings.Split(box, "/")
		if len(parts) < len(want) {
			return false
		}
		for i, w := range want {
			if w != parts[i] && w != "NAME" {
				return false
			}
		}
		return true
	}
	for box := range boxes {
		if fits(box) && len(box) > len(room) {
			room = box
		}
	}
	return room
}

// place is where a box stands: its line, and its column when there are two.
type place struct{ line, column int }

// TestThePictureOfTheRoomsIsTrue reads the picture in CONTRIBUTING.md: every package
// is in one of its boxes, and imports only what stands beside its box or below.
func TestThePictureOfTheRoomsIsTrue(t *testing.T) {
	b, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n## Rooms\n")
	_, rest, _ = strings.Cut(rest, "\n```text\n")
	picture, _, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no picture")
	}
	boxes := map[string]place{}
	for i, line := range strings.Split(picture, "\n") {
		columns := strings.Split(line, "│")
		for j, column := range columns {
			if len(columns) == 1 {
				j = -1 // the whole width
			}
			for _, word := range regexp.MustCompile(`(?:servers|cmd|tui)/[A-Za-z/-]+|\b(?:ask|tui|theme)\b`).FindAllString(column, -1) {
				if _, twice := boxes[word]; twice {
					t.Errorf("%s is in the picture twice", word)
				}
				boxes[word] = place{i, j}
			}
		}
	}
	used := map[string]bool{}
	for _, p := range packages(t) {
		room := roomOf(p.ImportPath, boxes)
		if room == "" {
			t.Errorf("%s is in no box of the picture", p.ImportPath)
			continue
		}
		used[room] = true
		from := boxes[room]
		for _, i := range p.Imports {
			name, ours := strings.CutPrefix(i, module)
			if !ours {
				continue
			}
			to := boxes[roomOf(name, boxes)]
			if to.line < from.line || from.column >= 0 && to.column >= 0 && to.column != from.column {
				t.Errorf("%s imports %s, which the picture has above it or on the other side", p.ImportPath, name)
			}
		}
	}
	for room := range boxes {
		if !used[room] {
			t.Errorf("the picture has %s, and no package is in it", room)
		}
	}
}

// TestRoomsInTheGuide holds the table of CONTRIBUTING.md to the comments of the
// packages. Those within a server, and the helpers of tests, are told where they are.
func TestRoomsInTheGuide(t *testing.T) {
	var b strings.Builder
	b.WriteString("| package | what |\n|---|---|\n")
	for _, p := range packages(t) {
		parts := strings.Split(p.ImportPath, "/")
		if len(parts) > 3 && parts[1] == "builtin" || strings.Contains(p.ImportPath, "/internal/") && parts[0] != "cmd" {
			continue
		}
		_, what, _ := strings.Cut(p.Doc, " ") // after "Package" or "Command"
		_, what, _ = strings.Cut(what, " ")
		b.WriteString("| `" + p.ImportPath + "` | " + strings.TrimPrefix(what, "is ") + " |\n")
	}
	written(t, guide, "-run Rooms -update -->\n", "<!-- end of rooms -->", b.String())
}

// TestTheGuideNamesWhatThereIs holds that every file and folder that CONTRIBUTING.md
// names exists, that each function it names with a file is in it, and each test it
// wants run is there.
func TestTheGuideNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, m := range regexp.MustCompile("`((?:\\.ci|\\.github|ask|cmd|servers|theme|tui)/[A-Za-z0-9_./-]+)`").FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "NAME") {
			continue // for any
		}
		if _, err := os.Stat(path.Join("../..", m[1])); err != nil {
			t.Errorf("it names %s, which is not there", m[1])
		}
	}
	named := regexp.MustCompile("`([A-Za-z.]+)` in\\s+`([a-z0-9_/]+\\.go)`").FindAllStringSubmatch(text, -1)
	if len(named) < 15 {
		t.Errorf("it names %d functions with their files", len(named))
	}
	for _, m := range named {
		if !slices.Contains(declared(sources(t).files[m[2]]), m[1]) {
			t.Errorf("it names %s in %s, which is not there", m[1], m[2])
		}
	}
	tests := testFunctions(t)
	for _, m := range regexp.MustCompile(`go test [^`+"`"+`\n]*-run '?([A-Za-z|]+)`).FindAllStringSubmatch(text, -1) {
		for _, run := range strings.Split(m[1], "|") {
			found := false
			for name := range tests {
				found = found || strings.Contains(name, run)
			}
			if !found {
				t.Errorf("it runs the test %s, which is not there", run)
			}
		}
	}
}

// declared are the functions, methods (as Type.Method) and types of a file.
func declared(f *ast.File) (names []string) {
	if f == nil {
		return nil
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			receiver := ""
			if d.Recv != nil {
				at := d.Recv.List[0].Type
				if p, ok := at.(*ast.StarExpr); ok {
					at = p.X
				}
				if id, ok := at.(*ast.Ident); ok {
					receiver = id.Name + "."
				}
			}
			names = append(names, receiver+d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}
