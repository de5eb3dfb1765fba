package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestEveryLinkInAReadmeLeadsSomewhere follows the links between the documents, and
// to their pictures and parts.
func TestEveryLinkInAReadmeLeadsSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pages := documents(t)
	followed := 0
	for page, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			followed++
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			} else if part != "" && !hasPart(pages[to], part) {
				t.Errorf("%s: the link %s leads to a part that %s does not have", page, m[1], to)
			}
		}
	}
	if followed < 40 {
		t.Errorf("%d links were found: want all", followed)
	}
}

// documents are the pages of the repository, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			b, err := os.ReadFile(path)
			pages[path] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// hasPart reports whether a heading of the page has the anchor that forges give it.
func hasPart(page, anchor string) bool {
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		title := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		if anchor == strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return r
			}
			return -1
		}, title) {
			return true
		}
	}
	return false
}

// TestEveryCommandLineInAReadmeIsKnown reads the command lines that the documents show:
// their commands and flags are those of the program.
func TestEveryCommandLineInAReadmeIsKnown(t *testing.T) {
	inBlock, inText := regexp.MustCompile("(?m)^(?:you: +)?(mcpdeck .*)"), regexp.MustCompile("`(mcpdeck [^`]+)`")
	found := 0
	for page, text := range documents(t) {
		for i, part := range strings.Split(text, "```") {
			lines := inText
			if i%2 == 1 {
				lines = inBlock
			}
			for _, m := range lines.FindAllStringSubmatch(part, -1) {
				line, _, _ := strings.Cut(m[1], " #")
				if why := unknownIn(strings.Fields(line)[1:]); why != "" {
					t.Errorf("%s: %q: %s", page, line, why)
				}
				found++
			}
		}
	}
	if found < 60 {
		t.Errorf("%d command lines were found: want all", found)
	}
}

// unknownIn says which word of a command line is no command or flag; "" if all are.
func unknownIn(words []string) string {
	root := newRoot()
	root.InitDefaultHelpFlag()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	c.InitDefaultHelpFlag()
	if c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return rest[0] + " is no command"
	}
	for _, w := range rest {
		if w == "--" {
			break
		}
		if name, long := strings.CutPrefix(w, "--"); long {
			name, _, _ = strings.Cut(strings.TrimRight(name, ".,;:)"), "=")
			if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
				return c.CommandPath() + " has no flag --" + name
			}
		}
	}
	return ""
}
