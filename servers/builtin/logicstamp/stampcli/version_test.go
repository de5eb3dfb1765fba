package stampcli_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
)

func TestVersionsAreOrdered(t *testing.T) {
	list := []stampcli.Version{{0, 1, 9}, {0, 2, 0}, {0, 8, 8}, {0, 9, 0}, {1, 0, 0}}
	for i, a := range list {
		for j, b := range list {
			if a.Less(b) != (i < j) {
				t.Errorf("%s before %s: %v", a, b, a.Less(b))
			}
		}
	}
	if list[2].Newer() || !list[3].Newer() || list[2].Tool() != "logicstamp-context@0.8.8" {
		t.Errorf("%s is newer, or %s is not", list[2], list[3])
	}
}
