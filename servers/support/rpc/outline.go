package rpc

import (
	"bytes"
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Outline reads an object of any length, piece by piece, and keeps its members without
// the values that are long, or are no JSON: of a message over the limit, or one that cannot
// be decoded, to whom it belongs. The zero value is ready.
type Outline struct {
	depth  int
	text   bool // in a string
	escape bool // behind a backslash
	begun  bool
	broken bool // it is no object

	member []byte // the beginning of the member that is being read
	colon  int    // after its key; 0: not there yet
	long   bool   // member is not all of it
	out    []byte
}

const (
	keptMember  = 512     // bytes of a member that is kept
	keptOutline = 4 << 10 // of all of them
)

// Write takes the next piece. It never fails.
func (o *Outline) Write(piece []byte) (int, error) {
	for i := 0; i < len(piece) && !o.broken; i++ {
		if o.text && !o.escape { // most of what is long is text
			if n := bytes.IndexAny(piece[i:], `"\`); n > 0 {
				o.keep(piece[i : i+n])
				i += n
			} else if n < 0 {
				o.keep(piece[i:])
				break
			}
		}
		o.next(piece[i])
	}
	return len(piece), nil
}

func (o *Outline) next(b byte) {
	switch {
	case o.escape:
		o.escape = false
	case o.text:
		o.escape, o.text = b == '\\', b != '"'
	case b == ' ' || b == '\t' || b == '\r' || b == '\n':
		return
	case o.depth == 0:
		o.broken = o.begun || b != '{'
		o.begun, o.depth = true, 1
		return
	case b == '"':
		o.text = true
	case b == '{' || b == '[':
		o.depth++
	case b == '}' || b == ']':
		if o.depth--; o.depth == 0 {
			o.end()
			return
		}
	case o.depth == 1 && b == ',':
		o.end()
		return
	case o.depth == 1 && b == ':' && o.colon == 0:
		o.colon = len(o.member) + 1
	}
	o.keep([]byte{b})
}

func (o *Outline) keep(b []byte) {
	room := keptMember - len(o.member)
	o.long = o.long || len(b) > room
	o.member = append(o.member, b[:min(len(b), room)]...)
}

// end takes in the member that was read.
func (o *Outline) end() {
	if 0 < o.colon && o.colon <= len(o.member) && (o.long || !json.Valid(o.member[o.colon:])) {
		o.member = append(o.member[:o.colon], "null"...)
	}
	if len(o.member) > 0 && len(o.out)+len(o.member) < keptOutline {
		if len(o.out) > 0 {
			o.out = append(o.out, ',')
		}
		o.out = append(o.out, o.member...)
	}
	o.member, o.colon, o.long = o.member[:0], 0, false
}

// JSON is what was read: an object with null for each long value, or nil if it is not
// known to be one. What has not ended yet is left out.
func (o *Outline) JSON() json.RawMessage {
	all, known := o.all()
	if _, err := rawjson.SplitObject(all); err != nil || !known {
		return nil
	}
	return all
}

// all is JSON of an object whose keys may be doubled; known reports whether it is one.
func (o *Outline) all() (all []byte, known bool) {
	all = append(append([]byte{'{'}, o.out...), '}')
	return all, json.Valid(all) && !o.broken && o.begun
}
