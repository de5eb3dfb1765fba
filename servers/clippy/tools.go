package clippy

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
)

var _ host.Module = (*Server)(nil)

// Identity implements host.Module.
func (s *Server) Identity() host.Identity {
	return host.Identity{Name: "clippy", Title: "Clippy", ServerName: "clippy"}
}

// Start implements host.Module.
func (s *Server) Start(_ context.Context, scope host.Scope) error {
	scope.SetState(deck.State{Status: deck.Ready})
	s.begin(hooks{
		changed: scope.Changed,
		trouble: func(text string) {
			if text == "" {
				scope.SetState(deck.State{Status: deck.Ready})
				return
			}
			scope.SetState(deck.State{Status: deck.Degraded, Reason: text + ". Repair it from the palette or fix " + s.MemoryPath()})
		},
	})
	return nil
}

// Stop implements host.Module.
func (s *Server) Stop(context.Context) error {
	s.end()
	return nil
}

// Offer implements host.Module.
func (s *Server) Offer() host.Offer {
	s.mu.Lock()
	names := s.offered()
	s.mu.Unlock()
	var tools []server.ServerTool
	work := map[string]admission.Class{}
	for _, d := range definitions() {
		if slices.Contains(names, d.name) {
			tools = append(tools, server.ServerTool{Tool: d.tool(), Handler: s.handle})
			work[d.name] = admission.Small
		}
	}
	return host.Offer{Tools: tools, Work: work, Refuse: refuse}
}

func refuse(tool string) string {
	for _, d := range definitions() {
		if d.name == tool {
			return tool + " is switched off in the deck; the person can switch it on in its settings"
		}
	}
	return ""
}

func (s *Server) handle(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := host.CallerFrom(ctx)
	a, err := s.call(ctx, req.Params.Name, req.Params.Arguments, who{name: c.Name(), id: c.Agent, root: c.Root, refused: c.Refused})
	if err != nil {
		return mcp.NewToolResultError("Error: " + sentence(err)), nil
	}
	result := mcp.NewToolResultStructured(a.data, a.text)
	if a.more != "" {
		result.Content = append(result.Content, mcp.NewTextContent(a.more))
	}
	return result, nil
}

// definition is a tool as clients see it. The schemas keep to plain keywords,
// since several clients drop or choke on others.
type definition struct {
	name, title, text                 string
	schema                            string
	readOnly, destructive, idempotent bool
}

func (d definition) tool() mcp.Tool {
	t := mcp.NewToolWithRawSchema(d.name, d.text, json.RawMessage(d.schema))
	t.Title = d.title
	t.Annotations = mcp.ToolAnnotation{
		Title: d.title, ReadOnlyHint: &d.readOnly, DestructiveHint: &d.destructive,
		IdempotentHint: &d.idempotent, OpenWorldHint: new(bool),
	}
	return t
}

func definitions() []definition {
	return []definition{
		{
			name: HauntDesktop, title: "Leave a note on the desktop", destructive: true,
			text: "Write a text file onto the person's Desktop, for something they should find there later. " +
				"An existing file is kept unless overwrite is true. Returns the full path.",
			schema: `{"type":"object","properties":{` +
				`"filename":{"type":"string","description":"Plain file name such as note.txt: no folders, no hidden or program files, at most 255 bytes"},` +
				`"content":{"type":"string","description":"Text of the file, at most 1048576 bytes of UTF-8; may be empty"},` +
				`"overwrite":{"type":"boolean","description":"Replace a plain file of that name","default":false}},` +
				`"required":["filename","content"],"additionalProperties":false}`,
		},
		{
			name: PlaySystemSound, title: "Play a system sound",
			text: "Play a short sound on the person's machine to say how something went. Does not wait for the sound to end.",
			schema: `{"type":"object","properties":{` +
				`"type":{"type":"string","enum":["error","warning","success"],"description":"Which sound"}},` +
				`"required":["type"],"additionalProperties":false}`,
		},
		{
			name: ReadProjectContext, title: "List a project directory", readOnly: true, idempotent: true,
			text: "List the files and directories in one directory of the project, with sizes in bytes. Does not read files and does not descend.",
			schema: `{"type":"object","properties":{` +
				`"directoryPath":{"type":"string","description":"Directory inside the project; relative paths start at its root, . is the root"}},` +
				`"required":["directoryPath"],"additionalProperties":false}`,
		},
		{
			name: ManageMemory, title: "Remember or recall a value", idempotent: true,
			text: "Keep a text under a key, or read it back, also in later sessions and from other agents of this deck.",
			schema: `{"type":"object","properties":{` +
				`"action":{"type":"string","enum":["read","write"],"description":"What to do"},` +
				`"key":{"type":"string","description":"Name of the value, at most 256 bytes, no control characters"},` +
				`"value":{"type":"string","description":"For write: the text to keep, at most 65536 bytes; may be empty"}},` +
				`"required":["action","key"],"additionalProperties":false}`,
		},
	}
}
