package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// outcome is what came of a job, by the IDs of the agents.
type outcome struct {
	failed  map[string][]string // tests, those of no agent under ""
	unended map[string][]string // tests that did not come to an end, or to their begin
	version map[string]string
	changed map[string][]string // what the program writes otherwise
	news    map[string][]string // values that are not known
	lacks   map[string]bool     // it could not be installed, or started
}

// What tests print.
var (
	said   = regexp.MustCompile(`(CHANGED|NEW) (\S+) (\S+), (.*)`)
	lacks  = regexp.MustCompile(`cannot fetch (\w+)-`)
	tested = regexp.MustCompile(`^TestRealAgentsKeepTheirContracts/(\w+)/([^/]+)$`)
)

// read reads what go test -json prints.
func read(text []byte) outcome {
	o := outcome{version: map[string]string{}, changed: map[string][]string{}, news: map[string][]string{}, lacks: map[string]bool{}}
	failed, running := map[string]string{}, map[string]string{} // packages of tests
	lacked := map[string]string{}                               // tests that lacked an agent's program
	for line := range bytes.Lines(text) {
		var e struct{ Action, Package, Test, Output string }
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if m := tested.FindStringSubmatch(e.Test); m != nil {
			o.version[m[1]] = m[2]
		}
		if m := said.FindStringSubmatch(e.Output); m != nil {
			to := map[string]map[string][]string{"CHANGED": o.changed, "NEW": o.news}[m[1]]
			if !slices.Contains(to[m[2]], m[4]) {
				to[m[2]] = append(to[m[2]], m[4])
			}
		}
		if m := lacks.FindStringSubmatch(e.Output); m != nil {
			o.lacks[m[1]], lacked[e.Test] = true, m[1]
		}
		switch {
		case e.Test == "":
		case e.Action == "run":
			running[e.Test] = e.Package
		case e.Action == "fail":
			failed[e.Test] = e.Package
			delete(running, e.Test)
		case e.Action == "pass" || e.Action == "skip":
			delete(running, e.Test)
		}
	}
	o.failed, o.unended = byAgent(failed, lacked), byAgent(running, nil)
	return o
}

// byAgent sorts tests, given with their packages, by the IDs of the agents that they are about. One
// is left out that is named only since another in it is. What lacked a program says nothing of others.
func byAgent(tests, lacked map[string]string) map[string][]string {
	all := map[string][]string{}
	for _, a := range append(agents.All(), approvals.Agent{}) {
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			inner := func(other string) bool { return strings.HasPrefix(other, name+"/") }
			if in := tests[name]; !slices.ContainsFunc(slices.Collect(maps.Keys(tests)), inner) && (a.ID == "" && nobodys(name, in) || a.ID != "" && belongs(&a, name, in)) && (lacked[name] == "" || lacked[name] == a.ID) {
				all[a.ID] = append(all[a.ID], name)
			}
		}
	}
	return all
}

// belongs reports whether a test of a package is about an agent's program. A test of all agents has
// one in it for each, which has its ID as its name.
func belongs(a *approvals.Agent, test, in string) bool {
	top, parts, _ := strings.Cut(test, "/")
	for part := range strings.SplitSeq(parts, "/") {
		if slices.ContainsFunc(agents.All(), func(o approvals.Agent) bool { return o.ID == part }) {
			return part == a.ID
		}
	}
	return strings.Contains(strings.ToLower(test), a.ID) || strings.HasSuffix(in, "/"+a.ID) ||
		slices.ContainsFunc(a.Cells.Columns(), func(c approvals.Column) bool { return c.Test == top })
}

func nobodys(test, in string) bool {
	return !slices.ContainsFunc(agents.All(), func(a approvals.Agent) bool { return belongs(&a, test, in) })
}

// verdicts says a line for each agent: who has to mend something.
func verdicts(ours, pinned, newest outcome) (all []string) {
	if failed := ours.failed[""]; len(failed) > 0 {
		all = append(all, "we broke: "+strings.Join(failed, ", "))
	}
	for _, a := range agents.All() {
		c, _ := clients.Find(a.ID)
		version := newest.version[a.ID]
		changed := c.Title + " changed: "
		if version != "" { // else the tests did not come so far
			changed += version + ", "
		}
		switch red := newest.failed[a.ID]; {
		case len(ours.failed[a.ID]) > 0:
			all = append(all, "we broke "+c.Title+": "+strings.Join(ours.failed[a.ID], ", "))
		case len(pinned.failed[a.ID]) > 0:
			all = append(all, c.Title+": the pin or the machine: "+strings.Join(pinned.failed[a.ID], ", "))
		case newest.lacks[a.ID]:
			all = append(all, c.Title+": the newest is not installable")
		case len(newest.changed[a.ID]) > 0:
			for _, what := range newest.changed[a.ID] {
				all = append(all, changed+what)
			}
		case len(red) > 0:
			all = append(all, changed+strings.Join(red, ", "))
		case len(newest.unended[a.ID]) > 0:
			all = append(all, c.Title+": not tested to the end: "+strings.Join(newest.unended[a.ID], ", "))
		case version == "":
			all = append(all, c.Title+": not compared")
		default:
			all = append(all, c.Title+" "+version+": as it was")
		}
		for _, what := range newest.news[a.ID] {
			all = append(all, c.Title+" "+version+" has something new: "+what)
		}
	}
	return all
}
