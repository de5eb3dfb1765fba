// Command canary says of each agent's program whether it still writes what the deck reads and takes what the deck
// answers, and if not, on whose side that is.
//
//	canary [-job ours|pinned|newest] [FILE…]
//
// It runs three jobs of tests: the adapters with what was recorded of the programs (ours), the programs of the versions
// that were tested (pinned), and their newest ones (newest). With -job it runs one, and prints what go test -json
// does. Files with that, such as newest.json, are read in place of running the jobs.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents"
)

func main() {
	one := flag.String("job", "", "run one job: ours, pinned or newest")
	flag.Parse()
	if err := run(*one, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "canary:", err)
		os.Exit(1)
	}
}

func run(one string, files []string, out io.Writer) error {
	if one != "" {
		return test(one, out)
	}
	told := map[string]outcome{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		told[strings.TrimSuffix(filepath.Base(file), ".json")] = read(text)
	}
	for _, name := range []string{ours, pinned, newest} {
		if _, have := told[name]; have || len(files) > 0 {
			continue
		}
		var text bytes.Buffer
		if err := test(name, &text); err != nil {
			return err
		}
		told[name] = read(text.Bytes())
	}
	for _, line := range verdicts(told[ours], told[pinned], told[newest]) {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// The jobs.
const (
	ours   = "ours"
	pinned = "pinned"
	newest = "newest"
)

// test runs the tests of a job. That some fail is no error.
func test(job string, out io.Writer) error {
	args := []string{"test", "-json", "-count=1", "-timeout=60m"}
	env := map[string][]string{ours: {}, pinned: {"MCPDECK_TEST_REAL=1"}, newest: {"MCPDECK_TEST_REAL=1", "MCPDECK_TEST_NEWEST=1"}}[job]
	switch {
	case env == nil:
		return fmt.Errorf("no job %q", job)
	case job == ours:
		args = append(args, "./servers/agents/...")
	default:
		args = append(args, "-run", "(?i)"+strings.Join(names(), "|"), "./cmd/mcpdeck", "./cmd/internal/setup", "./servers/agents/approvals/...")
	}
	c := exec.Command("go", args...)
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), env...), out, os.Stderr
	err := c.Run()
	if c.ProcessState != nil && c.ProcessState.ExitCode() == 1 {
		return nil
	}
	return err
}

// names are what tests with agents' programs have in their names: an agent's ID, or all of the name.
func names() []string {
	all := []string{"^TestRealAgentsKeepTheirContracts$"}
	for _, a := range agents.All() {
		all = append(all, a.ID)
		for _, c := range a.Cells.Columns() {
			if c.Test != "" {
				all = append(all, "^"+c.Test+"$")
			}
		}
	}
	return all
}
