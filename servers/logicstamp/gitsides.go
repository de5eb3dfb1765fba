package logicstamp

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
)

func (s *Service) gitSides(context.Context, Call, string, string, CompareArgs) (*side, *side, error) {
	return nil, nil, problem.New(problem.GitFailed, "", "not built")
}
