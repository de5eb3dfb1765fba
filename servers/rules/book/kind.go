package book

import "slices"

// Kind is a kind of things that agents ask about, and rules are about.
type Kind string

// The kinds.
const (
	OfCommands Kind = "commands"
	OfEdits    Kind = "edits"
	OfPages    Kind = "pages"
	OfCalls    Kind = "calls" // of tools of MCP servers
)

// Kind is what a request is about; "" if that is not known.
func (q *Request) Kind() Kind {
	switch {
	case q.Reading != nil:
		return OfCommands
	case q.Edits != nil:
		return OfEdits
	case q.Fetch != "":
		return OfPages
	case q.Call != nil:
		return OfCalls
	}
	return ""
}

// Allowed is what of an agent's prompts rules may allow, by its ID in the table of clients. What is not among it they
// may deny, or have asked.
type Allowed map[string][]Kind

// Has reports whether rules may allow a kind of an agent's prompts.
func (a Allowed) Has(agent string, k Kind) bool { return slices.Contains(a[agent], k) }

// Agents are those of which rules may allow a kind of prompts, in order.
func (a Allowed) Agents(k Kind) (ids []string) {
	for id, kinds := range a {
		if slices.Contains(kinds, k) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
