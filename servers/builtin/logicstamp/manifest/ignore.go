package manifest

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ignoreFile is where a project lists sources the analysis must leave out. It
// is JSON; anything else in it is ignored, as the CLI does.
const ignoreFile = ".stampignore"

// ignoreRules are the patterns of a .stampignore file.
type ignoreRules struct {
	exact []string
	globs []ignoreGlob
}

type ignoreGlob struct {
	re       *regexp.Regexp
	nameOnly bool
}

// readIgnore reads the rules of a project; none where the file is missing or
// lies elsewhere.
func readIgnore(p *places) ignoreRules {
	var rules ignoreRules
	target, _, err := p.resolve(ignoreFile)
	if err != nil {
		return rules
	}
	at, ok := p.find(target)
	if !ok {
		return rules
	}
	data, err := at.read()
	if err != nil {
		return rules
	}
	var file struct {
		Ignore []string `json:"ignore"`
	}
	if json.Unmarshal(data, &file) != nil {
		return rules
	}
	for _, pattern := range file.Ignore {
		rules.add(strings.TrimPrefix(strings.ReplaceAll(pattern, `\`, "/"), "./"))
	}
	return rules
}

// add keeps one pattern. The translation is the CLI's own, with its quirk that
// "**" ends at the next slash but one: a manifest must list what the CLI reads,
// not what it should read.
func (r *ignoreRules) add(pattern string) {
	r.exact = append(r.exact, pattern)
	expr := strings.ReplaceAll(pattern, ".", `\.`)
	expr = strings.ReplaceAll(expr, "**", ".*")
	expr = strings.ReplaceAll(expr, "*", "[^/]*")
	expr = strings.ReplaceAll(expr, "?", ".")
	re, err := regexp.Compile("^" + expr + "$")
	if err != nil {
		return
	}
	r.globs = append(r.globs, ignoreGlob{re: re, nameOnly: !strings.Contains(pattern, "/")})
}

// match reports whether a file, by its slash path below the project, is left out.
func (r ignoreRules) match(rel string) bool {
	name := path.Base(rel)
	for _, exact := range r.exact {
		if exact == rel || (exact == name && !strings.Contains(exact, "/")) {
			return true
		}
	}
	return slices.ContainsFunc(r.globs, func(g ignoreGlob) bool { return g.re.MatchString(rel) || (g.nameOnly && g.re.MatchString(name)) })
}
