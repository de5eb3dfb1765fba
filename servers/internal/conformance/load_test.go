package conformance

import (
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestWhatARequestSaysUnderLoad runs the two scenarios that depend on the order of messages
// through a card over HTTP, ten times each at once, which is the load. MCPDECK_TEST_ROUNDS is
// how many times it does so; without it, once.
func TestWhatARequestSaysUnderLoad(t *testing.T) {
	realtest.On(t)
	node := findNode(t)
	rounds, _ := strconv.Atoi(os.Getenv("MCPDECK_TEST_ROUNDS")) // 0 is once
	url := behindCard(t, true, child.Legacy)
	for range max(rounds, 1) {
		var all sync.WaitGroup
		for _, scenario := range []string{"tools-call-with-progress", "tools-call-sampling"} {
			run := suiteRun{suite: nextSuite, args: []string{"--scenario", scenario, "--spec-version", legacy}}
			for range 10 {
				all.Go(func() { run.against(t, node, url, "expected-failures.yaml") })
			}
		}
		all.Wait()
	}
}
