package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

// readAnswer is a file of a context, or one bundle of it, or a part.
type readAnswer struct {
	*logicstamp.ReadFile
	Bundle       json.RawMessage   `json:"bundle,omitempty"`
	Bundles      []json.RawMessage `json:"bundles,omitempty"`
	TotalBundles int               `json:"totalBundles,omitempty"`
	more
}

// pageBundles fills an answer with the bundles that fit, from the cursor on. A
// bundle too large for one answer comes node by node, its root first; a node
// too large comes with a part of its code.
func (p pager) pageBundles(out *readAnswer, cur cursor, budget int) error {
	bundles := out.ReadFile.Bundles
	single := len(bundles) == 1
	if !single {
		out.TotalBundles = len(bundles)
	}
	room := budget - sizeOf(out) - cursorRoom
	var page []json.RawMessage
	for cur.At < len(bundles) {
		b := bundles[cur.At]
		whole := cur.Node == 0 && cur.Code == 0
		if whole && len(b.Raw) <= room && len(b.Raw) <= p.bundleBytes {
			page = append(page, b.Raw)
			room -= len(b.Raw) + 1
			cur.At++
			continue
		}
		if len(page) > 0 {
			break
		}
		part, next, err := partOf(b, cur, min(room, p.bundleBytes))
		if err != nil {
			return err
		}
		page, cur = append(page, part), next
		break
	}
	if single && len(page) > 0 {
		out.Bundle = page[0]
	} else {
		out.Bundles = page
	}
	if cur.At < len(bundles) {
		out.more = p.goesOn(cur)
	}
	return nil
}

type looseBundle struct {
	head  map[string]json.RawMessage
	nodes []json.RawMessage
	edges json.RawMessage
}

// loosen takes a bundle apart, its root's node first.
func loosen(b *contract.Bundle) (looseBundle, error) {
	var out looseBundle
	if err := json.Unmarshal(b.Raw, &out.head); err != nil {
		return out, err
	}
	var graph struct {
		Nodes []json.RawMessage `json:"nodes"`
		Edges json.RawMessage   `json:"edges"`
	}
	if err := json.Unmarshal(out.head["graph"], &graph); err != nil {
		return out, err
	}
	delete(out.head, "graph")
	out.edges = graph.Edges
	root := slices.IndexFunc(b.Nodes, func(n *contract.Node) bool { return n.ID == b.Root })
	if root >= 0 && root < len(graph.Nodes) {
		out.nodes = append(out.nodes, graph.Nodes[root])
		graph.Nodes = slices.Delete(graph.Nodes, root, root+1)
	}
	out.nodes = append(out.nodes, graph.Nodes...)
	return out, nil
}

// partOf gives the part of a large bundle that begins at the cursor and fits
// into room, and where the next part begins.
func partOf(b *contract.Bundle, cur cursor, room int) (json.RawMessage, cursor, error) {
	loose, err := loosen(b)
	if err != nil {
		return nil, cur, err
	}
	part := map[string]any{"entryId": loose.head["entryId"]}
	graph := map[string]any{}
	if cur.Node == 0 && cur.Code == 0 {
		for name, v := range loose.head {
			part[name] = v
		}
		if loose.edges != nil {
			graph["edges"] = loose.edges
		}
	}
	part["graph"] = graph
	room -= sizeOf(part) + len(`"nodes":[],`)
	var nodes []json.RawMessage
	for cur.Node < len(loose.nodes) {
		node := loose.nodes[cur.Node]
		if cur.Code == 0 && len(node)+1 <= room {
			nodes = append(nodes, node)
			room -= len(node) + 1
			cur.Node++
			continue
		}
		if len(nodes) > 0 {
			break
		}
		cut, next, err := cutCode(node, cur.Code, room)
		if err != nil {
			return nil, cur, err
		}
		nodes = append(nodes, cut)
		if cur.Code = next; next == 0 {
			cur.Node++
		}
		break
	}
	graph["nodes"] = nodes
	if cur.Node >= len(loose.nodes) {
		cur.At, cur.Node, cur.Code = cur.At+1, 0, 0
	}
	data, err := json.Marshal(part)
	return data, cur, err
}

// cutCode sends a node with the part of its code that fits; next is where the
// code goes on, 0 when it ends here. A node without code is sent whole.
func cutCode(node json.RawMessage, at, room int) (out json.RawMessage, next int, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(node, &members); err != nil {
		return nil, 0, err
	}
	var code string
	if json.Unmarshal(members["code"], &code) != nil || code == "" {
		return node, 0, nil
	}
	at = min(at, len(code))
	delete(members, "code")
	if at > 0 {
		members = map[string]json.RawMessage{"entryId": members["entryId"]}
	}
	room = max(room-sizeOf(members)-100, 1000)
	end := at
	for used := 0; end < len(code); {
		r, size := utf8.DecodeRuneInString(code[end:])
		cost := size
		if r < ' ' || strings.ContainsRune("\"\\<>&", r) {
			cost = len(`\u0000`)
		}
		if used += cost; used > room {
			break
		}
		end += size
	}
	for name, v := range map[string]any{"code": code[at:end], "codeOffset": at, "codeTotal": len(code)} {
		if members[name], err = json.Marshal(v); err != nil {
			return nil, 0, err
		}
	}
	out, err = json.Marshal(members)
	if end == len(code) {
		end = 0
	}
	return out, end, err
}
