package logicstamp_test

import (
	"os"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

func TestMain(m *testing.M) { os.Exit(stamptest.Main(m)) }

// standIn is how the stand-in for the stamp command behaves.
type standIn = stamptest.StandIn

// stage is a service over the stand-in with a project.
type stage struct{ *stamptest.Stage }

type stageOption = func(*logicstamp.Options)

func newStage(t testing.TB, b standIn, options ...stageOption) *stage {
	t.Helper()
	return &stage{stamptest.NewStage(t, b, options...)}
}
