package cards

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
)

// A deck that was started in the home folder must not hand that out as a project.
func TestWhereNoProjectMayBeThereIsNoRoot(t *testing.T) {
	c := settings.Card{Name: "files", Command: []string{"serve", "${root}"}}
	if p, err := Program(c, Machine{Dir: "/home/ana", Home: "/home/ana"}); err == nil || !strings.Contains(err.Error(), "${root}") {
		t.Errorf("it runs %v, %v", p, err)
	}
	p, err := Program(c, Machine{Dir: "/home/ana/shop", Root: "/home/ana/shop"})
	if err != nil || strings.Join(p.Args, " ") != "/home/ana/shop" || p.Dir != "/home/ana/shop" {
		t.Errorf("it runs %v, %v", p, err)
	}
}
