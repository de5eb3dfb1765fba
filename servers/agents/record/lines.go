package record

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Diff counts the lines that the hunks of a unified diff add and remove.
func Diff(file string, diff string) snapshot.ChangedFile {
	f := snapshot.ChangedFile{Path: file}
	within := false // a hunk: what is before the first are names of files
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

// Count counts the lines of a text; the last one need not be ended.
func Count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// MayWrite reports whether a command of a shell may change files: whether it is anything but
// programs that are known to read only.
func MayWrite(command string) bool {
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
		return len(words) > 1 && slices.Contains([]string{"doc", "env", "list", "test", "vet"}, words[1]) && !has("-w", "-u", "-c", "-o", "-update")
	}
	return false
}
