package pixelsrc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Answer is what a tool says.
type Answer struct {
	Blocks []Block
	// Failed marks an answer that says what went wrong and what to do.
	Failed bool
}

// length is how many bytes of text the answer has.
func (a *Answer) length() (n int) {
	for _, b := range a.Blocks {
		n += len(b.Text)
	}
	return n
}

// Block is a piece of an answer: a text, or a picture when Data is set.
type Block struct {
	Text string
	MIME string
	Data []byte
}

// say answers with texts.
func say(texts ...string) Answer {
	var a Answer
	for _, t := range texts {
		a.Blocks = append(a.Blocks, Block{Text: t})
	}
	return a
}

// fail answers with a sentence about what went wrong.
func fail(format string, args ...any) Answer {
	return Answer{Failed: true, Blocks: []Block{{Text: fmt.Sprintf(format, args...)}}}
}

// document answers with pretty-printed JSON, alone in its block.
func document(v any) Answer { return say(pretty(v)) }

func pretty(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("%q", "internal error: "+err.Error())
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// sentence is an error that an agent reads as it stands.
type sentence string

func (s sentence) Error() string { return string(s) }

func sentencef(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }
