package app

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	server "github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	penciloffer "github.com/mcpdeck/mcpdeck/servers/builtin/pencil/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestPencilsFormsAreAmongTheQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &App{Config: &config.Config{Dir: "/home/ana/shop"}, Queue: ask.New(ask.Options{Hold: -1})}
		h.prepare()
		got := make(chan upstream.Elicited, 1)
		go func() {
			r, err := h.forms.ask(t.Context(), upstream.Elicitation{
				Message: "Which size?", Schema: json.RawMessage(`{"properties":{"size":{"enum":["s","m"],"enumNames":["small","middle"]}}}`), PID: 42,
				Calls: []upstream.Call{{Agent: "codex", Tool: "pencil_export_nodes"}},
			}, "Pencil", "")
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		synctest.Wait()
		items := h.Queue.Pending().Items
		if len(items) != 1 {
			t.Fatalf("%d requests", len(items))
		}
		r := items[0].Request
		if r.Client() != "Pencil" || r.From.Agent != "for codex" || r.Title != "Pencil asks, for codex's call of pencil_export_nodes" || r.Peer.PID != 42 || r.Questions[0].Question != "Which size?" {
			t.Errorf("the user is asked %+v", r)
		}
		if err := h.Queue.Answer(items[0].ID, []ask.Result{{ID: "form", Content: json.RawMessage(`{"size": "m"}`)}}); err != nil {
			t.Fatal(err)
		}
		if end := h.Queue.Pending().History[0].End(); end != ask.EndSent {
			t.Errorf("before it is known, it says %q", end)
		}
		form := <-got
		if form.Action != "accept" || string(form.Content) != `{"size":"m"}` {
			t.Errorf("Pencil gets %s %s", form.Action, form.Content)
		}
		for _, tt := range []struct {
			reached bool
			want    string
		}{{false, "not taken: its server has ended"}, {true, "answered"}} {
			form.Told(tt.reached)
			if got := h.Queue.Pending().History[0].Words(""); got != tt.want {
				t.Errorf("told %v, it says %q, want %q", tt.reached, got, tt.want)
			}
		}
		if _, err := h.forms.ask(t.Context(), upstream.Elicitation{Schema: json.RawMessage(`[]`)}, "Pencil", ""); err == nil {
			t.Error("a form that is none was put")
		}
		if err := h.Queue.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A machine may be too busy to let a killed program go within the deck's two seconds.
func TestTheDeckOutlivesItsChild(t *testing.T) {
	program := filepath.Join(t.TempDir(), "pencil")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		started, exited := make(chan struct{}), make(chan struct{})
		pencil := server.New(server.Options{Command: program, Home: filepath.Dir(program), Start: func(process.Command) (*process.Child, error) {
			in, ours := io.Pipe()
			out, theirs := io.Pipe()
			gone := func() {
				time.Sleep(3 * time.Second) // on the bubble's clock
				in.Close()
				theirs.Close()
				close(exited)
			}
			close(started)
			return &process.Child{
				In: ours, Out: out, Err: io.NopCloser(strings.NewReader("")), Exited: exited,
				Code: func() string { return "signal: killed" }, Terminate: func() {}, Kill: sync.OnceFunc(func() { go gone() }),
			}, nil
		}})
		h := &App{Config: &config.Config{}, Own: []included{{Instance: &plugin.Instance{Switch: switchOf{pencil}}}}}
		host, err := router.New(router.Options{Servers: []backend.Server{penciloffer.New(pencil)}})
		if err != nil {
			t.Fatal(err)
		}
		h.prepare()
		h.bind(host)
		host.Start()
		pencil.On()
		<-started
		h.Stop()
		select {
		case <-exited:
		default:
			t.Error("the deck has ended and its child has not")
			<-exited
		}
	})
}

// switchOf is the switch of a card.
type switchOf struct{ *server.Pencil }

func (s switchOf) Details() snapshot.Details { return s.Status().Details() }
func (s switchOf) Program() *upstream.Card   { return s.Card }
