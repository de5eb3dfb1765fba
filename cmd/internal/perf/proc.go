//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what a process used.
type usage struct {
	rssKB      int64
	ran        time.Duration // on a processor, since its start
	switches   int64         // times it was put aside or woken
	cpuPercent float64       // of one core, over a sample
	wakeups    float64       // a second, over a sample
}

// usageOf reads a process's figures from /proc.
func usageOf(pid int) (usage, error) {
	var u usage
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(tasks) == 0 {
		return u, fmt.Errorf("process %d is gone", pid)
	}
	for _, t := range tasks {
		b, _ := os.ReadFile(t + "/schedstat") // a thread may end meanwhile
		if f := strings.Fields(string(b)); len(f) > 0 {
			n, _ := strconv.ParseInt(f[0], 10, 64)
			u.ran += time.Duration(n)
		}
		u.switches += field(t+"/status", "voluntary_ctxt_switches")
	}
	u.rssKB = field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS")
	return u, nil
}

func field(path, name string) int64 {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
			return n
		}
	}
	return 0
}

// sample watches a process for a while.
func sample(pid int, d time.Duration) (usage, error) {
	before, err := usageOf(pid)
	if err != nil {
		return before, err
	}
	start := time.Now()
	time.Sleep(d)
	after, err := usageOf(pid)
	seconds := time.Since(start).Seconds()
	after.cpuPercent = 100 * (after.ran - before.ran).Seconds() / seconds
	after.wakeups = float64(after.switches-before.switches) / seconds
	return after, err
}
