//go:build unix

package codex

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// schemas are Codex's own description of what its daemon and its clients send.
func schemas(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command(realtest.Agent(t, "codex"), "app-server", "generate-json-schema", "--experimental", "--out", dir)
	c.Env = []string{"HOME=" + dir, "PATH=" + filepath.Dir(realtest.Agent(t, "node")) + ":" + os.Getenv("PATH")}
	if err := realtest.Run(c); err != nil {
		t.Fatal(err)
	}
	return dir
}

func compiled(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, raw []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%s: %v", raw, err)
	}
}

// methods are those of a list of messages.
func methods(t *testing.T, file string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	var list struct {
		OneOf []struct {
			Properties struct{ Method struct{ Enum []string } }
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list.OneOf {
		all = append(all, m.Properties.Method.Enum...)
	}
	return all
}

func TestTheRealProtocolIsTheOneThatIsSpoken(t *testing.T) {
	dir := schemas(t)
	wanted := []string{
		"thread/started", "thread/status/changed", "thread/closed", "thread/deleted", "thread/name/updated", "thread/settings/updated",
		"item/started", "item/completed", "serverRequest/resolved", "thread/readState/changed", quotaChanged,
	}
	notices := methods(t, filepath.Join(dir, "ServerNotification.json"))
	for _, m := range wanted {
		if !slices.Contains(notices, m) {
			t.Errorf("there is no %s any more", m)
		}
	}
	for _, m := range notices {
		if slices.Contains(wanted, m) == slices.Contains(unwanted(), m) {
			t.Errorf("%s is neither wanted nor declined, or both", m)
		}
	}
	requests := methods(t, filepath.Join(dir, "ServerRequest.json"))
	for _, m := range []string{runCommand, changeFiles, addPermissions, askUser, fillForm} {
		if !slices.Contains(requests, m) {
			t.Errorf("there is no %s any more", m)
		}
	}
	calls := methods(t, filepath.Join(dir, "ClientRequest.json"))
	for _, m := range []string{"initialize", "thread/loaded/list", "thread/list", "thread/read", "thread/resume", "thread/unsubscribe", "thread/turns/list", "turn/start", "turn/steer", readQuota} {
		if !slices.Contains(calls, m) {
			t.Errorf("there is no %s any more", m)
		}
	}
	valid(t, compiled(t, filepath.Join(dir, "v2", "GetAccountRateLimitsResponse.json")), []byte(quotaResponse))
	valid(t, compiled(t, filepath.Join(dir, "v2", "AccountRateLimitsUpdatedNotification.json")), []byte(quotaResponse))
	valid(t, compiled(t, filepath.Join(dir, "v2", "NullableGetAccountRateLimitsParams.json")), []byte(`{"excludeResetCreditDetails":true}`))
	unknown := strings.NewReplacer(`{"somethingNew":{}},"somethingElse",`, "")
	for _, tt := range []struct{ method, file, params string }{
		{runCommand, "CommandExecutionRequestApproval", unknown.Replace(commandParams)},
		{runCommand, "CommandExecutionRequestApproval", networkParams},
		{changeFiles, "FileChangeRequestApproval", filesParams},
		{addPermissions, "PermissionsRequestApproval", permsParams},
		{askUser, "ToolRequestUserInput", askParams},
		{fillForm, "McpServerElicitationRequest", toolParams},
		{fillForm, "McpServerElicitationRequest", formParams},
		{fillForm, "McpServerElicitationRequest", urlParams},
	} {
		valid(t, compiled(t, filepath.Join(dir, tt.file+"Params.json")), []byte(tt.params))
		answers := compiled(t, filepath.Join(dir, tt.file+"Response.json"))
		q := readFor(tt.method, tt.params)
		replies := []ask.Reply{{Status: ask.Declined}}
		for _, o := range q.req.Questions[0].Options {
			replies = append(replies, ask.Reply{Results: []ask.Result{{SelectedOptions: []string{o.Label}}}})
		}
		if tt.method == fillForm {
			replies = append(replies, ask.Reply{Results: []ask.Result{{Content: json.RawMessage(`{"colour":"red"}`)}}}, ask.Reply{Results: []ask.Result{{Skipped: true}}})
		}
		for _, r := range replies {
			if result, _, ok := q.answer(r); ok {
				valid(t, answers, result)
			}
		}
	}
}
