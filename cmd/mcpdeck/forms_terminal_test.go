//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// A form of a server over standard input and output is filled in by keys, and the
// server gets what was typed.
func TestAFormOfAServerIsFilledInByKeys(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("echo-server")
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t)
	schema := `{"type":"object","required":["name"],"properties":{"name":{"type":"string","title":"Name"},"class":{"type":"string","enum":["1","2"],"enumNames":["first","second"]},"nights":{"type":"integer"},"at":{"type":"object","properties":{"street":{"type":"string"}}}}}`
	d.turnedOn("trains", fmt.Sprintf("command = ['sh', '-c', '''FORM=\"$1\" exec \"$0\"''', %q, '''%s''']\nmode = 'on'\n", program, schema))
	w := d.window()
	w.wide()
	w.key("S")
	w.shows(d, "trains") // else the relay would host the server itself, where nobody can be asked
	a := d.relay()
	a.Handshake("claude")
	d.until("the tools", func() bool { return a.lists("trains_form") })
	a.Send(77, "tools/call", `{"name":"trains_form","arguments":{}}`)
	w.shows(d, "Inbox ◆1")
	w.key("I")
	w.shows(d, "Name*")
	w.keyed("\r", func() bool { return strings.Contains(w.screen(), "enter next") })
	w.key("Ana")
	w.keyed("\r", func() bool { return strings.Contains(w.screen(), "2 second") })
	w.keyed("2", func() bool { return strings.Contains(w.screen(), "whole number") })
	w.key("9007199254740993\r")
	w.key("High St\r")
	w.shows(d, "enter choose")
	w.key("\r")
	if got, want := fmt.Sprint(a.Answer(float64(77))), `{"action":"accept","content":{"name":"Ana","class":"2","nights":9007199254740993,"at":{"street":"High St"}}}`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
