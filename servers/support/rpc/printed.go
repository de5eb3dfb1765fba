package rpc

import (
	"bytes"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// loggedFirst is how long an answer may come after the server has printed it for people: what
// it logs ends no request.
const loggedFirst = time.Second

// printed puts an object together that is printed over several lines, the first of which is
// an opening brace alone. It keeps its outline only, however long it is.
type printed struct {
	outline Outline
	begun   bool
}

// take takes the next line that is no message. When it ends an answer, it returns the id of
// the request that this answers.
func (p *printed) take(line []byte) (id string) {
	if string(bytes.TrimRight(line, " \t\r")) == "{" {
		*p = printed{begun: true}
	}
	if !p.begun {
		return ""
	}
	_, _ = p.outline.Write(line)         // never fails
	_, _ = p.outline.Write([]byte{'\n'}) // a text does not go on behind it
	switch {
	case p.outline.text, p.outline.broken:
		*p = printed{}
	case p.outline.depth == 0:
		answer, version := p.outline.answers()
		if version {
			id = answer
		}
		*p = printed{}
	}
	return id
}

// answers is the id of the request that the object answers; "" if it is no answer, or does not
// say to what: keys may be doubled, but there is one id. version reports whether it says that
// it is a message of JSON-RPC.
func (o *Outline) answers() (id string, version bool) {
	all, known := o.all()
	parts, _, err := rawjson.Split(all)
	if !known || err != nil {
		return "", false
	}
	answer := bytes.HasPrefix(o.member, []byte(`"result":`)) || bytes.HasPrefix(o.member, []byte(`"error":`)) // cut off
	for _, p := range parts {
		switch p.Key {
		case "method":
			return "", false
		case "jsonrpc":
			version = string(all[p.From:p.To]) == `"2.0"`
		case "result", "error":
			answer = true
		case "id":
			text, err := rawjson.Text(all[p.From:p.To])
			if err != nil || id != "" && id != text { // of nobody's request, or of nobody knows whose
				return "", false
			}
			id = text
		}
	}
	if !answer {
		return "", version
	}
	return id, version
}
