package app

import (
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	programs "github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
)

// grants are what agents were allowed in their own files.
type grants struct{ now func() *config.Config }

func (g grants) List(folders []string) granted.List {
	return programs.Granted(granted.At(g.now().ClientFolders(), folders))
}
