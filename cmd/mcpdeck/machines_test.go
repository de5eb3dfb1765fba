//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
)

// standInSSH puts a program in front of this home's PATH that runs what it is told in another home,
// as ssh does on another machine.
func (d *driver) standInSSH(there *driver) (pids func() []int) {
	d.t.Helper()
	bin, list := filepath.Join(d.home, "bin"), filepath.Join(d.home, "ssh.pids")
	script := fmt.Sprintf("#!/bin/sh\nfor last; do :; done\necho $$ >>%s\ncd %s\nexec env -i HOME=%s PATH=%s:/usr/bin:/bin sh -c \"$last\"\n", list, there.home, there.home, filepath.Dir(there.program))
	if err := os.Mkdir(bin, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(script), 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.path = bin + ":" + d.path
	return func() (all []int) {
		b, _ := os.ReadFile(list) // there is none before the first
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				all = append(all, pid)
			}
		}
		return all
	}
}

// deckPID is the process of this home's deck; 0 if none runs.
func (d *driver) deckPID() int {
	conn, err := net.Dial("unix", filepath.Join(d.home, ".local/state/mcpdeck/run/deck.sock"))
	if err != nil {
		return 0
	}
	defer conn.Close()
	var w struct{ PID int }
	_, _ = conn.Write([]byte(`{"mcpdeck":1,"control":"status"}` + "\n"))
	_ = json.NewDecoder(conn).Decode(&w) // it may be ending
	return w.PID
}

// endsDeck ends the deck that a link has started in this home.
func (d *driver) endsDeck() {
	d.t.Helper()
	d.t.Cleanup(func() {
		if pid := d.deckPID(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			d.until("the end of the deck", func() bool { return syscall.Kill(pid, 0) != nil })
		}
	})
}

// machines are the other machines of this home's deck.
func (d *driver) machines() []mirror.State {
	out, _ := d.command("remote", "status", "--json").Output()
	var all struct{ Machines []mirror.State }
	_ = json.Unmarshal(out, &all) // no deck may run
	return all.Machines
}

// linked is how it is with the one other machine of this home's deck.
func (d *driver) linked() (s mirror.State) {
	if all := d.machines(); len(all) == 1 {
		s = all[0]
	}
	return s
}

// addsMachine adds the other machine.
func (d *driver) addsMachine(target string) {
	d.t.Helper()
	if out, err := d.command("remote", "add", "--yes", target).CombinedOutput(); err != nil {
		d.t.Fatalf("remote add: %v: %s", err, out)
	}
}

// asksThere starts an agent's question on this machine.
func (d *driver) asksThere(text string) *waiting {
	d.t.Helper()
	w := &waiting{c: d.command("call", "ask", "--json", `{"questions":[{"id":"q","question":"`+text+`","options":["SQLite","Postgres"]}]}`)}
	w.c.Stdout, w.c.Stderr = &w.out, &w.err
	if err := w.c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.kill(w.c) })
	return w
}

// TestAgentsOfAnotherMachineAreAnsweredInThisDeck links two homes by a stand-in for ssh, and
// answers in one what agents ask in the other.
func TestAgentsOfAnotherMachineAreAnsweredInThisDeck(t *testing.T) {
	t.Parallel()
	d, there := newDriver(t), newDriver(t)
	there.session("s1")
	pids := d.standInSSH(there)
	there.endsDeck()
	d.addsMachine("me@build1.example")
	w := d.window()
	w.wide()
	d.until("a link", func() bool { s := d.linked(); return s.Linked && s.Answers })

	asker := there.asksThere("Which database?")
	w.shows(d, "build1:shop")
	w.answers(d, "Which database?", key{"2", ""})
	if err := asker.c.Wait(); err != nil || !strings.Contains(asker.out.String(), "Postgres") {
		t.Fatalf("the agent gets %v: %s %s", err, &asker.out, &asker.err)
	}
	w.shows(d, "Which database? → Postgres")

	hook := there.hook([]string{smallHook(t)}, strings.Replace(permissionEvent, `{`, `{"transcript_path":"/none","cwd":"`+there.project+`",`, 1))
	w.shows(d, "Bash")
	all := pids()
	_ = syscall.Kill(all[len(all)-1], syscall.SIGKILL) // the link
	d.until("the link is lost", func() bool { n := pids(); return len(n) > len(all) && d.linked().Linked })
	if n := d.prompted(); n != 1 {
		t.Errorf("%d permissions are shown after the link was lost and came back", n)
	}
	w.answers(d, "make", key{"y", ""})
	if err := hook.c.Wait(); err != nil || !bytes.Contains(hook.out.Bytes(), []byte(`"allow"`)) {
		t.Errorf("the hook there: %v, %s %s", err, &hook.out, &hook.err)
	}
	d.until("no permission", func() bool { return d.prompted() == 0 && there.prompted() == 0 })

	d.until("the log of the other machine", func() bool {
		out, _ := d.command("remote", "log", "build1", "-n", "5", "tool:ask").Output()
		return strings.Contains(string(out), "Which database?")
	})
	if out, err := d.command("remote", "remove", "build1").CombinedOutput(); err != nil {
		t.Fatalf("remote remove: %v: %s", err, out)
	}
	late := there.asksThere("Which queue?")
	there.until("the question there", func() bool {
		out, _ := there.command("ask", "list").Output()
		return bytes.Contains(out, []byte("Which queue?"))
	})
	if out, _ := d.command("ask", "list").Output(); bytes.Contains(out, []byte("Which queue?")) {
		t.Error("a machine that was removed is still shown")
	}
	if out, _ := there.command("remote", "list", "--json").Output(); !bytes.Contains(out, []byte(`"decks":[]`)) {
		t.Errorf("it still takes answers of this deck: %s", out)
	}
	d.kill(late.c)
}

// TestCallsOfAnotherMachineAreShownInThisDeck has the page of one home list and read what is called in
// another one.
func TestCallsOfAnotherMachineAreShownInThisDeck(t *testing.T) {
	t.Parallel()
	d, there := newDriver(t), newDriver(t)
	d.standInSSH(there)
	there.endsDeck()
	d.addsMachine("me@build1.example")
	w := d.window()
	w.wide()
	d.until("a link", func() bool { return d.linked().Linked })
	w.key("C")
	if out, err := there.command("call", "read_project_context", "directoryPath=.").CombinedOutput(); err != nil {
		t.Fatalf("a call there: %v: %s", err, out)
	}
	w.shows(d, "build1  directoryPath=.")
	w.shows(d, "directoryPath: \"") // what it carried
}

// pathAfar is the PATH of a command that comes over ssh.
func pathAfar(d *driver) string {
	if d.bare {
		return "/usr/bin:/bin"
	}
	return filepath.Dir(d.program) + ":/usr/bin:/bin"
}

// sshServer is a server of the system's ssh that runs as this user.
type sshServer struct {
	*exec.Cmd
	there *driver // the home of who comes
	name  string  // as this home calls it
	cable *cable  // that leads to it; nil: it is on loopback
	road  *road   // on the way to it; nil: none
}

// overSSH has this home reach another one as build1, by the system's ssh.
func (d *driver) overSSH(there *driver) *sshServer {
	d.t.Helper()
	s := &sshServer{name: "build1", there: there}
	d.reaches(s)
	return s
}

// reaches starts a server, by which this home then reaches another one.
func (d *driver) reaches(s *sshServer) {
	d.t.Helper()
	there := s.there
	const server = "/usr/sbin/sshd"
	if _, err := os.Stat(server); err != nil {
		d.t.Skip("no ssh server is installed here: " + server)
	}
	if _, err := os.Stat("/run/sshd"); err != nil && os.Getuid() == 0 {
		d.t.Skip("root needs the folder /run/sshd for an ssh server, and it is not there")
	}
	me, err := user.Current()
	if err != nil {
		d.t.Fatal(err)
	}
	key, configuration := filepath.Join(d.home, "user"), filepath.Join(d.home, "ssh.conf")
	for _, path := range []string{filepath.Join(there.home, "host"), key} {
		if _, err := os.Stat(path); err == nil {
			continue // of the machine before
		}
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
			d.t.Fatalf("make a key: %v: %s", err, out)
		}
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		d.t.Fatal(err)
	}
	host, port := "127.0.0.1", 2222
	if s.cable != nil {
		host = s.cable.address(far)
	} else {
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			d.t.Fatal(err)
		}
		port = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	dir := there.home
	d.makes(filepath.Join(dir, "authorized"), fmt.Sprintf("environment=\"HOME=%s\",environment=\"PATH=%s\" %s", there.home, pathAfar(there), public))
	d.makes(filepath.Join(dir, "sshd.conf"), fmt.Sprintf("Port %d\nListenAddress %s\nHostKey %s/host\nAuthorizedKeysFile %s/authorized\nPidFile none\nUsePAM no\nStrictModes no\nPermitUserEnvironment yes\nPermitRootLogin yes\nPasswordAuthentication no\n", port, host, dir, dir))
	way := port
	if s.road != nil {
		way = s.road.to(d.t, port)
	}
	known, _ := os.ReadFile(configuration) // there is none before the first
	d.makes(configuration, fmt.Sprintf("%sHost %s\n HostName %s\n Port %d\n User %s\n IdentityFile %s\n IdentitiesOnly yes\n StrictHostKeyChecking accept-new\n UserKnownHostsFile %s/known\n", known, s.name, host, way, me.Username, key, d.home))
	// The user's own configuration is found by the user's number, not by HOME.
	bin := filepath.Join(d.home, "bin")
	d.makes(filepath.Join(bin, "ssh"), "#!/bin/sh\nexec /usr/bin/ssh -F "+configuration+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "ssh"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if !strings.HasPrefix(d.path, bin) {
		d.path = bin + ":" + d.path
	}
	s.Cmd = exec.Command(server, "-D", "-E", filepath.Join(dir, "sshd.log"), "-f", filepath.Join(dir, "sshd.conf"))
	if s.cable != nil {
		s.cable.starts(d, s.Cmd)
	} else if err := s.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.kill(s.Cmd) })
	d.until("an ssh server", func() bool {
		c, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	there.endsDeck()
}

// TestAMachineIsReachedByTheRealSSH does the same with the system's ssh.
func TestAMachineIsReachedByTheRealSSH(t *testing.T) {
	t.Parallel()
	d, there := newDriver(t), newDriver(t)
	sshd := d.overSSH(there)
	d.addsMachine("build1")
	d.serve()
	d.until("a link", func() bool { s := d.linked(); return s.Linked && s.Answers })
	asker, seen := there.asksThere("Which database?"), ""
	d.until("the question", func() bool {
		out, _ := d.command("ask", "list", "--json").Output()
		seen = string(out)
		return strings.Contains(seen, "Which database?")
	})
	if seen = strings.ReplaceAll(seen, `": "`, `":"`); !strings.Contains(seen, `"machine":"build1"`) || !strings.Contains(seen, `"identity":"vouched"`) {
		t.Errorf("the question is listed as %s", seen)
	}
	d.kill(sshd.Cmd) // which ends the link; the deck there goes on
	if out, _ := there.command("ask", "list").Output(); !bytes.Contains(out, []byte("Which database?")) {
		t.Error("the question there has gone with the link")
	}
	d.kill(asker.c)
}

// TestTheProgramIsCopiedToAMachineOnceTheUserAgrees goes the way of somebody who adds a machine without mcpdeck, from
// the command to the first answer.
func TestTheProgramIsCopiedToAMachineOnceTheUserAgrees(t *testing.T) {
	t.Parallel()
	d, there := newDriver(t), newDriver(t)
	there.bare = true
	d.overSSH(there)
	copied := filepath.Join(there.home, ".local/bin/mcpdeck")
	out, err := d.command("remote", "add", "build1").CombinedOutput() // without a terminal nobody is asked
	if err == nil || !bytes.Contains(out, []byte("mcpdeck is not on build1: this program is copied to ~/.local/bin/mcpdeck there")) {
		t.Errorf("without an answer: %v, %s", err, out)
	}
	if _, err := os.Lstat(copied); err == nil {
		t.Error("it is copied before the user agrees")
	}

	began := time.Now()
	add := d.terminal(d.command("remote", "add", "build1"))
	d.shows(add, "[y/N]")
	add.press("y\r")
	d.shows(add, "is shown in this deck")
	own, err := os.ReadFile(d.program)
	if err != nil {
		t.Fatal(err)
	}
	if there, err := os.ReadFile(copied); err != nil || !bytes.Equal(there, own) {
		t.Errorf("another program is there: %d bytes, %v", len(there), err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("it is %v, %v", info, err)
	}
	w := d.window()
	w.wide()
	there.program = copied
	d.until("a link", func() bool { s := d.linked(); return s.Linked && s.Answers })
	asker := there.asksThere("Which database?")
	w.answers(d, "Which database?", key{"2", ""})
	if err := asker.c.Wait(); err != nil || !strings.Contains(asker.out.String(), "Postgres") {
		t.Errorf("the agent gets %v: %s %s", err, &asker.out, &asker.err)
	}
	t.Logf("the first question was answered %v after the machine was added", time.Since(began).Round(100*time.Millisecond))
}

// standInEngine puts a program in front of this home's PATH that runs what it is told behind some words in namespaces
// of its own, in another home, as docker exec does in a container.
func standInEngine(d, there *driver, name, words string) {
	d.t.Helper()
	sleeper := exec.Command("unshare", "-Urmp", "--fork", "--mount-proc", "--kill-child", "sh", "-c", "echo in; exec sleep 600")
	out, err := sleeper.StdoutPipe()
	if err == nil {
		err = sleeper.Start()
	}
	if err != nil {
		d.t.Skip("namespaces cannot be made here: ", err)
	}
	d.t.Cleanup(func() { d.kill(sleeper) })
	if n, _ := out.Read(make([]byte, 8)); n == 0 {
		d.t.Skip("namespaces cannot be made here: unshare has ended")
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", sleeper.Process.Pid, sleeper.Process.Pid))
	if err != nil || len(strings.Fields(string(children))) != 1 {
		d.t.Skip("the first process of a namespace cannot be found here: ", err)
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $2 $3\" = '%s' ] || exit 125\nshift 3\ncd %s\nexec env -i HOME=%s PATH=%s:/usr/bin:/bin nsenter -t %s -U -m -p --preserve-credentials -- \"$@\"\n",
		words, there.home, there.home, filepath.Dir(there.program), strings.TrimSpace(string(children)))
	bin := filepath.Join(d.home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.path = bin + ":" + d.path
}

// TestAgentsOfAContainerAreAnsweredInThisDeck plays docker and the devcontainer command by namespaces. Real containers
// are untested.
func TestAgentsOfAContainerAreAnsweredInThisDeck(t *testing.T) {
	t.Parallel()
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		answersInContainer(t, newDriver(t), "docker", []string{"exec", "-i", "shop1"}, "--container", "shop1")
	})
	t.Run("devcontainer", func(t *testing.T) {
		t.Parallel()
		d := newDriver(t)
		answersInContainer(t, d, "devcontainer", []string{"exec", "--workspace-folder", d.project}, "--devcontainer", ".", "--as", "shop1")
	})
}

func answersInContainer(t *testing.T, d *driver, engine string, words []string, flags ...string) {
	t.Helper()
	there := newDriver(t)
	standInEngine(d, there, engine, strings.Join(words, " "))
	if out, err := d.command(append([]string{"remote", "add", "--yes"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("remote add: %v: %s", err, out)
	}
	w := d.window()
	w.wide()
	d.until("a link", func() bool { s := d.linked(); return s.Linked && s.Answers })
	asker := exec.Command(filepath.Join(d.home, "bin", engine), append(words, "mcpdeck", "call", "ask", "--json", `{"questions":[{"id":"q","question":"Which database?","options":["SQLite","Postgres"]}]}`)...)
	var answer bytes.Buffer
	asker.Stdout, asker.WaitDelay = &answer, time.Second // what it has started may outlive it
	if err := asker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.kill(asker) })
	w.shows(d, "shop1:")
	w.answers(d, "Which database?", key{"2", ""})
	if err := asker.Wait(); err != nil || !strings.Contains(answer.String(), "Postgres") {
		t.Errorf("the agent in the container gets %v: %s", err, &answer)
	}
	if out, _ := d.command("remote", "list").Output(); !bytes.Contains(out, []byte("shop1  "+engine+" "+words[2])) {
		t.Errorf("the list says %s", out)
	}
}
