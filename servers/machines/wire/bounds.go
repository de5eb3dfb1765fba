package wire

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// What a machine may say of itself, whatever it says. The longest frame bounds all of it; these bound what is made
// of it.
const (
	// MostDecks is how many decks may answer on a machine.
	MostDecks    = 64
	mostElements = 1000
	mostText     = 64 << 10
	mostName     = 100 // of what is shown in a line: a name, a version
	mostWhy      = 500
	mostNumber   = 1 << 53 // so that sums of them are numbers, too
)

// Bound makes of a reply one that is safe to count with, keep and print.
func (r *Reply) Bound() error {
	line(&r.Error, mostWhy)
	if w := r.Hello; w != nil {
		if len(w.Decks) > MostDecks {
			return fmt.Errorf("it names %s that may answer there; at most %d may", humanize.Count(len(w.Decks), "deck"), MostDecks)
		}
		line(&w.Program, mostName)
		boundDecks(w.Decks)
	}
	if it := r.Items; it != nil {
		it.Decks = it.Decks[:min(len(it.Decks), MostDecks)]
		boundDecks(it.Decks)
		boundAll(&it.Open)
		it.Ended = it.Ended[max(0, len(it.Ended)-mostElements):]
		for i := range it.Ended {
			line(&it.Ended[i].Said, mostWhy)
		}
		for i := range it.Open {
			o := &it.Open[i]
			o.At = o.At[:min(len(o.At), MostDecks)]
			for j := range o.At {
				line(&o.At[j], 2*mostName)
			}
			o.Handed = o.Handed.Bound()
		}
	}
	for _, o := range []*Outcome{r.Answer, r.Draft, r.Hand, r.Prompt} {
		if o != nil {
			line(&o.Why, mostWhy)
		}
	}
	for _, c := range []*Calls{r.Calls, r.Log} {
		if c != nil {
			c.bound()
		}
	}
	if r.Body != nil {
		r.Body.bound()
	}
	if r.Picture != nil && len(r.Picture.Data) > MostPicture {
		return errors.New("it sends a picture that is too large")
	}
	boundAll(&r.Sessions, &r.Answer, &r.Draft, &r.Hand, &r.Prompt, &r.Calls, &r.Log)
	return nil
}

// line makes of a text what fits into a line.
func line(text *string, most int) { *text = sanitize.Cut(sanitize.Line(*text), most) }

func boundDecks(all []Deck) {
	for i := range all {
		all[i].Bound()
	}
}

// Bound makes of a deck's name and fingerprint what fits into a line.
func (d *Deck) Bound() {
	line(&d.Name, mostName)
	line(&d.Fingerprint, mostName)
}

// boundAll is bound for all that the parts point to.
func boundAll(parts ...any) {
	for _, v := range parts {
		bound(reflect.ValueOf(v).Elem())
	}
}

// bound takes numbers below zero for zero and too large ones for the largest, and cuts lists and
// texts. Times are those that JSON can have.
func bound(v reflect.Value) {
	if t, ok := v.Addr().Interface().(*time.Time); ok {
		if t.Year() < 2000 || t.Year() > 9000 {
			*t = time.Time{}
		}
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others have no bounds
	case reflect.Int, reflect.Int64:
		v.SetInt(min(max(v.Int(), 0), mostNumber))
	case reflect.Float64:
		v.SetFloat(min(max(v.Float(), 0), mostNumber))
	case reflect.String:
		v.SetString(sanitize.Cut(v.String(), mostText))
	case reflect.Pointer:
		if !v.IsNil() {
			bound(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bound(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // an item as it was asked, which has bounds of its own
		}
		v.SetLen(min(v.Len(), mostElements))
		for i := range v.Len() {
			bound(v.Index(i))
		}
	}
}
