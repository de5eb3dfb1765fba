package app

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"echo-server": decktest.EchoServer})
}
