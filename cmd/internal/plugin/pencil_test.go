package plugin

import (
	"context"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

func TestPencilAsksOnlyWhereThereIsAUser(t *testing.T) {
	e := &Env{
		Config: config.With(&Pencil{}), Off: func(string, string) string { return "" },
		Start: func(func(string)) func(process.Command) (*process.Child, error) { return nil },
	}
	if o := pencilOptions(e, func() *pencil.Pencil { return nil }); o.Elicit != nil {
		t.Error("without a user there is somebody to ask")
	}
	asked := ""
	e.Queue = ask.New(ask.Options{})
	defer e.Queue.Close()
	e.Form = func(_ context.Context, _ upstream.Elicitation, title, _ string) (upstream.Elicited, error) {
		asked = title
		return upstream.Elicited{}, nil
	}
	p := pencil.New(pencil.Options{})
	if _, err := pencilOptions(e, func() *pencil.Pencil { return p }).Elicit(t.Context(), upstream.Elicitation{}); err != nil || asked != "Pencil" {
		t.Errorf("the user is asked by %q, %v", asked, err)
	}
}
