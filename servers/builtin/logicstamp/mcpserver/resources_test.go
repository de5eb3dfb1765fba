package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// resource reads a resource as a client in a folder would.
func (s *stage) resource(uri, root string) (string, error) {
	s.T.Helper()
	at := 0
	if strings.HasPrefix(uri, "logicstamp://drift/") {
		at = 1
	}
	ctx := router.WithCaller(s.T.Context(), func() snapshot.Caller { return snapshot.Caller{Root: root} })
	out, err := s.module.Offer().Templates[at].Handler(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
	if err != nil {
		return "", err
	}
	return out[0].(mcp.TextResourceContents).Text, nil
}

// Files of snapshots and the newest result are resources, under the checks
// of the tools.
func TestSnapshotFilesAreResources(t *testing.T) {
	s := newStage(t, func(o *logicstamp.Options) { o.ProjectPath = "" })
	refreshed, _ := s.use("logicstamp_refresh_snapshot", nil)
	snapshot := "logicstamp://snapshot/" + refreshed["snapshotId"].(string) + "/"
	if _, err := s.resource(logicstamp.DriftURI(s.Project), s.Project); err == nil {
		t.Error("a result before anything was compared")
	}
	s.use("logicstamp_compare_snapshot", nil)
	for uri, says := range map[string]string{
		snapshot + "index": "LogicStampIndex", snapshot + "context_main.json": "LogicStampIndex", snapshot + "src/context.json": "src/App.tsx",
		logicstamp.DriftURI(s.Project): `"status":"pass"`,
	} {
		if text, err := s.resource(uri, s.Project); err != nil || !strings.Contains(text, says) {
			t.Errorf("%s = %s, %v", uri, text, err)
		}
		if text, err := s.resource(uri, t.TempDir()); err == nil {
			t.Errorf("%s is told to another project's client: %s", uri, text)
		}
	}
	for _, uri := range []string{snapshot + "snapshot.json", snapshot + "../x.json", "logicstamp://snapshot/snap_1/index", "logicstamp://snapshot/", "logicstamp://drift/0000"} {
		if text, err := s.resource(uri, s.Project); err == nil {
			t.Errorf("%s = %s", uri, text)
		}
	}
}
