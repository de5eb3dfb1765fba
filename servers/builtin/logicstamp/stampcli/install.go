package stampcli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// Install puts the command into the runner's own folder with npm and tells
// progress as lines. Someone must have agreed to it before: it downloads and
// runs nothing, but later analyses will run what it brought.
func (r *Runner) Install(ctx context.Context, progress func(line string)) (Program, error) {
	if r.opts.InstallDir == "" {
		return Program{}, problem.New(problem.Internal, "install it with `npm install -g "+PackageName+"`", "there is no folder to install stamp into")
	}
	npm, err := process.Find("npm")
	if err != nil {
		return Program{}, problem.New(problem.NodeNotFound, "install Node 20 or newer, which brings npm", "npm was not found").Because(err)
	}
	if err := os.MkdirAll(r.opts.InstallDir, 0o700); err != nil {
		return Program{}, fmt.Errorf("make the folder for stamp: %w", err)
	}
	if progress != nil {
		progress("npm install " + PackageName + "@" + Wanted)
	}
	p := Program{Args: []string{npm}, Path: npm}
	// Scripts of packages are not needed and would be code run unseen.
	res := r.run(ctx, process.Install, p, r.opts.InstallDir, 10*time.Minute, []string{
		"install", "--prefix", r.opts.InstallDir, "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", PackageName + "@" + Wanted,
	})
	if progress != nil {
		for line := range strings.Lines(res.stdout) {
			if line = strings.TrimSpace(line); line != "" {
				progress(line)
			}
		}
	}
	if res.err != nil {
		return Program{}, res.failure(p)
	}
	return r.Locate(ctx, "")
}
