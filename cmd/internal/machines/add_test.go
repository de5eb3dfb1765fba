package machines

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

func TestWhatAMachinePrintsIsKeptWithinBounds(t *testing.T) {
	var got []string
	l := lines{each: func(line string) { got = append(got, line) }}
	for range 64 {
		if _, err := l.Write(bytes.Repeat([]byte{'x'}, mostLine/16)); err != nil {
			t.Fatal(err)
		}
		if len(l.rest) > mostLine {
			t.Fatalf("%d bytes without the end of a line are kept", len(l.rest))
		}
	}
	if _, err := l.Write([]byte("\none\ntw")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write([]byte("o\n")); err != nil {
		t.Fatal(err)
	}
	if n := len(got); n < 3 || got[n-2] != "one" || got[n-1] != "two" {
		t.Errorf("the last lines are %.20q", got[max(0, n-2):])
	}
}

// TestAMachineThatPrintsWithoutAnEndIsHeardInPart has programs in place of ssh print 20 MB.
func TestAMachineThatPrintsWithoutAnEndIsHeardInPart(t *testing.T) {
	c := func(script string) process.Command {
		return process.Command{Program: "/bin/sh", Args: []string{"-c", script}, Kind: process.Remote}
	}
	const much = "head -c 20000000 /dev/zero | tr '\\0' x"
	out, err := there(c("echo Linux x86_64; "+much+"; yes y | head -n 100000"), nil)
	if kind, _, _ := strings.Cut(out, "\n"); err != nil || kind != "Linux x86_64" || len(out) > 3*mostShown {
		t.Errorf("%d bytes are kept, of the kind %.20q, %v", len(out), kind, err)
	}
	_, err = there(c(much+" >&2; printf '\\033[2J\\nit \\033[1mfails' >&2; exit 1"), nil)
	if err == nil || err.Error() != "it fails" {
		t.Errorf("it fails with %.100v", err)
	}
	d := adding{cfg: &config.Config{}, by: mirror.Reach{Engine: "/bin/false"}, target: "shop1", name: "shop1"}
	if _, err := d.look(); err == nil || !strings.Contains(err.Error(), "reach shop1") {
		t.Errorf("a machine that is not there: %v", err)
	}
}

func TestAMachineIsCalledByItsNameOrByItsWholeAddress(t *testing.T) {
	for target, want := range map[string]string{
		"build1": "build1", "me@build1.example.org": "build1", "root@10.77.0.2": "10.77.0.2", "192.0.2.1": "192.0.2.1", "root@fe80::1": "fe80::1",
	} {
		if got := nameIn(target); got != want {
			t.Errorf("%s is called %s", target, got)
		}
	}
}

// TestAKeyThatSSHDoesNotAcceptIsSaidToBeAcceptedFirst has a program in place of ssh refuse as that does.
func TestAKeyThatSSHDoesNotAcceptIsSaidToBeAcceptedFirst(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte("#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	d := adding{cfg: &config.Config{}, by: mirror.Reach{Environ: os.Environ()}, target: "root@10.77.0.2", name: "10.77.0.2"}
	if _, err := d.look(); err == nil || !strings.Contains(err.Error(), "reach 10.77.0.2: Host key verification failed; its key is not known to ssh") || !strings.Contains(err.Error(), "connect once with ssh root@10.77.0.2") {
		t.Errorf("it fails with %v", err)
	}
}

func TestAMachineThatSaysNothingIsNotWaitedForWithoutEnd(t *testing.T) {
	for name, script := range map[string]string{"asleep": "exec sleep 3600", "deaf": "trap '' INT; sleep 3600; sleep 3600"} {
		err := run(process.Command{Program: "/bin/sh", Args: []string{"-c", script}, Kind: process.Remote}, nil, io.Discard, 50*time.Millisecond)
		if !errors.Is(err, process.ErrLate) {
			t.Errorf("a machine that is %s: %v", name, err)
		}
	}
}
