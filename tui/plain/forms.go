package plain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/form"
)

// listed is how many options of a field are written; others are found by their names.
const listed = 20

// filling is a form that is being filled in, a field at a time.
type filling struct {
	form  *form.Form
	value *form.Value
	at    int // among fields
}

// newFilling is nil for a question that is no form.
func newFilling(q *ask.Question) *filling {
	if q.Kind != ask.Form {
		return nil
	}
	f, err := q.Form()
	if err != nil { // it was read when the question was asked
		return nil
	}
	return &filling{form: f, value: f.New()}
}

// fields are those that are asked for. A list is typed as JSON, as a whole.
func (f *filling) fields() []form.Field {
	var out []form.Field
	for _, field := range f.form.Fields(f.value) {
		inList := slices.ContainsFunc(out, func(o form.Field) bool { return o.Kind() == form.List && strings.HasPrefix(field.Path, o.Path+"/") })
		if field.Role == form.Member && field.Kind() != form.Object && !inList {
			out = append(out, field)
		}
	}
	return out
}

// putField writes the field that is next.
func (t *teller) putField(f *filling) {
	all := f.fields()
	field := all[f.at]
	if names := form.Secrets(all); f.at == 0 && len(names) > 0 {
		t.say("looks like a secret: %s; servers must not ask for one in a form", strings.Join(names, ", "))
	}
	need := ""
	if field.Required {
		need = ", required"
	}
	t.say("Field %d of %d%s: %s", f.at+1, len(all), need, field.Name)
	t.lines("  ", field.Shape.About)
	for i, o := range field.Shape.Options[:min(len(field.Shape.Options), listed)] {
		t.say("  %d. %s", i+1, o.Title)
	}
	if n := len(field.Shape.Options) - listed; n > 0 {
		t.say("  and %d more; type a part of the name", n)
	}
	if has := cmp.Or(field.Words(), field.Suggested()); has != "" {
		t.say("  now: %s; /skip keeps it", has)
	}
	switch k := field.Kind(); {
	case t.opts.Watch || t.opts.In == nil:
	case k == form.Several:
		t.say("Type numbers such as 1 3; /help for more.")
	case len(field.Shape.Options) > 0:
		t.say("Type a number or a name; /help for more.")
	case k == form.List || k == form.JSON:
		t.say("Type JSON; /help for more.")
	case k == form.Number:
		t.say("Type a number; /help for more.")
	default:
		t.say("Type a text; /help for more.")
	}
}

// fill takes a line as the value of the field that is open.
func (t *teller) fill(f *filling, l string) {
	field := f.fields()[f.at]
	if err := enter(field, l); err != nil {
		t.say("%s", err)
		return
	}
	problems, _ := f.form.Check(f.value) // what cannot be checked is not held against the user
	for _, p := range problems {
		if p.Path == field.Path && !p.Soft && (field.Kind() != form.Variant || len(field.Value.Chosen) == 0) {
			t.say("not accepted: %s", p.Text)
			field.Clear()
			return
		}
	}
	t.nextField(f)
}

// formCommand does what a command means for a form; false for those that mean the same
// everywhere.
func (t *teller) formCommand(f *filling, word, rest string) bool {
	switch word {
	case "/skip":
		t.nextField(f)
	case "/text":
		t.fill(f, rest)
	case "/back":
		f.at = max(f.at-1, 0)
		t.putField(f)
	case "/clarify":
		t.say("you cannot ask back here; answer or decline")
	default:
		return false
	}
	return true
}

// nextField goes on, and sends the form after the last one.
func (t *teller) nextField(f *filling) {
	if f.at+1 < len(f.fields()) {
		f.at++
		t.putField(f)
		return
	}
	f.at = 0
	q := t.current.question()
	t.take(ask.Result{ID: q.ID, Content: f.form.JSON(f.value)})
}

// enter reads what was typed as a field's value.
func enter(field form.Field, l string) error {
	options := field.Shape.Options
	switch field.Kind() {
	case form.Choice, form.Variant:
		i, err := optionOf(options, l)
		if err == nil {
			field.Choose(i)
		}
		return err
	case form.Several:
		field.Clear()
		nums, ok := numbers(l)
		if !ok {
			i, err := optionOf(options, l)
			nums = []int{i + 1}
			if err != nil {
				return err
			}
		}
		for _, n := range nums {
			if n < 1 || n > len(options) {
				return fmt.Errorf("no option %d; type a number from 1 to %d", n, len(options))
			}
			field.Toggle(n - 1)
		}
	case form.List:
		return field.SetJSON(l)
	default:
		field.SetText(l)
	}
	return nil
}

// optionOf finds an option by its number, its name or a part of that.
func optionOf(options []form.Option, l string) (int, error) {
	if nums, ok := numbers(l); ok && len(nums) == 1 && nums[0] >= 1 && nums[0] <= len(options) {
		return nums[0] - 1, nil
	}
	found, some := 0, 0
	for i, o := range options {
		title := strings.ToLower(strings.TrimSpace(o.Title))
		switch word := strings.ToLower(l); {
		case title == word || len(word) == 1 && (title == "yes" || title == "no") && strings.HasPrefix(title, word):
			return i, nil
		case strings.Contains(title, word):
			found, some = i, some+1
		}
	}
	switch some {
	case 0:
		return 0, fmt.Errorf("no such option; type a number from 1 to %d", len(options))
	case 1:
		return found, nil
	}
	return 0, errors.New("that fits several options; type more of the name")
}
