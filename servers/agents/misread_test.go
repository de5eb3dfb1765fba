//go:build unix

package agents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestAPromptThatIsNotUnderstoodNamesItsField has OpenCode's plugin report what its program wrote, and
// the same without a field that the deck needs.
func TestAPromptThatIsNotUnderstoodNamesItsField(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "metadata": "OpenCode 1.18.33: prompts not understood (permission.asked: field metadata missing)", "tool": "",
	} {
		t.Run("without "+name, func(t *testing.T) {
			s := newStage(t, "opencode")
			lines := recorded(t, "opencode", "1.18.33")
			synctest.Test(t, func(t *testing.T) {
				s.t = t
				s.opens()
				c := s.connects(0)
				fmt.Fprintln(c, `{"v":1,"hello":"opencode","mode":"stream","directory":"/src/shop","version":"1.18.33"}`)
				for _, line := range lines {
					if bytes.Contains(line, []byte(`"permission.asked"`)) {
						if name != "" {
							line = without(t, line, "properties."+name, nil)
						}
						var e struct{ Properties json.RawMessage }
						if err := json.Unmarshal(line, &e); err != nil {
							t.Fatal(err)
						}
						fmt.Fprintf(c, `{"event":"permission.asked","properties":%s}`+"\n", e.Properties)
						break
					}
				}
				testwait.Pass(time.Second)
				all, items := s.roster.Sessions(), s.q.Pending().Items
				if len(all) != 1 || len(items) != 1 || all[0].Note != want || items[0].Request.InTerminal() != (want != "") {
					t.Errorf("the rows are %+v, open is %+v", all, items)
				}
				c.HangUp()
				s.stop()
			})
		})
	}
}
