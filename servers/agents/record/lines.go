package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Diff counts the lines that the hunks of a unified diff add and remove.
func Diff(file string, diff string) snapshot.ChangedFile {
	f := snapshot.ChangedFile{Path: file}
	if i := strings.Index("\n"+diff, "\n@@"); i >= 0 {
		f.Diff = diff[i:] // without the names of files
	}
	within := false // a hunk
	for line := range strings.Lines(diff) {
		switch within = within || strings.HasPrefix(line, "@@"); {
		case !within:
		case line[0] == '+':
			f.Added++
		case line[0] == '-':
			f.Removed++
		}
	}
	return f
}

// wholeNew begins the diff of a file that was added with all of its text.
const wholeNew = "@@ -0,0 "

// Whole is a file that was added, or removed, with all of its text.
func Whole(path, text string, added bool) snapshot.ChangedFile {
	f, n, sign, head := snapshot.ChangedFile{Path: path}, Count(text), "-", "@@ -1,%d +0,0 @@\n"
	if f.Removed = n; added {
		f.Added, f.Removed, sign, head = n, 0, "+", "@@ -0,0 +1,%d @@\n"
	}
	if n > 0 {
		text = strings.TrimSuffix(cut(text, mostDiff), "\n")
		f.Diff = fmt.Sprintf(head, n) + sign + strings.ReplaceAll(text, "\n", "\n"+sign)
	}
	return f
}

// Count counts the lines of a text; the last one need not be ended.
func Count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// mayWrite reports whether a command of a shell may change files: whether it is anything but
// programs that are known to read only.
func mayWrite(command string) bool {
	for _, harmless := range []string{"2>&1", ">/dev/null", "> /dev/null"} {
		command = strings.ReplaceAll(command, harmless, "")
	}
	if strings.ContainsAny(command, "><`") || strings.Contains(command, "$(") {
		return true
	}
	part := func(r rune) bool { return strings.ContainsRune("\n;|&", r) }
	return slices.ContainsFunc(strings.FieldsFunc(command, part), func(c string) bool {
		words := strings.Fields(c)
		return len(words) > 0 && !reads(words)
	})
}

// reads reports whether a program is known to read only.
func reads(words []string) bool {
	has := func(flags ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(flags, w) })
	}
	switch words[0] {
	case "cat", "cd", "cut", "date", "diff", "echo", "false", "grep", "head", "ls", "pwd", "rg", "sleep", "stat", "tail", "test", "tr", "true", "wc", "which":
		return true
	case "find":
		return !has("-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprintf", "-ok", "-okdir")
	case "sed":
		return len(words) > 2 && words[1] == "-n" && strings.Trim(words[2], `0123456789,$p'"`) == "" && !has("-i")
	case "git":
		return len(words) > 1 && slices.Contains([]string{"blame", "diff", "grep", "log", "ls-files", "show", "status"}, words[1]) && !strings.Contains(strings.Join(words, " "), "--output")
	case "go":
		return len(words) > 1 && slices.Contains([]string{"doc", "env", "list", "test", "version", "vet"}, words[1]) && !has("-w", "-u", "-c", "-o", "-update")
	}
	return false
}
