package ask

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// TestTheHistoryOfPromptsKeepsNoSecrets settles prompts that carry secrets in every place,
// in memory and on disk.
func TestTheHistoryOfPromptsKeepsNoSecrets(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, shape := range map[string]bool{"redacted": false, "only shapes": true} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "history.jsonl")
			q := New(Options{HistoryFile: file, Redact: redact.Rules{ShapeOnly: shape}})
			r := permissionRequest("1", Shared)
			line := "PASSWORD=" + secret + " make all"
			r.Prompt.Command, r.Prompt.Words, r.Prompt.Diff = line, line, line
			r.Prompt.Args = json.RawMessage(`{"password":"` + secret + `","path":"kept.txt"}`)
			r.Prompt.Grants[0].Effect = line
			r.Questions[0].Options[0] = Option{Label: line, Description: line}
			c := opened(t, q, r)
			decide(t, q, 1, 0)
			if reply, err := c.Reply(); err != nil || reply.Results[0].SelectedOptions[0] != line {
				t.Errorf("the agent gets %+v, %v", reply, err)
			}
			memory, err := json.Marshal(q.Pending().History)
			if err != nil {
				t.Fatal(err)
			}
			rec := q.Pending().History[0]
			if g, ok := rec.Request.Granted(rec.Reply.Results); !ok || !g.Allow {
				t.Errorf("what was decided is lost: %+v", rec)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
			disk, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for where, text := range map[string]string{"memory": string(memory), "disk": string(disk)} {
				if strings.Contains(text, secret) || strings.Contains(text, "kept.txt") == shape || !strings.Contains(text, `"session":"s"`) {
					t.Errorf("%s: %s", where, text)
				}
			}
		})
	}
}

func TestTheHistoryKeepsWhatAToolWasToDo(t *testing.T) {
	args := json.RawMessage(`{"sql":"a"}`)
	for name, c := range map[string]struct {
		does, want *Does
	}{
		"a file":               {&Does{Files: []ChangedFile{{Path: "/p/a", Make: true}}}, &Does{Files: []ChangedFile{{Path: "/p/a", Make: true}}, Args: args}},
		"a call":               {&Does{Server: "db", Tool: "query", Args: args}, &Does{Server: "db", Tool: "query", Args: args}},
		"a page with a secret": {&Does{Page: "https://go.dev/?token=hunter2hunter2"}, nil},
		"many files":           {&Does{Files: make([]ChangedFile, mostFiles+1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "history.jsonl")
			q := New(Options{HistoryFile: file})
			r := permissionRequest("1", Shared)
			r.Prompt.Does, r.Prompt.Args = c.does, args
			opened(t, q, r)
			decide(t, q, 1, 0)
			memory := q.Pending().History[0].Request.Prompt.Does
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
			all := ReadHistory(file)
			if len(all) != 1 {
				t.Fatalf("%d records", len(all))
			}
			for where, got := range map[string]*Does{"memory": memory, "disk": all[0].Request.Prompt.Does} {
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s: %+v", where, got)
				}
			}
		})
	}
}

func TestTheHistoryKeepsTheSizeOfALongPrompt(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	r := permissionRequest("1", Shared)
	r.Prompt.Command = "deploy --token=ghp_0123456789abcdefghijABCDEFGHIJ012345 " + strings.Repeat("x", maxSubject-55)
	r.Prompt.Args = json.RawMessage(`"` + r.Prompt.Command + `"`)
	opened(t, q, r)
	decide(t, q, 1, 1)
	q.SendHeld()
	p := q.Pending().History[0].Request.Prompt
	if !strings.HasPrefix(p.Command, "[4097 bytes, sha256 ") || !strings.HasPrefix(string(p.Args), `"[4099 bytes, sha256 `) {
		t.Errorf("kept is %q and %s", p.Command, p.Args)
	}
	if got := p.Subject(); !strings.HasPrefix(got, "deploy --token=[") || !strings.HasSuffix(got, "xxx…\n"+p.Command) || len(got) > 2*mostBegins {
		t.Errorf("the user is told that it was %q", got)
	}
}
