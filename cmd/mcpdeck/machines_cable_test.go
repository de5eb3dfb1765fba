//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// isApart is in the environment of a test that runs in a network namespace of its own.
const isApart = "MCPDECK_TEST_APART"

// setsApart runs a test again in a network namespace of its own, and reports whether that is possible: else
// the test is to go on as it is.
func setsApart(t *testing.T, flags ...string) bool {
	t.Helper()
	if os.Getenv(isApart) != "" {
		return false
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	}
	up := exec.Command("ip", "link", "set", "lo", "up")
	up.SysProcAttr = attr
	if out, err := up.CombinedOutput(); err != nil {
		t.Logf("no network namespaces can be made here, a proxy stands in for the network: %v: %s", err, out)
		return false
	}
	c := exec.Command("sh", append([]string{"-c", `ip link set lo up && exec "$@"`, "sh", os.Args[0], "-test.run=^" + t.Name() + "$", "-test.v", "-test.count=1"}, flags...)...)
	c.Env, c.SysProcAttr = append(os.Environ(), isApart+"=1"), attr
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	switch err := c.Wait(); {
	case err != nil:
		t.Errorf("in a network namespace of its own: %v\n%s", err, &out)
	case strings.Contains(out.String(), "--- SKIP"):
		t.Skip(out.String())
	default:
		t.Log(out.String())
	}
	return true
}

// cable leads from this process's network namespace to another one.
type cable struct{ n int }

// Its ends.
const (
	near = 1
	far  = 2
)

func (c *cable) address(end int) string { return fmt.Sprintf("10.77.%d.%d", c.n, end) }

func (c *cable) name() string { return fmt.Sprint("cable", c.n) }

// starts starts a server in a network namespace of its own, at the far end.
func (c *cable) starts(d *driver, server *exec.Cmd) {
	d.t.Helper()
	script := fmt.Sprintf(`read go && ip link set lo up && ip addr add %s/24 dev %s && ip link set %[2]s up && exec "$@" </dev/null`, c.address(far), c.name())
	server.Args = append([]string{"sh", "-c", script, "sh"}, server.Args...)
	server.Path = "/bin/sh"
	server.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	in, err := server.StdinPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	c.ip(d, "link", "add", c.name(), "type", "veth", "peer", "name", c.name(), "netns", fmt.Sprint(server.Process.Pid))
	c.ip(d, "addr", "add", c.address(near)+"/24", "dev", c.name())
	c.ip(d, "link", "set", c.name(), "up")
	if _, err := in.Write([]byte("go\n")); err != nil {
		d.t.Fatal(err)
	}
}

func (c *cable) ip(d *driver, args ...string) {
	d.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		d.t.Errorf("ip %v: %v: %s", args, err, out)
	}
}
