//go:build linux

package main

import (
	"bytes"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// hubWith has this home run a hub, to which another one is added as the host build1. It returns what runs a command here.
func hubWith(d, there *driver) (says func(args ...string) string) {
	t := d.t
	t.Helper()
	realtest.On(t)
	programs := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", programs, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	d.path = programs + string(filepath.ListSeparator) + d.path
	says = func(args ...string) string {
		t.Helper()
		out, err := d.command(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	says("hub", "init", "--as", "laptop", "--listen", at)
	server := d.command("hub", "run")
	server.Stderr, server.Stdout = &d.log, &d.log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM) // it ends its nats-server
		_ = server.Wait()
	})
	dials := func() bool {
		c, err := net.Dial("tcp", at)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	d.until("a hub", dials)
	said := says("hub", "add", "build1")
	join := there.command("join")
	join.Stdin = strings.NewReader(said[strings.LastIndex(said, "\n")+1:] + "\n")
	if out, err := join.CombinedOutput(); err != nil {
		t.Fatalf("join: %v: %s", err, out)
	}
	there.endsDeck()
	return says
}

// TestAHubOfTheRealServerBringsWhatWaitsOnAHost goes the way of the page on hubs: the server runs before a host is
// added to it, and before the deck that has made it.
func TestAHubOfTheRealServerBringsWhatWaitsOnAHost(t *testing.T) {
	t.Parallel()
	d, there := newDriver(t), newDriver(t)
	says := hubWith(d, there)
	w := d.window()
	w.wide()
	for _, text := range []string{"Which database?", "Which cache?"} {
		asker := there.asksThere(text)
		w.shows(d, text)
		w.shows(d, "build1:shop")
		w.keyed("2", func() bool { return !strings.Contains(w.screen(), "Needs you 1") })
		if err := asker.c.Wait(); err != nil || !strings.Contains(asker.out.String(), "Postgres") {
			t.Fatalf("the agent gets %v: %s %s\n%s", err, &asker.out, &asker.err, w.screen())
		}
	}
	w.key("C")
	if out, err := there.command("call", "read_project_context", "directoryPath=.").CombinedOutput(); err != nil {
		t.Fatalf("a call there: %v: %s", err, out)
	}
	w.shows(d, "build1  directoryPath=.")
	says("hub", "revoke", "build1")
	d.until("its end as a host", func() bool {
		out, _ := there.command("hub", "status").Output()
		return !bytes.Contains(out, []byte(": linked"))
	})
	if out := says("hub", "status"); strings.Contains(out, "build1") {
		t.Errorf("a host that was revoked is still a member: %s", out)
	}
}
