package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

// breaking lists what of a change breaks those who use the component.
func breaking(before, after *contract.Contract, d *Details) []Breaking {
	var out []Breaking
	add := func(s Severity, kind, name, message string) {
		out = append(out, Breaking{Severity: s, Kind: kind, Name: name, Message: message})
	}
	for _, name := range d.RemovedProps {
		add(Error, "prop_removed", name, "prop removed: "+name)
	}
	for _, name := range d.RemovedEmits {
		add(Error, "event_removed", name, "event removed: "+name)
	}
	for _, name := range d.RemovedFunctions {
		// Nobody takes what a default export is called in its own source.
		unknown := len(before.Exports.Names) == 0 && !(before.Exports.Default && after.Exports.Default && !before.Exports.Unnamed)
		if unknown || slices.Contains(before.Exports.Names, name) {
			add(Error, "function_removed", name, "function removed: "+name)
		}
	}
	for _, b := range removedExports(before, after) {
		out = slices.DeleteFunc(out, func(f Breaking) bool { return f.Kind == "function_removed" && f.Name == b.Name })
		out = append(out, b)
	}
	for _, name := range d.AddedProps {
		if !after.Props[name].Optional {
			add(Error, "prop_required", name, "new required prop: "+name)
		}
	}
	for _, c := range d.ChangedProps {
		was, now := before.Props[c.Name], after.Props[c.Name]
		if was.Optional && !now.Optional {
			add(Error, "prop_required", c.Name, "prop became required: "+c.Name)
		}
		if gone := lost(was.Text, now.Text, now.Optional); gone != "" {
			add(Error, "prop_type", c.Name, "prop no longer takes "+gone+": "+c.Before+" → "+c.After)
		} else if was.Text != now.Text {
			add(Caution, "prop_type", c.Name, "prop type changed: "+c.Before+" → "+c.After)
		}
	}
	for _, name := range d.RemovedState {
		add(Caution, "state_removed", name, "state removed: "+name)
	}
	for _, name := range d.RemovedVariables {
		add(Caution, "variable_removed", name, "variable removed: "+name)
	}
	if d.KindBefore != d.KindAfter {
		add(Caution, "kind_changed", d.KindAfter, "kind changed: "+d.KindBefore+" → "+d.KindAfter)
	}
	slices.SortStableFunc(out, func(a, b Breaking) int { return rank(a.Severity) - rank(b.Severity) })
	return out
}

func rank(s Severity) int {
	if s == Error {
		return 0
	}
	return 1
}

// removedExports are the exports that can no longer be imported, as far as the
// contracts tell: the word "named" means one name that is not given, and
// "default" says nothing of the others.
func removedExports(before, after *contract.Contract) []Breaking {
	var out []Breaking
	removed := func(s Severity, name, message string) {
		out = append(out, Breaking{Severity: s, Kind: "export_removed", Name: name, Message: message})
	}
	was, is := before.Exports, after.Exports
	if was.Default && !is.Default {
		removed(Error, "default", "export removed: default")
	}
	all := strings.Join(was.Names, ", ")
	switch {
	case is.Default && len(is.Names) == 0 && (len(was.Names) > 0 || was.Unnamed):
		if all == "" {
			all = nameOf(before)
		}
		removed(Caution, all, "only the default export is listed now; unknown for "+all+" this is unknown")
	case is.Unnamed && len(was.Names) > 0:
		gone := slices.DeleteFunc(slices.Clone(was.Names), func(name string) bool { return !declares(before, name) || declares(after, name) })
		least := len(was.Names) - 1
		if len(gone) < least {
			removed(Error, all, fmt.Sprintf("exports removed: at least %d of %s", least, all))
			break
		}
		for _, name := range gone {
			removed(Error, name, "export removed: "+name)
		}
	case was.Unnamed && !is.Unnamed && len(is.Names) == 0:
		name := nameOf(before)
		removed(Error, name, "export removed: "+name)
	case !is.Unnamed:
		for _, name := range missingFrom(is.Names, was.Names) {
			removed(Error, name, "export removed: "+name)
		}
	}
	return out
}

// declares reports whether a contract has something of this name of its own.
func declares(c *contract.Contract, name string) bool {
	return slices.Contains(c.Functions, name) || slices.Contains(c.Variables, name)
}

// nameOf is the name of a component's one export that the command does not give:
// that of its one function, if it has one.
func nameOf(c *contract.Contract) string {
	if len(c.Functions) == 1 {
		return c.Functions[0]
	}
	return "the one named export"
}
