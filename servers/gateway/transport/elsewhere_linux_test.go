package transport_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
)

// TestMain is also a program that carries one connection from its standard input
// to a socket, and the deck's first line back: run under the name of one that
// does. A deck that serves it would keep it waiting for more.
func TestMain(m *testing.M) {
	to := os.Getenv("CARRY_TO")
	if to == "" {
		os.Exit(m.Run())
	}
	c, err := net.Dial("unix", to)
	if err != nil {
		panic(err)
	}
	go func() { _, _ = io.Copy(c, os.Stdin) }()
	line, _ := bufio.NewReader(c).ReadBytes('\n') // what is wrong with it shows in the output
	_, _ = os.Stdout.Write(line)
}

func TestTheDeckServesItsOwnMachineAlone(t *testing.T) {
	path := transporttest.SocketPath(t)
	d := transporttest.StartDeck(t, path)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "socat")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	for name, hello := range map[string]string{
		"an agent":  `{"mcpdeck":1,"cwd":"/project"}`,
		"a command": `{"mcpdeck":1,"control":"echo","args":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(program)
			c.Env = append(os.Environ(), "CARRY_TO="+path)
			c.Stdin = strings.NewReader(hello + "\n")
			out, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(out, []byte("through socat")) || !bytes.Contains(out, []byte(`"final":true`)) {
				t.Errorf("it was told %s", out)
			}
			if n := len(d.Host.Snapshot().Agents); n != 0 {
				t.Errorf("%d agents", n)
			}
		})
	}
	w, err := func() (transport.Welcome, error) {
		c, err := net.Dial("unix", path)
		if err != nil {
			return transport.Welcome{}, err
		}
		defer c.Close()
		w, _, err := transport.Greet(c, transport.Hello{Cwd: "/project"})
		return w, err
	}()
	if err != nil || w.Error != "" {
		t.Errorf("a process beside the deck: %v %s", err, w.Error)
	}
}
