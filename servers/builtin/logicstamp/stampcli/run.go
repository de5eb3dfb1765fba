package stampcli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// keepOutput is how much of each output stream is kept, from its end.
const keepOutput = 64 << 10

// killAfter is how long a program may take to end after it was asked to. The
// deck itself ends within two seconds, calls in flight included.
const killAfter = 500 * time.Millisecond

// result is what one run of the command gave.
type result struct {
	args           []string
	dir            string
	stdout, stderr string
	elapsed        time.Duration
	limit          time.Duration
	timedOut       bool
	err            error
}

func (r result) exited() bool {
	_, exited := process.ExitCode(r.err)
	return exited
}

func (r result) exitCode() int {
	code, _ := process.ExitCode(r.err)
	return code
}

// tail keeps the end of what is written to it.
type tail struct{ buf []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - keepOutput; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// run starts the program with an argument vector and waits for it.
func (r *Runner) run(ctx context.Context, kind process.Kind, p Program, dir string, limit time.Duration, args []string) result {
	start := time.Now()
	deadline, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	all := append(append([]string(nil), p.Args[1:]...), args...)
	var out, errs tail
	err := process.Run(deadline, process.Command{
		Program: p.Args[0], Args: all, Dir: dir, Kind: kind, Own: r.opts.Environment, Extra: []string{"NO_COLOR=1"},
	}, process.Streams{Out: &out, Err: &errs, Polite: killAfter})
	res := result{
		args: append(p.Args[:1:1], all...), dir: dir, stdout: string(out.buf), stderr: string(errs.buf),
		elapsed: time.Since(start), limit: limit, err: err,
	}
	if err != nil && ctx.Err() != nil {
		res.err = ctx.Err()
	} else if err != nil && deadline.Err() != nil {
		res.timedOut = true
	}
	return res
}

func nodeMissing(r result) *problem.Error {
	if r.exitCode() == 127 || (strings.Contains(r.stderr, "env:") && strings.Contains(r.stderr, "node") && strings.Contains(r.stderr, "No such file")) {
		return problem.New(problem.NodeNotFound, "install Node 20 or newer and see that `node` is on PATH", "node, which the stamp command runs on, was not found")
	}
	return nil
}

// failure names what went wrong in a run that failed.
func (r result) failure(p Program) error {
	command := strings.Join(r.args, " ")
	switch {
	case r.timedOut:
		return problem.New(problem.CLITimeout, "raise logicstamp.stamp_seconds (logicstamp.compare_modes_seconds to compare modes), or leave files out with .stampignore",
			"`%s` in %s did not finish within %s and was stopped after %s", command, r.dir, r.limit, r.elapsed.Round(100*time.Millisecond)).Because(r.err)
	case errors.Is(r.err, context.Canceled), errors.Is(r.err, context.DeadlineExceeded):
		return r.err
	case !r.exited():
		return problem.New(problem.CLIFailed, "see that logicstamp.command names a program", "`%s` could not be started: %v", command, r.err).Because(r.err)
	}
	if e := nodeMissing(r); e != nil {
		return e
	}
	for _, known := range knownFailures() {
		if m := known.pattern.FindStringSubmatch(r.stderr + "\n" + r.stdout); m != nil {
			return known.make(m, p.Version)
		}
	}
	last := lastLines(r.stderr, r.dir)
	if last == "" {
		last = lastLines(r.stdout, r.dir)
	}
	return problem.New(problem.CLIFailed, "run the command by hand to see more", "`%s` ended with exit code %d: %s", command, r.exitCode(), last).Because(r.err)
}

type knownFailure struct {
	pattern *regexp.Regexp
	make    func(m []string, v Version) *problem.Error
}

// knownFailures maps what the command says to what we say, first match first.
func knownFailures() []knownFailure {
	fixed := func(code problem.Code, next, text string) func([]string, Version) *problem.Error {
		return func([]string, Version) *problem.Error { return problem.New(code, next, "%s", text) }
	}
	noSources := fixed(problem.NoSources, "check projectPath and .stampignore",
		"there is nothing to analyse: only .ts and .tsx files count, without tests, node_modules, dist, build, .next, coverage and dot folders, and .stampignore may leave more out")
	return []knownFailure{
		{regexp.MustCompile(`No (?:React/)?TypeScript modules found under`), noSources},
		{regexp.MustCompile(`No components found to analyze`), noSources},
		{
			regexp.MustCompile(`No bundles could be (?:generated|compiled)`),
			fixed(problem.NoRoots, "add an entry component that nothing else renders", "all components render each other, so there is no root to start from"),
		},
		{regexp.MustCompile(`Unknown option: (\S+)`), func(m []string, v Version) *problem.Error {
			return problem.New(problem.CLITooOld, "update it with `npm install -g "+PackageName+"@latest`",
				"stamp %s does not know the option %s; %s is needed", v, m[1], Wanted)
		}},
		{regexp.MustCompile(`Permission denied writing to: "([^"]*)"`), func(m []string, _ Version) *problem.Error {
			return problem.New(problem.CLIPermission, "give the user of this program the right to write there", "stamp may not write to %s", m[1])
		}},
	}
}

// lastLines gives the last 20 lines without stack frames; absolute paths
// outside the project keep only their last part.
func lastLines(text, project string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimSpace(line); trimmed == "" || strings.HasPrefix(trimmed, "at ") {
			continue
		}
		lines = append(lines, shortenPaths(line, project))
	}
	if len(lines) > 20 {
		lines = lines[len(lines)-20:]
	}
	return clip(strings.Join(lines, "\n"), 4000)
}

func shortenPaths(line, project string) string {
	return regexp.MustCompile(`(?:/[^\s/:"'()]+)+`).ReplaceAllStringFunc(line, func(p string) string {
		if project != "" && (p == project || strings.HasPrefix(p, project+"/")) || strings.Count(p, "/") < 2 {
			return p
		}
		return filepath.Base(p)
	})
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + fmt.Sprintf("… (%s more)", humanize.Count(len(s)-n, "byte"))
}
