package compare

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/contract"
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
		if len(before.Exports.Names) == 0 || slices.Contains(before.Exports.Names, name) {
			add(Error, "function_removed", name, "function removed: "+name)
		}
	}
	for _, name := range removedExports(before.Exports, after.Exports) {
		add(Error, "export_removed", name, "export removed: "+name)
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
		if was.Text != now.Text {
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

// removedExports are the names that can no longer be imported. Where the CLI
// says only "named", nothing is known about the names.
func removedExports(before, after contract.Exports) []string {
	var out []string
	if before.Default && !after.Default {
		out = append(out, "default")
	}
	if !after.Unnamed {
		out = append(out, missingFrom(after.Names, before.Names)...)
		if before.Unnamed && len(after.Names) == 0 {
			out = append(out, "named")
		}
	}
	return out
}
