package search

import (
	"strings"
	"unicode"
)

// accents folds the accented letters of Latin text; others stay.
const accents = "àa áa âa ãa äa åa çc èe ée êe ëe ìi íi îi ïi ñn òo óo ôo õo öo øo ùu úu ûu üu ýy ÿy šs žz čc ćc đd ěe řr ůu ňn łl őo űu"

// Fold makes a word comparable: lower case, without accents.
func Fold(word string) string {
	return strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if r < 0x80 {
			return r
		}
		if at := strings.IndexRune(accents, r); at >= 0 {
			_, rest, _ := strings.Cut(accents[at:], string(r))
			return rune(rest[0])
		}
		return r
	}, word)
}
