//go:build linux

package main

import (
	"bytes"
	"flag"
	"path/filepath"
	"strings"
	"testing"
)

var old = flag.String("old", "", "a commit whose mcpdeck is run against this one on two machines")

// TestAnOlderProgramWorksWithThisOneOnAnotherMachine has each of two programs be the deck, and the other one the host,
// by the system's ssh and a hub.
func TestAnOlderProgramWorksWithThisOneOnAnotherMachine(t *testing.T) {
	t.Parallel()
	if *old == "" {
		t.Skip("builds an older mcpdeck; task fleet:old names its commit by -old")
	}
	programs := olderPrograms(t, *old)
	links := map[string]func(d, there *driver){
		"ssh": func(d, there *driver) {
			d.overSSH(there)
			d.addsMachine("build1")
		},
		"hub": func(d, there *driver) { hubWith(d, there) },
	}
	for by, links := range links {
		for _, older := range []string{"deck", "host"} {
			t.Run(by+", an older "+older, func(t *testing.T) {
				t.Parallel()
				d, there := newDriver(t), newDriver(t)
				hook := smallHook(t)
				if older == "host" {
					hook = filepath.Join(programs, "mcpdeck-hook")
				}
				map[string]*driver{"deck": d, "host": there}[older].program = filepath.Join(programs, "mcpdeck")
				there.session("s1")
				links(d, there)
				worksWith(d, there, hook, by == "ssh")
			})
		}
	}
}

// worksWith does all that a user does with another machine, and looks whether its link holds.
func worksWith(d, there *driver, hook string, calls bool) {
	d.t.Helper()
	w := d.window("--page", "inbox")
	w.wide()
	d.until("a link", func() bool { return linkedTo(d) == 1 })
	since := d.linked().Since
	asker := there.asksThere("Which database?")
	w.shows(d, "build1:shop")
	bothAsk(d.t, "Which database?", w)
	w.keyed("3", func() bool { return strings.Contains(w.screen(), "┃ your answer") })
	w.press("DuckDB")
	w.shows(d, "DuckDB")
	w.keyed("\r", func() bool { return !w.asks("Which database?") })
	if err := asker.c.Wait(); err != nil || !strings.Contains(asker.out.String(), "DuckDB") {
		d.t.Errorf("the agent gets %v: %s %s", err, &asker.out, &asker.err)
	}
	waits := there.hook([]string{hook}, strings.Replace(permissionEvent, `{`, `{"transcript_path":"/none","cwd":"`+there.project+`",`, 1))
	w.answers(d, "make", key{"y", ""})
	if err := waits.c.Wait(); err != nil || !bytes.Contains(waits.out.Bytes(), []byte(`"allow"`)) {
		d.t.Errorf("the hook there: %v, %s %s", err, &waits.out, &waits.err)
	}
	w.keyed("A", func() bool { return strings.Contains(w.screen(), "━ Agents 1 ") })
	w.keyed("m", func() bool { return strings.Contains(w.screen(), "claude takes messages in its own terminal") })
	if calls {
		w.keyed("C", func() bool { return strings.Contains(w.screen(), "━ Calls") })
		w.keyed("\x1b", func() bool { return strings.Contains(w.screen(), "Which database?") }) // without the filter
		if out, err := d.command("remote", "log", "build1", "tool:ask").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("Which database?")) {
			d.t.Errorf("its log is %s, %v", out, err)
		}
	}
	if now := d.linked(); !now.Since.Equal(since) || now.Items != 0 {
		d.t.Errorf("the link since %v is now %+v", since, now)
	}
}
