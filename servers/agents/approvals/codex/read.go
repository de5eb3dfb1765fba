package codex

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// The requests of Codex's that are put to the user. Others are left to other clients.
const (
	runCommand     = "item/commandExecution/requestApproval"
	changeFiles    = "item/fileChange/requestApproval"
	addPermissions = "item/permissions/requestApproval"
	askUser        = "item/tool/requestUserInput"
	fillForm       = "mcpServer/elicitation/request"
)

// params are those of all requests; each has some.
type params struct {
	ThreadID   string `json:"threadId"`
	TurnID     string `json:"turnId"`
	ItemID     string `json:"itemId"`
	ApprovalID string `json:"approvalId"`
	Kind       string `json:"kind"`
	Cwd        string `json:"cwd"`
	Reason     string `json:"reason"`

	Environment string `json:"environmentId"`

	Command   string                           `json:"command"`
	Decisions []json.RawMessage                `json:"availableDecisions"`
	Prefix    []string                         `json:"proposedExecpolicyAmendment"`
	Hosts     []json.RawMessage                `json:"proposedNetworkPolicyAmendments"`
	Network   *struct{ Host, Protocol string } `json:"networkApprovalContext"`
	More      json.RawMessage                  `json:"additionalPermissions"`

	GrantRoot   string          `json:"grantRoot"`
	Permissions json.RawMessage `json:"permissions"`
	Questions   []question      `json:"questions"`

	Server  string          `json:"serverName"`
	Mode    string          `json:"mode"`
	Message string          `json:"message"`
	URL     string          `json:"url"`
	Schema  json.RawMessage `json:"requestedSchema"`
	Meta    struct {
		Kind    string          `json:"codex_approval_kind"`
		Persist []string        `json:"persist"`
		Tool    string          `json:"tool_name"`
		Args    json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
}

// asked is a request of Codex's, as it is put to the user.
type asked struct {
	params
	req     ask.Request        // without the asker
	choices []approvals.Choice // of a permission, by option
}

// around is what is known beside a request.
type around struct {
	Home     string // of the user
	Codex    string // CODEX_HOME
	Folder   string // of the session
	OnceOnly bool   // no options that allow more than one call
	Changes  func(item string) []change
	// Runs is asked for [ask.Prompt.Runs] by the shell that a command is for, "" for an edit; nil: no rule allows any.
	Runs func(shell string, programs []string) string
}

// Limits of what can be shown.
const (
	fewLevels = 32        // of nested JSON
	maxString = 256 << 10 // bytes
)

var (
	errTooLarge = errors.New("it is too large to show")
	errSecret   = errors.New("it asks for a secret")
)

// isPrompt reports whether a request is put to the user.
func isPrompt(method string) bool {
	switch method {
	case runCommand, changeFiles, addPermissions, askUser, fillForm:
		return true
	}
	return false
}

// read makes a prompt of a request. What cannot be read can still be shown.
func read(m rpc.Message, in around) *asked {
	p := &ask.Prompt{Kind: kindOf(m.Method), Agent: agent, Door: ask.Shared}
	q := &asked{req: ask.Request{Prompt: p}}
	err := shapes().Err(approvals.Line("method", m.Method, "params", m.Params))
	if levels, longest := rawjson.Measure(m.Params); levels > fewLevels || longest > maxString {
		err = errTooLarge
	} else if err == nil {
		if err = approvals.ErrShape; new(rawjson.Rule).Check(m.Params) == nil && json.Unmarshal(m.Params, &q.params) == nil {
			err = q.fill(m, in)
		}
	}
	if q.ThreadID == "" {
		q.ThreadID, q.ItemID = idsOf(m.Params)
	}
	p.ID = q.identity(m)
	q.req.Local = p.Kind == ask.Permission // anything else is kept until Codex asks again
	switch {
	case err == nil && p.Kind == ask.Permission:
		approvals.Permit(&q.req, q.choices)
	case errors.Is(err, errTooLarge), errors.Is(err, errSecret):
		q.choices = nil
		approvals.InTerminal(&q.req, "Not shown here, because "+err.Error()+".")
	case err != nil:
		q.choices = nil
		approvals.Misread(&q.req, err)
	}
	return q
}

func kindOf(method string) ask.PromptKind {
	switch method {
	case askUser:
		return ask.OwnQuestion
	case fillForm:
		return ask.ServerForm
	}
	return ask.Permission
}

// idsOf are the thread and the item of a request that is not read further.
func idsOf(raw json.RawMessage) (thread, item string) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return "", ""
	}
	return o.Str("threadId"), o.Str("itemId")
}

// identity is the same for a request that is sent again, also over another connection.
func (q *asked) identity(m rpc.Message) string {
	if q.ItemID != "" {
		return strings.Join([]string{m.Method, q.ItemID, q.ApprovalID}, " ")
	}
	sum := sha256.Sum256(m.Params)
	return m.Method + " " + hex.EncodeToString(sum[:12])
}

func (q *asked) fill(m rpc.Message, in around) error {
	var err error
	q.req.Prompt.Words = q.Reason
	switch m.Method {
	case runCommand:
		err = q.command(m.Params, in)
	case changeFiles:
		err = q.files(m.Params, in)
	case addPermissions:
		err = q.permissions()
	case askUser:
		return q.ownQuestions()
	case fillForm:
		err = q.form(in)
	default:
		return approvals.ErrShape
	}
	if err != nil {
		return err
	}
	if in.OnceOnly {
		q.choices = approvals.OnceOnly(q.choices)
	}
	return nil
}

// command reads what Codex wants to run, or to connect to.
func (q *asked) command(raw json.RawMessage, in around) error {
	p, sure := q.req.Prompt, false
	p.Tool, p.Command, sure = unwrap(q.Command)
	if slices.Contains([]string{"sh", "zsh"}, p.Tool) {
		p.Shell = p.Tool
	}
	if sure && in.Runs != nil && q.plain(raw) {
		p.Runs = func(programs []string) string { return in.Runs(cmp.Or(p.Shell, "bash"), programs) }
	}
	switch q.Kind {
	case "", "command", "humanCommand":
	case "writeStdin":
		p.Tool = "input for a running command"
	default:
		return approvals.ErrShape
	}
	if n := q.Network; n != nil {
		p.Tool = "a connection to " + sanitize.Line(n.Host) + " (" + sanitize.Line(n.Protocol) + ")"
	}
	if p.Command == "" && q.Network == nil {
		return approvals.ErrShape
	}
	p.Marks = approvals.Marks(p.Command, in.Folder)
	if q.Cwd != "" && q.Cwd != in.Folder {
		p.Dir, p.Marks = q.Cwd, append(p.Marks, "runs in "+q.Cwd)
	}
	if some(q.More) {
		words, err := describe(q.More)
		if err != nil {
			return err
		}
		p.Marks = append(p.Marks, "with more permissions: "+words)
	}
	return q.commandChoices(in)
}

// files reads which files Codex wants to change.
func (q *asked) files(raw json.RawMessage, in around) error {
	changes := in.Changes(q.ItemID)
	if len(changes) == 0 {
		return approvals.ErrShape
	}
	var err error
	p := q.req.Prompt
	p.Tool = "an edit"
	if len(changes) == 1 {
		p.Path = changes[0].Path
	} else {
		p.Tool = "an edit of " + humanize.Count(len(changes), "file")
	}
	p.Does = &ask.Does{Partial: q.GrantRoot != ""}
	for _, c := range changes {
		p.Does.Files = append(p.Does.Files, ask.ChangedFile{Path: c.Path, Delete: c.Kind.Type == "delete" || c.Kind.Move != "", Make: c.Kind.Type == "add"})
		if c.Kind.Move != "" {
			p.Does.Files = append(p.Does.Files, ask.ChangedFile{Path: c.Kind.Move, Make: true})
		}
	}
	if p.Diff, err = unified(changes, in.Folder); err != nil {
		return err
	}
	if slices.ContainsFunc(changes, func(c change) bool { return !file.Within(in.Folder, c.Path) }) {
		p.Marks = append(p.Marks, approvals.Outside)
	}
	if len(p.Diff) > maxString {
		return errTooLarge
	}
	o, err := rawjson.SplitObject(raw)
	known := o.Only("threadId", "turnId", "itemId", "startedAtMs", "reason", "grantRoot")
	if err == nil && len(known) == len(o) && in.Runs != nil && q.GrantRoot == "" && p.Diff != "" {
		p.Runs = func([]string) string { return in.Runs("", nil) }
	}
	effect := "these files, for the rest of this session"
	if q.GrantRoot != "" {
		effect = "files below " + q.GrantRoot + ", for the rest of this session"
		p.Marks = append(p.Marks, "asks to write below "+q.GrantRoot)
	}
	q.choices = []approvals.Choice{
		approvals.AllowOnce(decision(`"accept"`)),
		{Label: "Allow for this session", Grant: ask.Grant{Allow: true, Scope: ask.ForSession, Effect: effect}, Result: decision(`"acceptForSession"`)},
	}
	q.choices = append(append(q.choices, approvals.Denials(decision(`"decline"`))...), approvals.DenyAndStop(decision(`"cancel"`)))
	return nil
}

// permissions reads what Codex's sandbox is to let through.
func (q *asked) permissions() error {
	words, err := describe(q.Permissions)
	if err != nil {
		return err
	}
	q.req.Prompt.Tool, q.req.Prompt.Args = "more permissions", q.Permissions
	grant := func(scope string) json.RawMessage {
		return json.RawMessage(`{"permissions":` + string(q.Permissions) + `,"scope":"` + scope + `"}`)
	}
	none := json.RawMessage(`{"permissions":{},"scope":"turn"}`)
	q.choices = append([]approvals.Choice{
		{Label: "Allow for this turn", Grant: ask.Grant{Allow: true, Scope: ask.Once, Effect: words + ", until this turn ends"}, Result: grant("turn")},
		{Label: "Allow for this session", Grant: ask.Grant{Allow: true, Scope: ask.ForSession, Effect: words + ", for the rest of this session"}, Result: grant("session")},
	}, approvals.Denials(none)...)
	return nil
}

// form reads what an MCP server asks, or whether one of its tools may be called.
func (q *asked) form(in around) error {
	p := q.req.Prompt
	p.Tool = q.Server
	switch {
	case q.Meta.Kind == "mcp_tool_call" && q.Meta.Tool != "":
		p.Kind, p.Tool, p.Args = ask.Permission, q.Server+"."+q.Meta.Tool, q.Meta.Args
		p.Does = &ask.Does{Server: q.Server, Tool: q.Meta.Tool, Args: q.Meta.Args}
		return q.toolChoices(in)
	case q.Meta.Kind != "":
		return approvals.ErrShape
	case q.Mode == "form", q.Mode == "url":
		var err error
		q.req.Questions, err = approvals.ServerForm(q.Server, q.Mode, q.Message, q.URL, q.Schema)
		return err
	}
	return approvals.ErrShape
}

// some reports whether a value is there and not null.
func some(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
