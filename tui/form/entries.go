package form

import (
	"slices"
	"strconv"
	"strings"

	model "github.com/mcpdeck/mcpdeck/servers/support/form"
)

// add puts an entry at the end of the list under the cursor, and opens it.
func (f *Form) add() {
	field, ok := f.at()
	if !ok || field.Kind() != model.List || field.Role == model.Extra || field.Value.Null {
		f.message = "go to a list to add to it"
		return
	}
	if _, more := field.Entries(); !more {
		f.message = "the list is full"
		return
	}
	field.Add()
	f.changed()
	f.toEntry(field.Path, len(field.Value.Entries)-1)
	if entry, _ := f.at(); !takes(entry) {
		f.next(1)
		return
	}
	f.enter()
	f.told()
}

// toEntry puts the cursor on an entry of a list.
func (f *Form) toEntry(list string, n int) {
	path := list + "/" + strconv.Itoa(n)
	if i := slices.IndexFunc(f.fields, func(field model.Field) bool { return field.Path == path }); i >= 0 {
		f.cursor = i
	}
	f.follow = true
}

// remove takes away an entry of a list, or a value.
func (f *Form) remove() {
	field, ok := f.at()
	switch {
	case !ok || field.Role == model.Added:
		return
	case field.Role == model.Entry:
		field.Remove()
	default:
		field.Clear()
	}
	f.message = ""
	f.changed()
}

// shift moves an entry by d places in its list.
func (f *Form) shift(d int) {
	field, ok := f.at()
	if !ok || field.Role != model.Entry {
		f.message = "go to an entry of a list to move it"
		return
	}
	to := field.Move(d)
	f.changed()
	f.toEntry(field.Path[:strings.LastIndexByte(field.Path, '/')], to)
}

func (f *Form) null() {
	field, ok := f.at()
	if !ok || !field.Shape.Nullable || field.Role != model.Member && field.Role != model.Entry {
		f.message = "this field cannot be null"
		return
	}
	field.SetNull()
	f.changed()
}
