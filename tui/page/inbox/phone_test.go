package inbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// TestAPhoneAnswersEveryPermissionWithinThreeKeys is of a terminal of 40x20, as one on a phone is. The first keys show what is
// not shown yet. A script of 44 lines takes more to be read before it is allowed, and is denied.
func TestAPhoneAnswersEveryPermissionWithinThreeKeys(t *testing.T) {
	for i, r := range append(fake.Prompts(), fake.FrontAllow()) {
		if r.Prompt.Kind != questions.Permission || r.Prompt.Door == questions.InTerminal {
			continue
		}
		answer := "y"
		if strings.Count(r.Prompt.Command, "\n") > 40 {
			answer = "n"
		}
		name := fmt.Sprintf("phone-%d-%s-40x20", i, r.Prompt.Tool)
		t.Run(name, func(t *testing.T) {
			setup{size: frame.Size{W: 40, H: 20}}.run(t, func(d *driver) {
				c := d.prompt(r)
				d.Wait(5 * time.Second)
				if answer == "y" {
					d.Golden(name)
				}
				for key := range 4 {
					select {
					case <-c.Done():
						return
					default:
					}
					if key == 3 {
						t.Errorf("not answered by three keys:\n%s", d.Text())
						return
					}
					d.Keys(answer)
					d.Wait(3 * time.Second)
				}
			})
		})
	}
}
