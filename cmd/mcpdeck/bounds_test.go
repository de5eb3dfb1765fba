//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// render asks for n pictures at once; the ids begin with first.
func (a *agent) render(first, n int, args string) {
	a.t.Helper()
	for i := range n {
		a.Send(first+i, "tools/call", `{"name":"pixelsrc_render","arguments":`+args+`}`)
	}
}

// answers waits for n results that are no errors. What this machine is too busy for in the
// time of a call has taken its memory all the same.
func (a *agent) answers(n int) {
	a.t.Helper()
	for limit := time.After(testwait.Patience); n > 0; {
		select {
		case m, ok := <-a.Lines:
			if !ok {
				a.t.Fatal("the relay has ended")
			}
			if m["id"] == nil || m["method"] != nil {
				continue
			}
			n--
			if result, ok := m["result"].(map[string]any); ok && result["isError"] != true {
				continue
			}
			if text := fmt.Sprint(m); !strings.Contains(text, "timed out after") && !strings.Contains(text, "did not respond within") {
				a.t.Fatalf("answered %v", m)
			}
			a.t.Logf("answered %v", m)
		case <-limit:
			a.t.Fatalf("%d answers have not come", n)
		}
	}
}

// peak is the most memory that a process has had, in KiB.
func peak(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	most := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if most == nil {
		t.Skip("this system does not tell the most memory that a process has had")
	}
	n, err := strconv.Atoi(string(most[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Two pictures of this size are drawn at once for an agent, the others wait.
func TestManyCallsAtOnceTakeTheDeckTheMemoryOfAFew(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the most memory that a process has had is read from /proc, which only Linux has")
	}
	d := newDriver(t)
	deck := d.serve()
	a := d.relay()
	a.Handshake("many")
	const picture = `{"source":"{type:\"sprite\",name:\"c\",size:[1024,1024],palette:{a:\"#f00\"},regions:{a:{rect:[0,0,1024,1024]}}}"}`
	idle := peak(t, deck)
	for i := range 4 { // until the garbage between two collections is at its most, too
		a.render(100+10*i, 2, picture)
		a.answers(2)
	}
	few := peak(t, deck) - idle
	a.render(1000, 16, picture)
	a.answers(16)
	many := peak(t, deck) - idle
	t.Logf("idle %d MiB, and for 2 at once %d, for 16 %d", idle>>10, few>>10, many>>10)
	if many > 2*few {
		t.Errorf("16 calls at once took %d MiB, 2 take %d", many>>10, few>>10)
	}
}

func TestWorkInTheDeckEndsWithTheRelayThatAskedForIt(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.serve()
	a := d.relay()
	a.Handshake("leaver")
	var colours, regions, first, second strings.Builder
	for i := range 64 {
		fmt.Fprintf(&colours, `,t%d:\"#%06x\"`, i, i*65793)
		fmt.Fprintf(&regions, `,t%d:{rect:[%d,0,8,512]}`, i, i*8)
		half := &first
		if i > 30 {
			half = &second
		}
		fmt.Fprintf(half, `,\"t%d\"`, i)
	}
	// Colours that go round at two paces: seconds of work from little text.
	long := `{"animation":"an","source":"{type:\"sprite\",name:\"w\",size:[512,512],palette:{` + colours.String()[1:] + `},regions:{` + regions.String()[1:] +
		`}}\n{type:\"animation\",name:\"an\",frames:[\"w\"],duration:10,palette_cycle:[{tokens:[` + first.String()[1:] + `],fps:7},{tokens:[` + second.String()[1:] + `],fps:11}]}"}`
	const calls = 30
	a.render(100, calls, long)
	a.Request("ping", "{}") // requests are read in their order
	d.kill(a.Cmd)
	count := func(flags ...string) int {
		out, _ := d.command(append([]string{"log", "-n", "0", "--json", "--tool", "pixelsrc_render"}, flags...)...).Output()
		return bytes.Count(out, []byte("\n"))
	}
	d.until("all calls are over", func() bool { return count() == calls })
	if n := count("--status", "cancelled"); n < calls-2 { // two may be done at that moment
		t.Errorf("%d of %d calls were ended with their agent", n, calls)
	}
}

// TestLongListingsTakeLittleAndLetOthersCall has an agent list a folder of 60,000 files many
// times at once, while another one has a call.
func TestLongListingsTakeLittleAndLetOthersCall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the most memory that a process has had is read from /proc, which only Linux has")
	}
	const files, calls, most = 60_000, 16, 300 // MiB
	d := newDriver(t)
	if err := os.Mkdir(filepath.Join(d.project, "many"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		name := strings.Repeat("A-long-name-", 10) + strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(d.project, "many", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deck := d.serve()
	a, other := d.relay(), d.relay()
	a.Handshake("lists")
	other.Handshake("other")
	idle := peak(t, deck)
	for i := range calls {
		a.Send(100+i, "tools/call", `{"name":"read_project_context","arguments":{"directoryPath":"many"}}`)
	}
	a.answers(1) // they are being read
	other.Request("tools/call", `{"name":"manage_memory","arguments":{"action":"read","key":"x"}}`)
	other.Request("tools/call", `{"name":"read_project_context","arguments":{"directoryPath":"."}}`)
	if left := calls - 1 - len(a.Lines); left == 0 {
		t.Error("another agent's calls waited for all listings")
	} else {
		t.Logf("another agent's calls were answered before %d of %d listings", left, calls)
	}
	a.answers(calls - 1)
	took := (peak(t, deck) - idle) >> 10
	t.Logf("idle %d MiB, and %d more at the most", idle>>10, took)
	if took > most {
		t.Errorf("%d listings at once took %d MiB", calls, took)
	}
}
