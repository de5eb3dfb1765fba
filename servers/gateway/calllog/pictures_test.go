package calllog

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestPicturesAreKeptInBounds(t *testing.T) {
	l := New(Options{})
	result := func(data ...string) (images []redact.Image) {
		for _, d := range data {
			images = append(images, redact.Image{MIME: "image/png", Data: d})
		}
		return images
	}
	l.pictures.add(&snapshot.Call{ID: 1}, nil)
	l.pictures.add(&snapshot.Call{ID: 1}, result())
	if list, version := l.Pictures(); len(list) != 0 || version != 0 {
		t.Errorf("%d pictures without any", len(list))
	}
	l.pictures.add(&snapshot.Call{ID: 2, Tool: "shot", AgentName: "codex"}, result("aaaa", "bbbb"))
	list, version := l.Pictures()
	if len(list) != 2 || version != 1 || list[1].Data != "bbbb" || list[1].Index != 1 || list[0].Agent != "codex" || list[0].MIME != "image/png" {
		t.Errorf("pictures %+v, version %d", list, version)
	}
	for id := range uint64(50) {
		l.pictures.add(&snapshot.Call{ID: 10 + id}, result("cccc"))
	}
	if list, _ = l.Pictures(); len(list) != keptPictures || list[0].Call != 59 {
		t.Errorf("%d pictures are kept, the newest of call %d", len(list), list[0].Call)
	}
	big := strings.Repeat("x", keptPictureBytes/2+1)
	l.pictures.add(&snapshot.Call{ID: 100}, result(big))
	l.pictures.add(&snapshot.Call{ID: 101}, result(big))
	if list, _ = l.Pictures(); len(list) != 1 || list[0].Call != 101 {
		t.Errorf("%d pictures are kept beside large ones", len(list))
	}
}
