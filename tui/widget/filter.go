package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Match returns how well text fits a filter: 0 not at all, more is better. All
// words of the filter must be found, each as it is or, failing that, as letters
// in order. Capitals matter only when the filter has some.
func Match(filter, text string) int {
	if strings.IndexFunc(filter, unicode.IsUpper) < 0 {
		text = strings.ToLower(text)
	}
	score := 1
	for word := range strings.FieldsSeq(filter) {
		s := match(word, text)
		if s == 0 {
			return 0
		}
		score += s
	}
	return score
}

func match(word, text string) int {
	if i := strings.Index(text, word); i >= 0 {
		s := 100
		if i == 0 || !isWord(text[i-1:i]) {
			s += 50
		}
		return s
	}
	// Letters in order count when the first begins a word: fewer surprises.
	s, run, before := 1, 0, ' '
	for _, r := range text {
		want, w := utf8.DecodeRuneInString(word)
		start := s == 1 && run == 0 && isWord(string(before))
		before = r
		if r != want || start {
			run = 0
			continue
		}
		run++
		s += run
		if word = word[w:]; word == "" {
			return s
		}
	}
	return 0
}

// Mark draws text with the words of a filter in it marked.
func Mark(th *theme.Theme, base theme.Style, filter, text string) string {
	words := strings.Fields(filter)
	if len(words) == 0 {
		return base.Render(text)
	}
	hay := text
	if strings.IndexFunc(filter, unicode.IsUpper) < 0 {
		hay = strings.ToLower(text)
	}
	if len(hay) != len(text) { // lower case of another length: offsets would lie
		return base.Render(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		at, n := -1, 0
		for _, w := range words {
			if j := strings.Index(hay[i:], w); j >= 0 && (at < 0 || j < at) {
				at, n = j, len(w)
			}
		}
		if at < 0 {
			b.WriteString(base.Render(text[i:]))
			break
		}
		b.WriteString(base.Render(text[i : i+at]))
		b.WriteString(th.Match.Render(text[i+at : i+at+n]))
		i += at + n
	}
	return b.String()
}
