package deck

import (
	"reflect"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestADemoTakesItsBackgroundAndNothingOfTheUsersDeck(t *testing.T) {
	t.Parallel()
	a := &cli.Globals{}
	c := DemoCommand(a)
	if err := c.ParseFlags([]string{"--background", "light"}); err != nil {
		t.Fatal(err)
	}
	a.Flags.Name, a.Flags.State, a.Flags.File, a.Flags.Port, a.Flags.Pages = "work", "/state", "/config.toml", 7337, app.PageIDs()
	want := config.Flags{Background: "light", Page: app.PageIDs()[0], Port: -1, Pages: app.PageIDs()}
	if got := demoFlags(a.Flags); !reflect.DeepEqual(got, want) {
		t.Errorf("its flags are %+v, want %+v", got, want)
	}
}
