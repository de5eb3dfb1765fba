package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/outline"
)

// maxSignatures is how many changed signatures a result lists.
const maxSignatures = 200

// outlines are what both sides of a source declare, as far as that is known;
// whole tells that all of it is: neither is missing, nor names a contract an
// export that is not among those of its side.
func (c *comparison) outlines(p string, before, after *contract.Contract) (was, is *outline.Outline, whole bool) {
	if c.base.Sources == nil || c.cur.Sources == nil {
		return &outline.Outline{}, &outline.Outline{}, false
	}
	b, _ := c.base.Sources.Find(p)
	a, _ := c.cur.Sources.Find(p)
	// An equal text was read by another version of us at most.
	whole = b.FileHash != a.FileHash && b.Outline != nil && a.Outline != nil && covers(b.Outline, before.Exports) && covers(a.Outline, after.Exports)
	return cmp.Or(b.Outline, &outline.Outline{}), cmp.Or(a.Outline, &outline.Outline{}), whole
}

func covers(o *outline.Outline, e contract.Exports) bool {
	names := exportKeys(o)
	if e.Known() && len(names) == 0 {
		return false
	}
	for _, name := range e.Names {
		if _, ok := names[name]; !ok {
			return false
		}
	}
	return true
}

func exportKeys(o *outline.Outline) map[string]outline.Export {
	out := map[string]outline.Export{}
	for _, e := range o.Exports {
		out[e.Key()] = e
	}
	return out
}

// surface compares what two states of a source give to those who import it.
// Members that are props are left out: the contracts tell of them.
func surface(was, is *outline.Outline, prop func(name string) bool, d *Details) (out []Breaking, heads []Signature) {
	before, after := exportKeys(was), exportKeys(is)
	own := func(x outline.Decl) outline.Decl {
		if x.Kind != "enum" {
			x.Members = slices.DeleteFunc(slices.Clone(x.Members), func(m outline.Member) bool { return prop(m.Name) })
		}
		return x
	}
	for _, key := range unionKeys(before, after) {
		b, had := before[key]
		a, has := after[key]
		switch {
		case !has:
			d.RemovedExports = append(d.RemovedExports, key)
		case !had:
			d.AddedExports = append(d.AddedExports, key)
		case b.From != a.From:
			d.ChangedExports = append(d.ChangedExports, TypeChange{key, origin(b), origin(a)})
		case b.From == "":
			x, known := was.Decl(b.Local)
			y, still := is.Decl(a.Local)
			if known && still {
				broken, head := declared(key, was, is, own(x), own(y), d)
				out = append(out, broken...)
				heads = append(heads, head...)
			}
		}
	}
	return append(removals(was, is, before, after, d), out...), heads
}

func origin(e outline.Export) string {
	if e.From == "" {
		return e.Name + " of its own"
	}
	return e.Name + " from " + e.From
}

// removals are what breaks because exports are gone.
func removals(was, is *outline.Outline, before, after map[string]outline.Export, d *Details) []Breaking {
	var out []Breaking
	taken := map[string]bool{}
	for _, key := range d.RemovedExports {
		b := Breaking{Severity: Error, Kind: "export_removed", Name: key, Message: "export removed: " + key}
		from, to := span{first: before[key].Line}, span{}
		if decl, ok := was.Decl(before[key].Local); ok && before[key].From == "" {
			from = spanOf(decl)
			if name := renamed(is, decl, after, d.AddedExports); name != "" && !taken[name] {
				taken[name] = true
				b.Message = "export renamed: " + key + " → " + name
			}
			if still, ok := is.Decl(decl.Name); ok {
				to = spanOf(still)
			}
		}
		b.put(was, is, from, to)
		out = append(out, b)
	}
	return out
}

// maxSource is how many lines of a source an entry shows.
const maxSource = 4

// span is where something stands in a source. short is what to show where the
// lines are not known, as of a snapshot that another version made.
type span struct {
	first, last int
	short       string
}

func spanOf(d outline.Decl) span {
	if d.Kind == "const" {
		return span{d.Line, d.End, "const " + d.Head}
	}
	return span{d.Line, d.End, d.Kind + " " + d.Head}
}

func spanOfMember(d outline.Decl, m outline.Member) span {
	return span{m.Line, m.End, d.Name + " { " + m.Text + " }"}
}

// put says where an entry stood and stands; first is 0 for nowhere.
func (b *Breaking) put(was, is *outline.Outline, from, to span) {
	b.LineBefore, b.Line = from.first, to.first
	side, at := is, to
	if _, old := b.Place(); old {
		side, at = was, from
	}
	b.Source = cmp.Or(side.Text(at.first, min(at.last, at.first+maxSource-1)), at.short)
}

// renamed is the one new export that says of itself what a removed one said.
func renamed(is *outline.Outline, gone outline.Decl, after map[string]outline.Export, added []string) string {
	found := ""
	for _, key := range added {
		decl, ok := is.Decl(after[key].Local)
		if ok && decl.Kind == gone.Kind && strings.TrimPrefix(decl.Head, decl.Name) == strings.TrimPrefix(gone.Head, gone.Name) {
			if found != "" {
				return ""
			}
			found = key
		}
	}
	return found
}

// declared compares two states of an exported declaration.
func declared(name string, before, after *outline.Outline, was, is outline.Decl, d *Details) (out []Breaking, heads []Signature) {
	changed := func(severity Severity, kind, message, old, now string, from, to span) {
		d.ChangedExports = append(d.ChangedExports, TypeChange{name, old, now})
		b := Breaking{Severity: severity, Kind: kind, Name: name, Message: message}
		b.put(before, after, from, to)
		out = append(out, b)
	}
	if was.Generic != is.Generic {
		severity := Caution
		if is.Kind != "function" && is.Kind != "const" && required(was.Generic) != required(is.Generic) {
			severity = Error // whoever names the type has to say as many
		}
		changed(severity, "generic_changed", fmt.Sprintf("type parameters changed: %s%s → %s%s", name, was.Generic, name, is.Generic), was.Head, is.Head, spanOf(was), spanOf(is))
	} else if gone := lostOf(was, is); gone != "" {
		changed(Error, "union_member_removed", "union member removed: "+name+" | "+gone, was.Head, is.Head, spanOf(was), spanOf(is))
	} else if strings.TrimPrefix(was.Head, was.Name) != strings.TrimPrefix(is.Head, is.Name) {
		heads = append(heads, Signature{Name: name, Before: was.Head, After: is.Head, Line: is.Line})
	}
	old, present := members(was), members(is)
	for _, m := range was.Members {
		now, still := present[m.Name]
		label := name + "." + m.Name
		switch {
		case !still && was.Kind == "enum":
			changed(Error, "enum_member_removed", "enum member removed: "+label, name+"."+m.Text, "", spanOfMember(was, m), spanOf(is))
		case !still:
			changed(Error, "member_removed", "member removed: "+label, name+"."+m.Text, "", spanOfMember(was, m), spanOf(is))
		case now.Text != m.Text:
			severity := Caution
			if lost(typeOfMember(m), typeOfMember(now), strings.HasPrefix(now.Text, now.Name+"?")) != "" {
				severity = Error
			}
			changed(severity, "member_changed", fmt.Sprintf("member changed: %s.%s → %s", name, m.Text, now.Text), name+"."+m.Text, name+"."+now.Text, spanOfMember(was, m), spanOfMember(is, now))
		}
	}
	for _, m := range is.Members {
		if _, had := old[m.Name]; !had {
			d.ChangedExports = append(d.ChangedExports, TypeChange{name, "", name + "." + m.Text})
		}
	}
	return out, heads
}

func members(d outline.Decl) map[string]outline.Member {
	out := map[string]outline.Member{}
	for _, m := range d.Members {
		out[m.Name] = m
	}
	return out
}

// required counts the type parameters that have to be given.
func required(generic string) int {
	n, depth := 0, 0
	must := generic != ""
	for _, r := range generic {
		switch r {
		case '<', '(', '{', '[':
			depth++
		case '>', ')', '}', ']':
			depth--
		case '=':
			must = must && depth != 1
		case ',':
			if depth == 1 {
				if must {
					n++
				}
				must = true
			}
		}
	}
	if must {
		n++
	}
	return n
}

// addSurface adds what the outlines of a source say to what its contracts say,
// and where it stands.
func (c *comparison) addSurface(p string, d *Details, broken []Breaking, before, after *contract.Contract) (*Details, []Breaking) {
	was, is, whole := c.outlines(p, before, after)
	if whole {
		d, broken = c.compareOutlines(p, was, is, d, broken, before, after)
	}
	for i := range broken {
		locate(&broken[i], was, is)
	}
	return d, broken
}

func (c *comparison) compareOutlines(p string, was, is *outline.Outline, d *Details, broken []Breaking, before, after *contract.Contract) (*Details, []Breaking) {
	found := &Details{}
	list, heads := surface(was, is, func(name string) bool {
		_, had := before.Props[name]
		_, has := after.Props[name]
		return had || has
	}, found)
	// By name they are known exactly.
	byDefault := exportKeys(was)["default"].Local
	broken = slices.DeleteFunc(broken, func(b Breaking) bool {
		if b.Name == byDefault && (b.Kind == "function_removed" || b.Kind == "variable_removed") {
			return true
		}
		return b.Kind == "export_removed" || (b.Kind == "function_removed" || b.Kind == "variable_removed") && slices.Contains(found.RemovedExports, b.Name)
	})
	broken = slices.Concat(broken, list)
	if len(found.RemovedExports)+len(found.AddedExports)+len(found.ChangedExports) > 0 {
		if d == nil {
			d = &Details{Totals: map[string]int{}}
		}
		d.AddedExports, d.RemovedExports, d.ChangedExports = found.AddedExports, found.RemovedExports, found.ChangedExports
		if !slices.Contains(d.ModifiedFields, "exports") {
			d.ModifiedFields = append(d.ModifiedFields, "exports")
			slices.Sort(d.ModifiedFields)
		}
	}
	slices.SortStableFunc(broken, func(a, b Breaking) int { return rank(a.Severity) - rank(b.Severity) })
	if d == nil || slices.Equal(d.ModifiedFields, []string{"semanticHash"}) {
		for _, h := range heads {
			h.EntryID = p
			c.result.Signatures = append(c.result.Signatures, h)
		}
	}
	return d, broken
}

// locate finds the lines of what broke: of a declaration, of a member that
// differs, of a type in a head; else those of what only one side knows.
func locate(b *Breaking, was, is *outline.Outline) {
	if b.Line > 0 || b.LineBefore > 0 {
		return
	}
	for _, x := range was.Decls {
		y, _ := is.Decl(x.Name)
		m, had := members(x)[b.Name]
		now, has := members(y)[b.Name]
		switch {
		case x.Name == b.Name:
			b.put(was, is, spanOf(x), spanOf(y))
			return
		case had && has && m.Text != now.Text:
			b.put(was, is, spanOfMember(x, m), spanOfMember(y, now))
			return
		case had && !has:
			b.put(was, is, spanOfMember(x, m), spanOf(y))
			return
		}
	}
	for _, y := range is.Decls {
		x, _ := was.Decl(y.Name)
		if m, has := members(y)[b.Name]; has {
			if _, had := members(x)[b.Name]; !had {
				b.put(was, is, spanOf(x), spanOfMember(y, m))
				return
			}
		}
	}
	for _, y := range is.Decls {
		x, _ := was.Decl(y.Name)
		if x.Head != y.Head && (strings.Contains(x.Head, b.Name) || strings.Contains(y.Head, b.Name)) {
			b.put(was, is, within(was, x, b.Name), within(is, y, b.Name))
			return
		}
	}
}

// within is where a name stands in the head of a declaration; the last line that
// has it is that of its type.
func within(o *outline.Outline, d outline.Decl, name string) span {
	out := spanOf(d)
	for n := d.End; n > d.Line; n-- {
		if slices.Contains(strings.FieldsFunc(o.Lines[n], func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }), name) {
			out.first, out.last = n, n
			break
		}
	}
	return out
}
