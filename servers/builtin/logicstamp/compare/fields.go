package compare

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

// Part is a part of a contract that is a list, with what a comparison found in it: a set
// of Names, or Types by name.
type Part struct {
	Name           string
	Names          func(*contract.Contract) []string
	Types          func(*contract.Contract) map[string]contract.Type
	Added, Removed *[]string
	Changed        *[]TypeChange // of types alone
}

// Parts are those of a contract that map names to types, and those that are sets of names,
// in reading order.
func (d *Details) Parts() (typed, sets []Part) {
	types := func(name string, of func(*contract.Contract) map[string]contract.Type, added, removed *[]string, changed *[]TypeChange) {
		typed = append(typed, Part{Name: name, Types: of, Added: added, Removed: removed, Changed: changed})
	}
	names := func(name string, of func(*contract.Contract) []string, added, removed *[]string) {
		sets = append(sets, Part{Name: name, Names: of, Added: added, Removed: removed})
	}
	types("props", func(c *contract.Contract) map[string]contract.Type { return c.Props }, &d.AddedProps, &d.RemovedProps, &d.ChangedProps)
	types("emits", func(c *contract.Contract) map[string]contract.Type { return c.Emits }, &d.AddedEmits, &d.RemovedEmits, &d.ChangedEmits)
	types("state", func(c *contract.Contract) map[string]contract.Type { return c.State }, &d.AddedState, &d.RemovedState, &d.ChangedState)
	names("hooks", func(c *contract.Contract) []string { return c.Hooks }, &d.AddedHooks, &d.RemovedHooks)
	names("components", func(c *contract.Contract) []string { return c.Components }, &d.AddedComponents, &d.RemovedComponents)
	names("functions", func(c *contract.Contract) []string { return c.Functions }, &d.AddedFunctions, &d.RemovedFunctions)
	names("variables", func(c *contract.Contract) []string { return c.Variables }, &d.AddedVariables, &d.RemovedVariables)
	names("imports", func(c *contract.Contract) []string { return c.Imports }, &d.AddedImports, &d.RemovedImports)
	names("languageSpecific", func(c *contract.Contract) []string { return c.Language }, &d.AddedLanguage, &d.RemovedLanguage)
	return typed, sets
}

// Typed is how a named type is written: "size: number", "tone?: string".
func Typed(name string, t contract.Type) string {
	if t.Optional {
		name += "?"
	}
	return name + ": " + t.Text
}

// fields compares two contracts; nil when nothing differs.
func fields(before, after *contract.Contract) *Details {
	if before.Bare || after.Bare {
		if before.SemanticHash != after.SemanticHash {
			return &Details{ModifiedFields: []string{"semanticHash"}}
		}
		return nil
	}
	d := &Details{Totals: map[string]int{}}
	typed, sets := d.Parts()
	for _, p := range sets {
		b, a := p.Names(before), p.Names(after)
		*p.Added, *p.Removed = missingFrom(b, a), missingFrom(a, b)
		d.note(after.Words.Composition+"."+p.Name, len(b)+len(*p.Added), len(*p.Added)+len(*p.Removed) > 0)
	}
	for _, p := range typed {
		d.types(p, after.Words.Interface+"."+p.Name, p.Types(before), p.Types(after))
	}
	d.texts(before, after)
	if len(d.ModifiedFields) == 0 {
		return nil
	}
	slices.Sort(d.ModifiedFields)
	return d
}

// note records how many entries a field has and whether it differs.
func (d *Details) note(field string, total int, differs bool) {
	if total > 0 {
		d.Totals[field] = total
	}
	if differs {
		d.ModifiedFields = append(d.ModifiedFields, field)
	}
}

func (d *Details) types(p Part, field string, before, after map[string]contract.Type) {
	var plus, minus []string
	var changed []TypeChange
	total := len(after)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was := before[name]
		now, ok := after[name]
		switch {
		case !ok:
			minus = append(minus, name)
			total++
		case was != now:
			changed = append(changed, TypeChange{Name: name, Before: Typed(name, was), After: Typed(name, now)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[name]; !ok {
			plus = append(plus, name)
		}
	}
	d.note(field, total, len(plus)+len(minus)+len(changed) > 0)
	*p.Added, *p.Removed, *p.Changed = plus, minus, changed
}

// texts compares the parts that are one value each.
func (d *Details) texts(before, after *contract.Contract) {
	if before.API != after.API {
		d.APISignatureBefore, d.APISignatureAfter = rawOf(before.API), rawOf(after.API)
		d.note(after.Words.Interface+".apiSignature", 1, true)
	}
	if !before.Exports.Equal(after.Exports) {
		d.ModifiedExports = exportWords(before.Exports, after.Exports)
		d.ExportsBefore, d.ExportsAfter = rawOf(before.Exports.Raw), rawOf(after.Exports.Raw)
		d.note("exports", 1, true)
	} else if after.Exports.Known() {
		d.note("exports", max(1, len(after.Exports.Names)), false)
	}
	if before.Kind != after.Kind {
		d.KindBefore, d.KindAfter = before.Kind, after.Kind
		d.note("kind", 1, true)
	}
	if before.NextJS != after.NextJS {
		d.NextJSBefore, d.NextJSAfter = rawOf(before.NextJS), rawOf(after.NextJS)
		d.note("nextjs", 1, true)
	}
	if before.Style != "" && after.Style != "" && before.Style != after.Style && sameShape(before.Style, after.Style) {
		d.StyleBefore, d.StyleAfter = rawOf(before.Style), rawOf(after.Style)
		d.note("style", 1, true)
	}
}

func rawOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// sameShape reports whether two style records were made in the same mode: lean
// ones have counts where full ones have lists.
func sameShape(a, b string) bool {
	var va, vb any
	if json.Unmarshal([]byte(a), &va) != nil || json.Unmarshal([]byte(b), &vb) != nil {
		return false
	}
	return sameKinds(va, vb)
}

func sameKinds(a, b any) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	ma, ok := a.(map[string]any)
	if !ok {
		return true
	}
	mb := b.(map[string]any)
	for name, v := range ma {
		if w, ok := mb[name]; ok && !sameKinds(v, w) {
			return false
		}
	}
	return true
}

// exportWords are the names that were added or removed; of a side that says
// only "default" or "named", that word.
func exportWords(before, after contract.Exports) []string {
	var words []string
	for _, word := range []string{exportWord(before), exportWord(after)} {
		if word != "" {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		b, a := exportNames(before), exportNames(after)
		words = append(missingFrom(b, a), missingFrom(a, b)...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// exportWord is the one word of a side that tells no names.
func exportWord(e contract.Exports) string {
	switch {
	case e.Unnamed:
		return "named"
	case e.Default && len(e.Names) == 0:
		return "default"
	}
	return ""
}

func exportNames(e contract.Exports) []string {
	names := slices.Clone(e.Names)
	if e.Default {
		names = append(names, "default")
	}
	slices.Sort(names)
	return names
}

// missingFrom gives what of list is not in base; both are sorted.
func missingFrom(base, list []string) []string {
	var out []string
	for _, s := range list {
		if _, ok := slices.BinarySearch(base, s); !ok {
			out = append(out, s)
		}
	}
	return out
}

// typeOf is the change type of modified fields: a signature change touches
// nothing but the interface and the exports.
func typeOf(d *Details, words contract.Vocabulary) ChangeType {
	for _, f := range d.ModifiedFields {
		switch f {
		case "exports", words.Interface + ".props", words.Interface + ".emits", words.Interface + ".state", words.Interface + ".apiSignature":
		default:
			return ContractChanged
		}
	}
	return PropsChanged
}
