package mcpserver_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
)

// resource reads a resource as a client in a folder would.
func (s *stage) resource(uri, root string) (string, error) {
	s.T.Helper()
	reply := s.serve("resources/read", map[string]any{"uri": uri}, root)
	if reply.Error != nil {
		return "", errors.New(string(reply.Error))
	}
	var out struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(reply.Result, &out); err != nil {
		return "", err
	}
	return out.Contents[0].Text, nil
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
