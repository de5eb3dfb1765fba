package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// addResources adds the resources: files of snapshots, and the newest comparison of a project.
func (h *handlers) addResources() {
	h.srv.AddResourceTemplate(mcp.NewResourceTemplate("logicstamp://snapshot/{id}/{+path}", "Snapshot file",
		mcp.WithTemplateDescription("The index (path index) or a folder file of a snapshot"), mcp.WithTemplateMIMEType("application/json")), h.readSnapshotFile)
	h.srv.AddResourceTemplate(mcp.NewResourceTemplate("logicstamp://drift/{projectHash}", "Drift",
		mcp.WithTemplateDescription("The newest comparison of a project; subscribe to be notified of new ones"), mcp.WithTemplateMIMEType("application/json")), h.readDrift)
}

func jsonResource(uri string, v any) ([]mcp.ResourceContents, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "application/json", Text: string(text)}}, nil
}

func (h *handlers) readSnapshotFile(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	who := backend.CallFrom(ctx).Caller
	id, path, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, "logicstamp://snapshot/"), "/")
	if path == "index" {
		path = "context_main.json"
	}
	out, err := h.readFile(ctx, callFrom(who), logicstamp.ReadArgs{SnapshotID: id, BundlePath: path}, cursor{Tool: "read"}, 0)
	if err != nil {
		return nil, err
	}
	return jsonResource(req.Params.URI, out)
}

func (h *handlers) readDrift(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	who := backend.CallFrom(ctx).Caller
	call := callFrom(who)
	r := h.s.FindResult(call, func(r *compare.Result) bool { return logicstamp.DriftURI(r.ProjectPath) == req.Params.URI })
	if r == nil {
		return nil, problem.New(problem.NoSnapshot, "call logicstamp_compare_snapshot", "nothing has been compared for this resource yet")
	}
	return jsonResource(req.Params.URI, h.pager.pageResult(r, cursor{Tool: "drift"}, 0))
}
