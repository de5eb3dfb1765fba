package ask

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestMain is also a program that carries connections from one socket to
// another, as ssh does: run under such a program's name.
func TestMain(m *testing.M) {
	if from, to := os.Getenv("CARRY_FROM"), os.Getenv("CARRY_TO"); from != "" {
		carry(from, to)
		return
	}
	os.Exit(m.Run())
}

func carry(from, to string) {
	l, err := net.Listen("unix", from+"~")
	if err == nil {
		err = os.Rename(from+"~", from) // it is there only once it listens
	}
	if err != nil {
		panic(err)
	}
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("unix", to)
		if err != nil {
			panic(err)
		}
		go func() { _, _ = io.Copy(out, in); out.Close() }()
		go func() { _, _ = io.Copy(in, out); in.Close() }()
	}
}

// carrier runs a program of a name that brings what comes to a socket to the
// deck, and returns that socket.
func carrier(t *testing.T, d *deck, name string) (far string) {
	t.Helper()
	dir := shortDir(t)
	program := filepath.Join(dir, name)
	far = filepath.Join(dir, "far.sock")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Dir = dir
	c.Env = append(os.Environ(), "CARRY_FROM="+far, "CARRY_TO="+d.l.Path())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	testwait.Until(t, "the carrier listens", func() bool {
		_, err := os.Stat(far)
		return err == nil
	})
	return far
}

func TestACarriedAskerIsNotTakenForItsCarrier(t *testing.T) {
	for _, name := range []string{"ssh", "sshd", "socat", "docker-proxy"} {
		t.Run(name, func(t *testing.T) {
			d := newDeck(t, Options{}, ListenOptions{})
			far := carrier(t, d, name)
			remote(t, NewClient(ClientOptions{Path: far}), Request{Questions: mustParse(t, twoWays), From: From{Client: "claude", Cwd: "/home/her/app"}})
			r := d.pending(1).Items[0].Request
			if r.Verified() || r.Identity() != Claimed || r.Via() != name || r.Cwd() != "/home/her/app" || r.Client() != "claude" {
				t.Errorf("%s, identity %s, via %q, folder %s", r.Client(), r.Identity(), r.Via(), r.Cwd())
			}
			items, err := NewClient(ClientOptions{Path: d.l.Path()}).List()
			if err != nil {
				t.Fatal(err)
			}
			b, _ := json.Marshal(items[0])
			if items[0].Verified || items[0].Identity != Claimed || items[0].Via != name {
				t.Errorf("listed as %s", b)
			}
		})
	}
}

// TestListsOfElsewhereHoldTheirOwnQuestions has an agent here, and one behind each of
// two carriers.
func TestListsOfElsewhereHoldTheirOwnQuestions(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	paths := map[string]string{"here": d.l.Path(), "ssh": carrier(t, d, "ssh"), "docker-proxy": carrier(t, d, "docker-proxy")}
	for who, path := range paths {
		remote(t, NewClient(ClientOptions{Path: path}), Request{Questions: mustParse(t, twoWays), From: From{Client: who}})
	}
	d.pending(3)
	for who, want := range map[string][]string{"here": {"docker-proxy", "here", "ssh"}, "ssh": {"ssh"}, "docker-proxy": {"docker-proxy"}} {
		items, err := NewClient(ClientOptions{Path: paths[who]}).List()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range items {
			got = append(got, it.Asker)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s lists the questions of %v, want %v", who, got, want)
		}
	}
}

func TestSessionsAreNotEndedFromElsewhere(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	path, err := d.l.Session("shop")
	if err != nil {
		t.Fatal(err)
	}
	end := map[string]any{"type": "session", "end": path}
	if err := NewClient(ClientOptions{Path: carrier(t, d, "ssh")}).command(end, nil); err == nil {
		t.Error("ended through ssh")
	}
	if err := NewClient(ClientOptions{Path: d.l.Path()}).command(end, nil); err != nil {
		t.Errorf("from this machine: %v", err)
	}
}

func TestAnAskerOfThisMachineIsSeen(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	remote(t, NewClient(ClientOptions{Path: d.l.Path()}), Request{Questions: mustParse(t, twoWays), From: From{Cwd: "/elsewhere"}})
	r := d.pending(1).Items[0].Request
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if r.Peer.Machine != "" || r.Cwd() != here {
		t.Errorf("machine %q, folder %q", r.Peer.Machine, r.Cwd())
	}
}

func TestWhoAnswersFromElsewhereIsRefused(t *testing.T) {
	for _, name := range []string{"sshd", "socat"} {
		t.Run(name, func(t *testing.T) {
			d, gate := paired(t)
			code := gate.Pair()
			c := NewClient(ClientOptions{Path: carrier(t, d, name), Prove: func(string) (string, error) { return code, nil }})
			answer := []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}}
			if err := c.Answer(1, answer); err == nil || !strings.Contains(err.Error(), "came through "+name) {
				t.Errorf("with the code of the screen: %v", err)
			}
			d.pending(1)
			if tries := gate.State().Tries; len(tries) != 1 || !strings.Contains(tries[0].Why, "came through "+name) {
				t.Errorf("it was asked for a proof, or is not shown: %v", tries)
			}
		})
	}
}
