package main

import (
	"reflect"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestADemoTakesItsBackgroundAndNothingOfTheUsersDeck(t *testing.T) {
	t.Parallel()
	a := &app{}
	c := demoCommand(a)
	if err := c.ParseFlags([]string{"--background", "light"}); err != nil {
		t.Fatal(err)
	}
	a.flags.Name, a.flags.State, a.flags.File, a.flags.Port, a.flags.Pages = "work", "/state", "/config.toml", 7337, pageIDs()
	want := config.Flags{Background: "light", Page: pageIDs()[0], Port: -1, Pages: pageIDs()}
	if got := demoFlags(a.flags); !reflect.DeepEqual(got, want) {
		t.Errorf("its flags are %+v, want %+v", got, want)
	}
}
