package mcpserver

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestWhatNoDeckHasIsOnNobodysScreen(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "none.sock")
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Remote(questions.NewClient(questions.ClientOptions{Path: nowhere, Wait: time.Hour})), nil, "somebody")
		ch := b.start(askParams(oneQuestion, "t"))
		testwait.Pass(40 * time.Second)
		var last string
		for len(b.ses.notes) > 0 {
			last, _ = (<-b.ses.notes).Params.AdditionalFields["message"].(string)
		}
		if !strings.Contains(last, "waiting for mcpdeck, which has been away for 30s") {
			t.Errorf("progress says %q", last)
		}
		s := (<-ch).StructuredContent
		if s.Status != "pending" || strings.Contains(s.Message, "on their screen") || strings.Contains(s.Message, "waits for them") ||
			!strings.Contains(s.Message, "mcpdeck is not running") {
			t.Errorf("told: %+v", s)
		}
		testwait.Pass(time.Hour) // the client gives up
	})
}

func TestACallThatWentOnElsewhereCountsFromItsBeginning(t *testing.T) {
	asking(t, "codex-mcp-client", func(t *testing.T, q *questions.Queue, b *bench) {
		t.Helper()
		params := askParams(oneQuestion, "t")
		params["_meta"] = map[string]any{"progressToken": "t", backend.AskedMeta: time.Now().Add(-200 * time.Second).UnixMilli()}
		start := time.Now()
		ch := b.start(params)
		synctest.Wait()
		if at, _ := (<-b.ses.notes).Params.AdditionalFields["progress"].(float64); at < 200 {
			t.Errorf("progress went back to %v", at)
		}
		<-ch
		if got, want := time.Since(start), 80*time.Second; got != want {
			t.Errorf("handed over after %v, want %v: the client counts from its call", got, want)
		}
	})
}

func TestAModelIsToldWhatARefusalMeansForItsQuestion(t *testing.T) {
	for want, err := range map[string]error{
		"an internal error. Ask in the chat":                   errors.New("disk full"),
		"not running, so nobody saw the question":              &questions.Error{Code: "unavailable"},
		"closed while the question waited":                     &questions.Error{Code: "shutdown"},
		"There is no question with this id.":                   &questions.Error{Code: "unknown", Message: "no question with this id"},
		"not shown to the user: too long. Correct this":        &questions.Error{Code: "invalid", Message: "invalid request: too long"},
		"limit 9. Wait for answers to those you asked before":  &questions.Error{Code: "busy", Message: "limit 9"},
		"that call gets the answer":                            &questions.Error{Code: "superseded"},
		"could not be shown to the user: odd. Ask in the chat": &questions.Error{Code: "internal", Message: "odd"},
	} {
		if got := resultText(failure(err)); !strings.Contains(got, want) {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

func resultText(r *mcp.CallToolResult) string {
	if len(r.Content) != 1 || !r.IsError {
		return ""
	}
	text, _ := r.Content[0].(mcp.TextContent)
	return text.Text
}
