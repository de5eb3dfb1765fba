// Package json5 reads a stream of JSON5 objects into trees that keep key order,
// the difference between integer and float literals, and the place of every value.
package json5

import (
	"fmt"
	"math"
	"sort"
	"unicode/utf8"
)

// Kind says what a Node holds.
type Kind uint8

// The kinds of value JSON5 knows. A literal is an Int if it has neither a point
// nor an exponent, is not Infinity or NaN, and fits 64 bits.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Array
	Object
)

// String gives the kind as a user would name it in a message.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a fraction", "a string", "a list", "an object"}[k]
}

// Node is one value. Pos and End are byte offsets into the source text.
type Node struct {
	Kind  Kind
	Pos   int32
	End   int32
	num   uint64
	Text  string // of a String
	Items []Node // elements of an Array, values of an Object
	Keys  []Key  // of an Object, one for each of Items, in order of the text
}

// Key is one object key and its place.
type Key struct {
	Name string
	Pos  int32
}

// Truth is the value of a Bool.
func (n *Node) Truth() bool { return n.num != 0 }

// Int is the value of an Int.
func (n *Node) Int() int64 { return int64(n.num) }

// Float is the value of an Int or a Float.
func (n *Node) Float() float64 {
	if n.Kind == Int {
		return float64(int64(n.num))
	}
	return math.Float64frombits(n.num)
}

// Get finds the value of a key; the last one of duplicate keys. It is nil when the key is missing.
func (n *Node) Get(name string) *Node {
	for i := len(n.Keys) - 1; i >= 0; i-- {
		if n.Keys[i].Name == name {
			return &n.Items[i]
		}
	}
	return nil
}

// Error is a place where the text is not JSON5, with what stands there.
type Error struct {
	Pos     int32 // byte offset
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %s", e.Pos, e.Message) }

// Lines finds line and column of byte offsets.
type Lines struct {
	text   string
	starts []int32
}

// NewLines indexes the lines of a text; only "\n" ends a line.
func NewLines(text string) *Lines {
	l := &Lines{text: text, starts: make([]int32, 1, 64)}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			l.starts = append(l.starts, int32(i+1))
		}
	}
	return l
}

// At gives the line and the column, both from 1, of a byte offset. Columns count characters.
func (l *Lines) At(pos int32) (line, column int) {
	if int(pos) > len(l.text) {
		pos = int32(len(l.text))
	}
	line = l.Line(pos)
	start := l.starts[line-1]
	if start == 0 && len(l.text) >= 3 && l.text[:3] == "\uFEFF" && pos >= 3 {
		start = 3
	}
	return line, utf8.RuneCountInString(l.text[start:pos]) + 1
}

// Line gives the line of a byte offset alone. Its cost does not grow with the
// length of the line, so it is what to ask for each of many.
func (l *Lines) Line(pos int32) int {
	return sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > pos })
}
