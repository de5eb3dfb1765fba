package codex

import (
	"path"
	"strings"
)

// unwrap returns what a command does and by what: Codex quotes what a model writes as an
// argument of a shell. The program is "a command" if no shell is in between.
func unwrap(command string) (program, script string) {
	words, ok := split(command)
	if ok && len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		switch shell := path.Base(words[0]); shell {
		case "sh", "bash", "zsh":
			return shell, words[2]
		}
	}
	return "a command", command
}

// split takes a command line apart that consists of words in single quotes, double quotes
// without substitutions, and plain words. It returns false for any other.
func split(line string) (words []string, ok bool) {
	var word strings.Builder
	in := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		case c == '\'' || c == '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, false
			}
			text := line[i+1 : i+1+end]
			if c == '"' && strings.ContainsAny(text, "$`\\!") {
				return nil, false
			}
			word.WriteString(text)
			in, i = true, i+1+end
		case strings.IndexByte("\\$`*?[]{}()<>|&;#~\t\r\n!", c) >= 0:
			return nil, false
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words, true
}
