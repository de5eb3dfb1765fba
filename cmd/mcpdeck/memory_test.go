//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// memoryOf reads a figure of a process's memory, in MiB.
func memoryOf(t *testing.T, c *exec.Cmd, what string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(what + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Skip("this system does not tell how much memory a process has")
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n >> 10
}

// film is a call that draws an animation of 300 frames of 512×512 pixels, each different, as
// few bytes of source can.
func film(name string) string {
	var text, frames strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, `{type:\"sprite\",name:\"f%d\",size:[512,512],palette:{a:\"#f00\",b:\"#00f\"},regions:{a:{rect:[0,0,512,512]},b:{rect:[%d,0,64,512],z:1}}}\n`, i, i)
		fmt.Fprintf(&frames, `,\"f%d\"`, i)
	}
	return `{"animation":"` + name + `","source":"` + text.String() + `{type:\"animation\",name:\"` + name + `\",frames:[` + frames.String()[1:] + `],duration:40}"}`
}

// TestDrawingFilmsTakesBoundedMemoryAndGivesItBack has agents draw large animations, one of
// them one after the other and then four at once, on a deck with a screen.
func TestDrawingFilmsTakesBoundedMemoryAndGivesItBack(t *testing.T) {
	t.Parallel()
	const most, rest = 1200, 150 // MiB
	d := newDriver(t)
	d.program = programs.Program(t, "cmd/mcpdeck") // the race detector's has memory of its own
	w := d.window()
	d.until("a deck", func() bool {
		out, _ := d.command("doctor").Output()
		return strings.Contains(string(out), "running on")
	})
	returned := func(after string) {
		t.Helper()
		begun := time.Now()
		d.until("the memory is given back", func() bool { return memoryOf(t, w.cmd, "VmRSS") <= rest })
		peak := memoryOf(t, w.cmd, "VmHWM")
		t.Logf("%s: at most %d MiB, and %d within %v", after, peak, memoryOf(t, w.cmd, "VmRSS"), time.Since(begun))
		if peak > most {
			t.Errorf("%s: it took %d MiB", after, peak)
		}
	}
	one := d.relay()
	one.Handshake("one")
	const films = 6 // which are more than the most, if they stay
	for i := range films {
		one.render(100+i, 1, film(fmt.Sprint("film", i%2)))
		one.answers(1)
	}
	returned("films of one agent")
	var four []*agent
	for i := range 4 {
		a := d.relay()
		a.Handshake(fmt.Sprint("agent", i))
		a.render(100, 2, film("film"))
		four = append(four, a)
	}
	for _, a := range four {
		a.answers(2)
	}
	returned("2 films of each of four agents at once")
}
