package claudehooks

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Does is what a tool does with its input.
type Does int

// A tool runs a command, edits a file, or does something else.
const (
	Other Does = iota
	Command
	Edit
)

// Describe fills in what a tool is about to do in a folder.
func Describe(p *ask.Prompt, does Does, input rawjson.Object, folder string) {
	p.Words = input.Str("description")
	switch does {
	case Command:
		p.Command = input.Str("command")
		p.Marks = approvals.Marks(p.Command, folder)
	case Edit:
		if p.Path = input.Str("file_path"); p.Path != "" {
			p.Diff, p.Marks = preview(p.Path, input.JSON(), folder)
		} else {
			p.Path = input.Str("notebook_path")
		}
		_, err := os.Lstat(p.Path)
		p.Does = &ask.Does{Files: []ask.ChangedFile{{Path: p.Path, Make: errors.Is(err, fs.ErrNotExist)}}, Partial: p.Path == ""}
	case Other:
		p.Does = other(p.Tool, input)
	}
	switch {
	case p.Command != "": // what else decides how it runs: in the background, without a sandbox
		if more := input.Without("command", "description"); len(more) > 0 {
			p.Args = largestFirst(more)
		}
	case p.Diff == "":
		p.Args = largestFirst(input)
	}
}

// other is what a tool does that neither runs a command nor edits a file; nil: it is not known.
func other(tool string, input rawjson.Object) *ask.Does {
	if of, is := strings.CutPrefix(tool, "mcp__"); is {
		if server, name, both := strings.Cut(of, "__"); both {
			return &ask.Does{Server: server, Tool: name, Args: input.JSON()}
		}
	}
	if page := input.Str("url"); page != "" && (tool == "WebFetch" || tool == "web_fetch") {
		return &ask.Does{Page: page}
	}
	return nil
}

// largestFirst returns an object with its longest values first.
func largestFirst(o rawjson.Object) json.RawMessage {
	sorted := slices.Clone(o)
	slices.SortStableFunc(sorted, func(a, b rawjson.Member) int { return cmp.Compare(len(b.Value), len(a.Value)) })
	return sorted.JSON()
}

// maxFile is the longest file that is compared, in bytes.
const maxFile = 1 << 20

// preview returns the edit of a file that a tool is about to make in a folder as a unified
// diff, "" if it cannot be told, and what is noticed about it. input is the tool's.
func preview(path string, input json.RawMessage, folder string) (diff string, noticed []string) {
	if !file.Within(folder, path) {
		return "", []string{approvals.Outside}
	}
	root, err := file.Root(folder)
	if err != nil {
		return "", nil
	}
	defer root.Close()
	name, _ := filepath.Rel(folder, path) // it is within
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return "", []string{"not a plain file"}
	}
	before, err := file.Inside(root, name, maxFile)
	fresh := err != nil && os.IsNotExist(err)
	if err != nil && !fresh {
		return "", []string{"the file cannot be compared"}
	}
	text := strings.ReplaceAll(string(before), "\r\n", "\n") // as the programs read and edit it
	after, ok := edited(input, text)
	if !ok {
		return "", []string{"the file has changed since"}
	}
	if fresh {
		noticed = append(noticed, "new file")
	}
	return approvals.Unified(name, text, after), noticed
}

// edited applies a tool's edit to a file's text: the whole of it, one change or several. It
// returns false if the edit does not fit.
func edited(input json.RawMessage, text string) (string, bool) {
	type change struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	var in struct {
		change
		Content *string  `json:"content"`
		Edits   []change `json:"edits"`
	}
	if json.Unmarshal(input, &in) != nil {
		return "", false
	}
	switch {
	case in.Content != nil:
		return *in.Content, true
	case in.Edits == nil:
		in.Edits = []change{in.change}
	}
	for _, c := range in.Edits {
		switch {
		case c.Old == "" && text == "":
			text = c.New
		case c.Old == "" || !strings.Contains(text, c.Old):
			return "", false
		case c.All:
			text = strings.ReplaceAll(text, c.Old, c.New)
		default:
			text = strings.Replace(text, c.Old, c.New, 1)
		}
	}
	return text, true
}
