package widget

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
)

// jsonMost is how many rows of a value are drawn; nobody reads more.
const jsonMost = 4000

// JSON draws a JSON value indented and coloured in rows of at most w cells; its objects
// and arrays can be folded. Strings are shown as text: their line breaks break the row.
// Several values may follow one another. What is no JSON is shown as it is.
func JSON(th *theme.Theme, raw []byte, w int) Text {
	p := &jsonPrinter{th: th, w: max(w, 8), dec: json.NewDecoder(bytes.NewReader(raw))}
	p.dec.UseNumber()
	err := p.value(0, "")
	for err == nil && p.dec.More() {
		err = p.value(0, "")
	}
	if err == nil && len(bytes.TrimSpace(raw[p.dec.InputOffset():])) == 0 || errors.Is(err, errEnough) {
		return p.Text
	}
	var t Text
	for _, l := range Wrap(sanitize.Shown(string(raw)), p.w) {
		if len(t.Rows) == jsonMost {
			break
		}
		t.Add(th.Text.Render(l))
	}
	return t
}

var errEnough = errors.New("enough rows")

type jsonPrinter struct {
	Text
	th  *theme.Theme
	w   int
	dec *json.Decoder
}

func (p *jsonPrinter) add(depth int, styled string) error {
	if len(p.Rows) >= jsonMost {
		p.Add(p.th.Faint.Render("… and more; copying takes all"))
		return errEnough
	}
	p.Add(blank(indent(depth, p.w)) + styled)
	return nil
}

// indent is two cells a level, until a third of the row is gone.
func indent(depth, w int) int { return min(2*depth, w/3) }

// value draws the next value behind a key (drawn, or "").
func (p *jsonPrinter) value(depth int, key string) error {
	tok, err := p.dec.Token()
	if err != nil {
		return err
	}
	th := p.th
	switch v := tok.(type) {
	case json.Delim:
		return p.nested(depth, key, v)
	case string:
		return p.text(depth, key, v)
	case json.Number:
		return p.add(depth, key+th.Special.Render(v.String()))
	case bool:
		return p.add(depth, key+th.Warn.Render(strconv.FormatBool(v)))
	}
	return p.add(depth, key+th.Faint.Render("null"))
}

func (p *jsonPrinter) nested(depth int, key string, open json.Delim) error {
	closing, thing := "]", "item"
	if open == '{' {
		closing, thing = "}", "key"
	}
	punct := p.th.Muted
	if !p.dec.More() {
		if _, err := p.dec.Token(); err != nil {
			return err
		}
		return p.add(depth, key+punct.Render(open.String()+closing))
	}
	if err := p.add(depth, key+punct.Render(open.String())); err != nil {
		return err
	}
	at := len(p.Folds)
	p.Folds = append(p.Folds, Foldable{From: len(p.Rows) - 1})
	n, err := p.members(depth, open)
	count := humanize.Count(n, thing)
	if err != nil {
		count += " and more"
	} else {
		err = p.add(depth, punct.Render(closing))
	}
	f := &p.Folds[at]
	f.Row = blank(indent(depth, p.w)) + key + punct.Render(open.String()+"… "+count+closing)
	if f.To = len(p.Rows) - 1; err != nil {
		f.To-- // the last row tells that there is more
	}
	return err
}

// members draws what is between the brackets of a value and counts it.
func (p *jsonPrinter) members(depth int, open json.Delim) (n int, err error) {
	for p.dec.More() {
		name := ""
		n++
		if open == '{' {
			tok, err := p.dec.Token()
			if err != nil {
				return n, err
			}
			k, _ := tok.(string)
			name = p.th.Accent.Render(Cut(sanitize.ShownLine(k), p.w/2)) + p.th.Muted.Render(": ")
		}
		if err := p.value(depth+1, name); err != nil {
			return n, err
		}
	}
	_, err = p.dec.Token()
	return n, err
}

// text draws a string: behind its key when it fits, else below it.
func (p *jsonPrinter) text(depth int, key, s string) error {
	th := p.th
	room := p.w - indent(depth, p.w)
	if line := sanitize.ShownLine(s); !strings.Contains(s, "\n") && Width(key)+Width(line)+2 <= room {
		return p.add(depth, key+Linked(th, th.Good, `"`+line+`"`))
	}
	if key != "" {
		if err := p.add(depth, key); err != nil {
			return err
		}
		depth++
		room = p.w - indent(depth, p.w)
	}
	for _, l := range Closed(Wrap(Linked(th, th.Good, sanitize.Shown(strings.TrimRight(s, "\n"))), room-2)) {
		if err := p.add(depth, th.Border.Render(th.Glyph.Frame.Left)+" "+l); err != nil {
			return err
		}
	}
	return nil
}

// Indent is a JSON value with line breaks and two spaces a level, for copying;
// what is no JSON stays as it is.
func Indent(raw []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}
