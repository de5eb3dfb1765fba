package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Whoever has a fresh clone finds at the top of the README how to run the deck and its
// tests, and CI runs just that.
func TestCIRunsTheREADMEsCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Join(strings.SplitAfter(string(readme), "\n")[:24], "") // a screenful
	block := regexp.MustCompile("(?s)```sh\n(.*?)\n```").FindStringSubmatch(first)
	if block == nil {
		t.Fatal("the README's first screenful has no commands")
	}
	commands := strings.Split(block[1], "\n")
	if len(commands) != 2 || !strings.HasPrefix(commands[0], "go run ") || !strings.HasPrefix(commands[1], "go test ") {
		t.Fatalf("they are %q: want one that runs the deck, and one that runs the tests", commands)
	}
	calls := map[string]string{commands[0]: `new-session .*'` + regexp.QuoteMeta(commands[0]) + `;`, commands[1]: `(?m)^` + regexp.QuoteMeta(commands[1]) + ` -json `}
	for command, call := range calls {
		if !regexp.MustCompile(call).Match(ci) {
			t.Errorf(".ci/run does not call %s", command)
		}
	}
	tasks, err := os.ReadFile("../../Taskfile.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range slices.Sorted(slices.Values(commands)) {
		if !strings.Contains(string(tasks), "["+command+"]") {
			t.Errorf("Taskfile.yml has no task that is %s", command)
		}
	}
}
