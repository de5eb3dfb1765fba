package snapshot

import "strings"

// NoPrompt is the name of a session in which nothing was asked, and Unseen that of one that
// works before its program has recorded what was asked.
const (
	NoPrompt = "no prompt yet"
	Unseen   = "prompt unknown"
)

// Name returns what the session is called, on one line: the name that the user gave it, else
// the first line of what the user last asked, else the title that its program made of the
// conversation, else its last tool with its subject. Its folder or ID are never its name.
func (s *Session) Name() string {
	prompt := ""
	if s.Record != nil {
		prompt = firstLine(s.Record.Prompt)
	}
	title := firstLine(s.Title)
	switch tool := firstLine(strings.TrimSpace(s.LastTool + " " + firstLine(s.LastSubject))); {
	case title != "" && (s.Named || prompt == ""):
		return title
	case prompt != "":
		return prompt
	case tool != "":
		return tool
	case s.State == Working || s.State.Waits():
		return Unseen
	}
	return NoPrompt
}

// firstLine returns the first line of a text that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
