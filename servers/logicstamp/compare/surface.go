package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/outline"
)

// maxSignatures is how many changed signatures a result lists.
const maxSignatures = 200

// outlines are what both sides of a source declare; ok is false where that is
// not known, or cannot be true because the contract names an export that is not
// among them.
func (c *comparison) outlines(p string, before, after *contract.Contract) (was, is *outline.Outline, ok bool) {
	if c.base.Sources == nil || c.cur.Sources == nil {
		return nil, nil, false
	}
	b, _ := c.base.Sources.Find(p)
	a, _ := c.cur.Sources.Find(p)
	// An equal text was read by another version of us at most.
	ok = b.FileHash != a.FileHash && b.Outline != nil && a.Outline != nil && covers(b.Outline, before.Exports) && covers(a.Outline, after.Exports)
	return b.Outline, a.Outline, ok
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
func surface(was, is *outline.Outline, d *Details) (out []Breaking, heads []Signature) {
	before, after := exportKeys(was), exportKeys(is)
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
				broken, head := declared(key, x, y, d)
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
		b := Breaking{Severity: Error, Kind: "export_removed", Name: key, Message: "export removed: " + key, LineBefore: before[key].Line}
		if decl, ok := was.Decl(before[key].Local); ok && before[key].From == "" {
			b.LineBefore, b.Source = decl.Line, source(decl)
			if to := renamed(is, decl, after, d.AddedExports); to != "" && !taken[to] {
				taken[to] = true
				b.Message = "export renamed: " + key + " → " + to
			}
			if still, ok := is.Decl(decl.Name); ok {
				b.Line = still.Line
			}
		}
		out = append(out, b)
	}
	return out
}

// source is a declaration as one line.
func source(d outline.Decl) string {
	if d.Kind == "const" {
		return "const " + d.Head
	}
	return d.Kind + " " + d.Head
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
func declared(name string, was, is outline.Decl, d *Details) (out []Breaking, heads []Signature) {
	changed := func(severity Severity, kind, message string, before, after string, lineBefore, line int) {
		d.ChangedExports = append(d.ChangedExports, TypeChange{name, before, after})
		text := after
		if text == "" {
			text = before
		}
		out = append(out, Breaking{Severity: severity, Kind: kind, Name: name, Message: message, LineBefore: lineBefore, Line: line, Source: text})
	}
	if was.Generic != is.Generic {
		severity := Caution
		if is.Kind != "function" && is.Kind != "const" && required(was.Generic) != required(is.Generic) {
			severity = Error // whoever names the type has to say as many
		}
		changed(severity, "generic_changed", fmt.Sprintf("type parameters changed: %s%s → %s%s", name, was.Generic, name, is.Generic), was.Head, is.Head, was.Line, is.Line)
	} else if was.Head != is.Head {
		heads = append(heads, Signature{Name: name, Before: was.Head, After: is.Head, Line: is.Line})
	}
	before, after := members(was), members(is)
	for _, m := range was.Members {
		now, still := after[m.Name]
		label := name + "." + m.Name
		switch {
		case !still && was.Kind == "enum":
			changed(Error, "enum_member_removed", "enum member removed: "+label, name+"."+m.Text, "", m.Line, is.Line)
		case !still:
			changed(Error, "member_removed", "member removed: "+label, name+"."+m.Text, "", m.Line, is.Line)
		case now.Text != m.Text:
			changed(Caution, "member_changed", fmt.Sprintf("member changed: %s.%s → %s", name, m.Text, now.Text), name+"."+m.Text, name+"."+now.Text, m.Line, now.Line)
		}
	}
	for _, m := range is.Members {
		if _, had := before[m.Name]; !had {
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

// addSurface adds what the outlines of a source say to what its contracts say.
// The members of a type that are the component's props are told once, as props.
func (c *comparison) addSurface(p string, d *Details, broken []Breaking, before, after *contract.Contract) (*Details, []Breaking) {
	was, is, ok := c.outlines(p, before, after)
	if !ok {
		return d, broken
	}
	found := &Details{}
	list, heads := surface(was, is, found)
	props := func(name, text string) bool {
		member := strings.TrimPrefix(strings.SplitN(text, ":", 2)[0], name+".")
		member = strings.TrimSuffix(member, "?")
		_, a := before.Props[member]
		_, b := after.Props[member]
		return a || b
	}
	told := func(x Breaking) bool {
		return (x.Kind == "member_removed" || x.Kind == "member_changed") && props(x.Name, x.Source)
	}
	list = slices.DeleteFunc(list, told)
	found.ChangedExports = slices.DeleteFunc(found.ChangedExports, func(t TypeChange) bool {
		text := t.After
		if text == "" {
			text = t.Before
		}
		return strings.HasPrefix(text, t.Name+".") && props(t.Name, text)
	})
	// By name they are known exactly.
	broken = slices.DeleteFunc(broken, func(b Breaking) bool {
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
	for i := range broken {
		locate(&broken[i], was, is)
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

// locate finds the lines of a prop or a function that broke.
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
			b.LineBefore, b.Source = x.Line, source(x)
			return
		case had && (!has || m.Text != now.Text):
			b.LineBefore, b.Line, b.Source = m.Line, y.Line, x.Name+" { "+m.Text+" }"
			if has {
				b.Line, b.Source = now.Line, y.Name+" { "+now.Text+" }"
			}
			return
		}
	}
	for _, y := range is.Decls {
		x, _ := was.Decl(y.Name)
		if m, has := members(y)[b.Name]; has {
			if _, had := members(x)[b.Name]; !had {
				b.Line, b.Source = m.Line, y.Name+" { "+m.Text+" }"
				return
			}
		}
	}
	// Types that stand in a head.
	for _, y := range is.Decls {
		x, _ := was.Decl(y.Name)
		if x.Head != y.Head && (strings.Contains(x.Head, b.Name) || strings.Contains(y.Head, b.Name)) {
			b.LineBefore, b.Line, b.Source = x.Line, y.Line, source(y)
			return
		}
	}
}
