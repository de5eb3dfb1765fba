package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// templates are the resources: files of snapshots, and the newest comparison of
// a project.
func (m *Module) templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{
		{
			Template: mcp.NewResourceTemplate("logicstamp://snapshot/{id}/{+path}", "Snapshot file",
				mcp.WithTemplateDescription("The index (path index) or a folder file of a snapshot"), mcp.WithTemplateMIMEType("application/json")),
			Handler: m.readSnapshotFile,
		},
		{
			Template: mcp.NewResourceTemplate("logicstamp://drift/{projectHash}", "Drift",
				mcp.WithTemplateDescription("The newest comparison of a project; subscribe to be notified of new ones"), mcp.WithTemplateMIMEType("application/json")),
			Handler: m.readDrift,
		},
	}
}

func jsonResource(uri string, v any) ([]mcp.ResourceContents, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "application/json", Text: string(text)}}, nil
}

func (m *Module) readSnapshotFile(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	who := router.CallerFrom(ctx)
	id, path, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, "logicstamp://snapshot/"), "/")
	if path == "index" {
		path = "context_main.json"
	}
	out, err := m.readFile(ctx, callFrom(who), logicstamp.ReadArgs{SnapshotID: id, BundlePath: path}, cursor{Tool: "read"}, 0)
	if err != nil {
		return nil, err
	}
	return jsonResource(req.Params.URI, out)
}

func (m *Module) readDrift(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	who := router.CallerFrom(ctx)
	call := callFrom(who)
	r := m.s.FindResult(call, func(r *compare.Result) bool { return logicstamp.DriftURI(r.ProjectPath) == req.Params.URI })
	if r == nil {
		return nil, problem.New(problem.NoSnapshot, "call logicstamp_compare_snapshot", "nothing has been compared for this resource yet")
	}
	return jsonResource(req.Params.URI, m.pager.pageResult(r, cursor{Tool: "drift"}, 0))
}
