package upstream

import (
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
)

// Without a prefix, another server's names are not taken for its own.
func TestACardWithoutAPrefixKnowsItsToolsByTheirNames(t *testing.T) {
	c := New(Options{Name: "git-hub", Catalogue: catalogue.Options{Bare: true}})
	tools, _ := catalogue.Read([]json.RawMessage{json.RawMessage(`{"name":"commit"}`)})
	c.update(func() {
		c.offer = catalogue.New(catalogue.Listing{Tools: tools}, catalogue.Verdict{}, c.opts.Catalogue)
	})
	for name, owns := range map[string]bool{"commit": true, "git_hub_status": true, "push": false, "": false} {
		if (c.Published().Refuse(name) != "") != owns {
			t.Errorf("%q: %q", name, c.Published().Refuse(name))
		}
	}
	if c.Options().StatusTool() != "git_hub_status" {
		t.Errorf("the status tool is %s", c.Options().StatusTool())
	}
}
