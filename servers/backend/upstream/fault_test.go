package upstream

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// A program that ends early at each call is not shown as working, whichever agents call.
func TestAServerThatKeepsCrashingIsNotShownAsWorking(t *testing.T) {
	for name, share := range map[string]Share{"one child": ShareDeck, "a child for each agent": ShareSession} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "fault.json")
				s := shares(t, legacy(), Options{Share: share, Fault: path})
				if sign := s.Status().Sign(); sign.Tone != Good {
					t.Fatalf("at first it is shown as %+v", sign)
				}
				for i := range maxFailures {
					agent := From{Agent: strings.Repeat("a", i+1)}
					s.finished(t, agent)
					s.mu.Lock()
					kill := s.kills[len(s.kills)-1]
					s.mu.Unlock()
					kill()
					synctest.Wait()
					s.SessionEnded(agent.Agent)
					synctest.Wait()
					if st := s.Status(); st.Sign().Tone != Warning || !strings.Contains(st.Sign().Note, "connection lost") || st.Failures != i+1 {
						t.Fatalf("after %d: %+v, %d failures", i+1, st.Sign(), st.Failures)
					}
				}
				if f := LastFault(path); !strings.Contains(f.Text, "fake connection lost: it ended with code 0") || f.Time.IsZero() {
					t.Errorf("kept is %+v", f)
				}
				again := New(Options{Name: "fake", OnDemand: true, Fault: path, Pins: s.opts.Pins})
				again.Start(Events{})
				if text := again.Status().Text(false); !strings.Contains(text, "connection lost") {
					t.Errorf("after a restart of the deck, the status is\n%s", text)
				}
				_ = again.Stop(t.Context())
				s.Reconnect() // the user asks for it
				synctest.Wait()
				s.finished(t, From{Agent: "b"})
				if st := s.Status(); st.Sign().Tone != Good {
					t.Errorf("while it runs, it is shown as %+v", st.Sign())
				}
				testwait.Pass(stableAfter)
				if f := LastFault(path); f != (Fault{}) {
					t.Errorf("once it has lived, %+v is still kept", f)
				}
			})
		})
	}
}
