package codex

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

func decision(word string) json.RawMessage { return json.RawMessage(`{"decision":` + word + `}`) }

func lasting(scope ask.Scope, what, where string, result json.RawMessage) approvals.Choice {
	label := map[ask.Scope]string{ask.ForSession: "Allow for this session", ask.Always: "Always allow"}[scope]
	return approvals.Choice{Label: label, Grant: ask.Grant{Allow: true, Scope: scope, Effect: what + " " + where}, Result: result}
}

// commandChoices are the options for a command: those that Codex offers, and to deny,
// which it always takes.
func (q *asked) commandChoices(in around) error {
	decisions := q.Decisions
	if decisions == nil { // an older version
		decisions = q.proposed()
	}
	var stop, never []approvals.Choice
	for _, raw := range decisions {
		word, err := rawjson.Text(raw)
		switch {
		case err != nil:
			c, ok := amendment(raw, in)
			if ok && c.Grant.Allow {
				q.choices = append(q.choices, c)
			} else if ok {
				never = append(never, c)
			}
		case word == "accept":
			q.choices = append(q.choices, approvals.AllowOnce(decision(string(raw))))
		case word == "acceptForSession":
			q.choices = append(q.choices, lasting(ask.ForSession, "this command", "in this session", decision(string(raw))))
		case word == "cancel":
			stop = []approvals.Choice{approvals.DenyAndStop(decision(string(raw)))}
		}
	}
	if len(q.choices) == 0 {
		return approvals.ErrShape
	}
	if q.Kind == "humanCommand" {
		q.choices = approvals.OnceOnly(q.choices)
	}
	q.choices = slices.Concat(q.choices, approvals.Denials(decision(`"decline"`)), stop, never)
	return nil
}

// proposed are the decisions that a version without a list of them takes.
func (q *asked) proposed() []json.RawMessage {
	all := []json.RawMessage{json.RawMessage(`"accept"`)}
	if len(q.Prefix) > 0 {
		words, err := json.Marshal(q.Prefix)
		if err == nil {
			all = append(all, json.RawMessage(`{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":`+string(words)+`}}`))
		}
	}
	for _, host := range q.Hosts {
		all = append(all, json.RawMessage(`{"applyNetworkPolicyAmendment":{"network_policy_amendment":`+string(host)+`}}`))
	}
	return append(all, json.RawMessage(`"cancel"`))
}

// amendment is a decision that writes a rule of Codex's; false for one whose effect cannot
// be told exactly.
func amendment(raw json.RawMessage, in around) (approvals.Choice, bool) {
	o, err := rawjson.SplitObject(raw)
	if err != nil || len(o) != 1 {
		return approvals.Choice{}, false
	}
	var body struct {
		Prefix  []string                      `json:"execpolicy_amendment"`
		Network struct{ Action, Host string } `json:"network_policy_amendment"`
	}
	inner, err := rawjson.SplitObject(o[0].Value)
	if err != nil || len(inner) != 1 || json.Unmarshal(o[0].Value, &body) != nil {
		return approvals.Choice{}, false
	}
	result := decision(string(raw))
	switch n := body.Network; {
	case o[0].Key == "acceptWithExecpolicyAmendment" && len(body.Prefix) > 0:
		file := humanize.Tilde(filepath.Join(in.Codex, "rules", "default.rules"), in.Home)
		return lasting(ask.Always, "commands that start with "+wordsOf(body.Prefix), "everywhere (writes "+file+")", result), true
	case o[0].Key != "applyNetworkPolicyAmendment" || n.Host == "":
		return approvals.Choice{}, false
	case n.Action == "allow":
		return lasting(ask.Always, "connections to "+n.Host, "everywhere (a rule of Codex's)", result), true
	case n.Action == "deny":
		c := lasting(ask.Always, "connections to "+n.Host, "everywhere (a rule of Codex's)", result)
		c.Label, c.Grant.Allow = "Always deny", false
		return c, true
	}
	return approvals.Choice{}, false
}

// wordsOf writes the words of a command so that it can be seen where each ends.
func wordsOf(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.ContainsFunc(w, func(r rune) bool { return r <= ' ' || strings.ContainsRune("'\"\\`$", r) }) {
			out[i] = strconv.Quote(w)
		}
	}
	return strings.Join(out, " ")
}

// toolChoices are the options for a call of an MCP server's tool.
func (q *asked) toolChoices(in around) error {
	accept := func(meta string) json.RawMessage {
		return json.RawMessage(`{"action":"accept","content":null` + meta + `}`)
	}
	decline := json.RawMessage(`{"action":"decline"}`)
	q.choices = []approvals.Choice{approvals.AllowOnce(accept(""))}
	what := "the tool " + q.Meta.Tool + " of " + q.Server + ", with any arguments"
	for _, word := range q.Meta.Persist {
		switch word {
		case "session":
			q.choices = append(q.choices, lasting(ask.ForSession, what, "in this session", accept(`,"_meta":{"persist":"session"}`)))
		case "always":
			file := humanize.Tilde(filepath.Join(in.Codex, "config.toml"), in.Home)
			q.choices = append(q.choices, lasting(ask.Always, what, "everywhere (writes "+file+")", accept(`,"_meta":{"persist":"always"}`)))
		}
	}
	denials := approvals.Denials(decline)
	if q.TurnID == "" { // there is nothing to add a note to
		denials = denials[:1]
	}
	q.choices = append(q.choices, denials...)
	return nil
}

// describe tells exactly what a profile of permissions allows.
func describe(raw json.RawMessage) (string, error) {
	var profile struct {
		Network    *struct{ Enabled *bool } `json:"network"`
		FileSystem *struct {
			Read, Write []string
			Glob        *int `json:"globScanMaxDepth"`
			Entries     []struct {
				Access string
				Path   struct {
					Type, Path, Pattern string
					Value               struct{ Kind, Path, Subpath string }
				}
			}
		} `json:"fileSystem"`
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil || len(o.Only("network", "fileSystem")) != len(o) || json.Unmarshal(raw, &profile) != nil {
		return "", approvals.ErrShape
	}
	var all []string
	if n := profile.Network; n != nil && n.Enabled != nil && *n.Enabled {
		all = append(all, "network")
	}
	if f := profile.FileSystem; f != nil {
		for _, e := range f.Entries {
			where := ""
			switch p := e.Path; {
			case p.Type == "path":
				where = p.Path
			case p.Type == "glob_pattern":
				where = "files like " + p.Pattern
			case p.Type == "special" && p.Value.Kind == "unknown":
				where = p.Value.Path
			case p.Type == "special":
				where = strings.TrimSuffix(strings.ReplaceAll(p.Value.Kind, "_", " ")+"/"+p.Value.Subpath, "/")
			}
			if where == "" || !slices.Contains([]string{"read", "write", "deny"}, e.Access) {
				return "", approvals.ErrShape
			}
			all = append(all, e.Access+" "+where)
		}
		if f.Entries == nil {
			for _, path := range f.Read {
				all = append(all, "read "+path)
			}
			for _, path := range f.Write {
				all = append(all, "write "+path)
			}
		}
	}
	if len(all) == 0 {
		return "", approvals.ErrShape
	}
	return strings.Join(all, ", "), nil
}
