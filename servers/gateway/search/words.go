package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// stemmer takes texts apart into the stems of their words.
type stemmer struct {
	known map[string]string   // stems by word; "" for one that says nothing
	same  map[string][]string // stems by one that means the same
}

func newStemmer() stemmer {
	s := stemmer{known: map[string]string{}, same: map[string][]string{}}
	for w := range strings.FieldsSeq(idle) {
		s.known[w] = ""
	}
	for line := range strings.Lines(alike) {
		group := s.stems(line)
		for _, w := range group {
			s.same[w] = append(s.same[w], slices.DeleteFunc(slices.Clone(group), func(other string) bool { return other == w })...)
		}
	}
	return s
}

// stems are those of a text. The parts of names in camelCase, snake_case and kebab-case
// are words. It remembers: one goroutine at a time may use it.
func (s stemmer) stems(text string) (out []string) {
	for _, w := range split(text) {
		stem, known := s.known[w]
		if !known {
			stem = english.Stem(w, true)
			s.known[w] = stem
		}
		if stem != "" {
			out = append(out, stem)
		}
	}
	return out
}

// meant is a stem to look for, and what it counts of what was said.
type meant struct {
	stem  string
	share float64
}

// terms are the words of a query, each with those that mean the same.
func (s stemmer) terms(query string) (out [][]meant) {
	var said []string
	for _, w := range split(query) {
		stem, known := s.known[w]
		if !known {
			stem = english.Stem(w, true)
		}
		if stem == "" || slices.Contains(said, stem) {
			continue
		}
		said = append(said, stem)
		term := []meant{{stem, 1}}
		for _, other := range s.same[stem] {
			term = append(term, meant{other, likeness})
		}
		out = append(out, term)
	}
	return out
}

// split takes a text apart into words of two characters and more, in lower case.
func split(text string) (out []string) {
	rs := []rune(text)
	var word []rune
	end := func() {
		if len(word) > 1 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	for i, r := range rs {
		if r == '\'' {
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && len(word) > 0 {
			last := word[len(word)-1]
			if unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(rs) && unicode.IsLower(rs[i+1]) {
				end()
			}
		}
		word = append(word, r)
	}
	end()
	return out
}

// idle are words that say nothing of what a tool does.
const idle = `a an the of to in is are be was were do does did done has have had can could will would should may might must
it its i me my we our us you your he she they this that these those what which who whom whose where when how and or but if for from by
with without on at as into onto about not no some any there here then than so such just please want need let one ones etc`

// alike has a line for each set of words that are used for the same thing in software
// of all kinds.
const alike = `create make add new
delete remove drop erase destroy clear
delete forget
get read fetch show view retrieve see look display
list show all enumerate every
update edit change modify replace alter
write save store put
find search query lookup locate
move rename
copy duplicate clone
folder directory dir
picture image photo
picture screenshot snapshot capture
click press tap push
press key
type enter input fill
choose select pick option
dropdown select combobox
go open navigate visit
load open read
run execute evaluate
javascript js script
repo repository
pr pull
docs documentation doc manual guide
bug issue ticket error
error exception crash failure problem fault
person people user member
user account developer
login authenticate sign whoami
identity whoami
url link address uri
link relation connection relationship
link connect
page site website web webpage
browser page tab
history log
comment remark note
close finish complete end stop
stop cancel abort quit
start begin launch
upload attach
download fetch
convert transform turn
video clip movie
near nearby local
restaurant shop business
place location map
alert dialog popup
diff difference compare change
monitor watch track observe
paper article publication
academic scientific research
remember memory store
know knowledge memory
fact observation
dependency package library
size large big bytes length
simulate emulate
phone mobile device
slow throttle
speed performance fast
similar related like
summary summarize
status state progress
date time clock day
timezone zone
column property field
form field
row record entry
table database
rights permission allowed access
accessibility a11y
message chat
schedule cron interval
wait until
tag label
number sum
variable environment env
cause reason analyze
text content
window viewport
sample example
`
