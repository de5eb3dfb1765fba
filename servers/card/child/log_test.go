package child

import (
	"strings"
	"testing"
	"time"
)

func TestWhyAChildEndedIsTheLineThatSaysSo(t *testing.T) {
	for _, r := range []struct{ name, stderr, want string }{
		{"nothing", "", ""},
		{"the last line", "starting\nno key\n\n", "no key"},
		{"npm's page", "warming up\nnpm error code ETARGET\nnpm error notarget No matching version found for x@9\nnpm error notarget a version that doesn't exist.\nnpm error A complete log of this run can be found in: /x\n", "npm error notarget No matching version found for x@9"},
		{"an older npm's", "npm ERR! code E404\nnpm ERR! 404 Not Found\nnpm ERR! A complete log\n", "npm ERR! 404 Not Found"},
		{"npm's code alone", "npm error code E404\n", "npm error code E404"},
		{"what came after npm", "npm error code E404\nwrapper gave up\n", "wrapper gave up"},
	} {
		var l Log
		l.drain("x", strings.NewReader(r.stderr))
		l.Note("link")
		if got := l.lastWords("x", time.Time{}); got != r.want {
			t.Errorf("%s: %q, want %q", r.name, got, r.want)
		}
	}
}
