package clippy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkName says what is wrong with a file name, with the same rules on every
// system so that a note written on one can be copied to another. The first rule
// that is broken is reported; the error is nil for a good name.
func checkName(name string, anyExtension bool) error {
	switch {
	case name == "":
		return say("filename is required")
	case !utf8.ValidString(name):
		return say("filename is invalid")
	case len(name) > 255:
		return say("filename is too long (max 255 bytes)")
	case strings.ContainsAny(name, `/\`):
		return say("filename must not contain path separators")
	case name == "." || name == "..":
		return say("filename is invalid")
	case strings.ContainsFunc(name, unseen):
		return say("filename contains control characters")
	}
	if i := strings.IndexAny(name, `<>:"|?*`); i >= 0 {
		return say("filename contains a character that is not allowed: %c", name[i])
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	switch {
	case first == '.':
		return say("hidden files are not allowed")
	case unicode.IsSpace(first) || unicode.IsSpace(last) || last == '.':
		return say("filename must not begin or end with a space or end with a dot")
	case isDevice(name):
		return say("filename is a reserved device name")
	case !anyExtension && !isText(name):
		return say("only text files are allowed; use an extension such as .txt, .md, .csv or .json, or none")
	}
	return nil
}

// unseen reports whether r is a control character or one that changes how the
// name reads without being visible.
func unseen(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f,
		r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x2064, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
		return true
	}
	return false
}

// isDevice reports whether Windows would open a device for the name, whatever its
// extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRightFunc(stem, unicode.IsSpace))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		port, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
}

// textEndings are those that every system opens as text or as a table. Which
// endings run something, nobody can list.
func textEndings() []string {
	return []string{
		"txt", "text", "md", "markdown", "rst", "adoc", "log", "csv", "tsv", "json", "jsonl", "ndjson", "yaml", "yml", "toml", "diff", "patch", "srt", "pxl",
	}
}

// isText reports whether a double click on the file shows it and does nothing else.
func isText(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	has := name[dot+1:]
	return dot < 0 || slices.ContainsFunc(textEndings(), func(ending string) bool {
		return len(has) == len(ending) && strings.EqualFold(has, ending) // of the same length: ASCII
	})
}
