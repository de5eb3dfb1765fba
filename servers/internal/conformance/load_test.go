package conformance

import (
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/realtest"
)

// TestWhatARequestSaysUnderLoad runs the two scenarios that depend on the order of messages
// many times at once, which is the load. MCPDECK_TEST_ROUNDS is how many times twenty.
func TestWhatARequestSaysUnderLoad(t *testing.T) {
	realtest.On(t)
	node := findNode(t)
	rounds, _ := strconv.Atoi(os.Getenv("MCPDECK_TEST_ROUNDS")) // 0: once
	targets := map[string]string{"card over HTTP": behindCard(t, true, child.Legacy), "card over stdio": behindCard(t, false, child.Legacy)}
	for range max(rounds, 1) {
		var all sync.WaitGroup
		for name, url := range targets {
			for _, scenario := range []string{"tools-call-with-progress", "tools-call-sampling"} {
				run := suiteRun{name: name, suite: nextSuite, args: []string{"--scenario", scenario, "--spec-version", legacy}}
				for range 5 {
					all.Go(func() { run.against(t, node, url, "expected-failures.yaml") })
				}
			}
		}
		all.Wait()
	}
}
