package codex

import (
	"path"
	"regexp"
	"strings"
)

// unwrap returns what a command does and by what: Codex quotes what a model writes as an
// argument of a shell. The program is "a command" if no shell is in between. It is sure if the shell is the
// system's and sets nothing that is not known.
func unwrap(command string) (program, script string, sure bool) {
	words, ok := split(command)
	if ok && len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		switch dir, shell := path.Split(words[0]); shell {
		case "sh", "bash", "zsh":
			system := dir == "/bin/" || dir == "/usr/bin/"
			return shell, words[2], system && (shell == "bash" || shell == "sh" && words[1] == "-c")
		}
	}
	return "a command", command, false
}

var escaped = regexp.MustCompile("^\"((?:[^\"\\\\$`!]|\\\\[\"\\\\$`])*)\"")

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
		case c == '\'':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+end])
			in, i = true, i+1+end
		case c == '"':
			m := escaped.FindStringSubmatch(line[i:])
			if m == nil {
				return nil, false
			}
			word.WriteString(strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(m[1]))
			in, i = true, i+len(m[0])-1
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
