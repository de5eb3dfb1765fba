package child

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

func TestWhyAChildEndedIsTheLineThatSaysSo(t *testing.T) {
	for _, r := range []struct{ name, stderr, want string }{
		{"nothing", "", ""},
		{"the last line", "starting\nno key\n\n", "no key"},
		{"npm's page", "warming up\nnpm error code ETARGET\nnpm error notarget No matching version found for x@9\nnpm error notarget a version that doesn't exist.\nnpm error A complete log of this run can be found in: /x\n", "npm error notarget No matching version found for x@9"},
		{"an older npm's", "npm ERR! code E404\nnpm ERR! 404 Not Found\nnpm ERR! A complete log\n", "npm ERR! 404 Not Found"},
		{"npm's code alone", "npm error code E404\n", "npm error code E404"},
		{"what came after npm", "npm error code E404\nwrapper gave up\n", "wrapper gave up"},
		{"brave-search", "Error: A Brave API key is required via --brave-api-key, BRAVE_API_KEY or BRAVE_API_KEY_FILE.\nInvalid configuration\n", "Error: A Brave API key is required via --brave-api-key, BRAVE_API_KEY or BRAVE_API_KEY_FILE."},
		{"supabase", "Please provide a personal access token (PAT) with the --access-token flag or set the SUPABASE_ACCESS_TOKEN environment variable\nbye\n", "Please provide a personal access token (PAT) with the --access-token flag or set the SUPABASE_ACCESS_TOKEN environment variable"},
		{"sentry", "Error: No access token was provided.\nRun `sentry-mcp auth login` interactively first, or pass `SENTRY_ACCESS_TOKEN`.\nUsage: sentry [--access-token=<token>]\n  --host <host>   Required for self-hosted instances\n", "Error: No access token was provided."},
		{"argparse", "usage: fetch [-h]\n             [--proxy-url PROXY_URL]\nfetch: error: unrecognized arguments: --bad\n", "fetch: error: unrecognized arguments: --bad"},
		{"a variable behind a label", "[ERROR] startup failed\nBRAVE_API_KEY environment variable is required\nexit 1\n", "BRAVE_API_KEY environment variable is required"},
		{"it goes on without", "No FIRECRAWL_API_KEY set — running in keyless mode; other tools require a key\nError: connect ECONNREFUSED 127.0.0.1:1\nbye\n", "Error: connect ECONNREFUSED 127.0.0.1:1"},
		{"Node", "/x/index.js:3\n    throw new Error('No key')\n          ^\n\nTypeError [ERR_X]: No key\n    at Object.<anonymous> (/x/index.js:3:11)\n\nNode.js v20.1.0\n", "TypeError [ERR_X]: No key"},
		{"Python", "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    import y\nModuleNotFoundError: No module named 'y'\n\nDuring handling of the above exception, another exception occurred:\n\nSystemExit: 1\n", "ModuleNotFoundError: No module named 'y'"},
		{"warnings", "(node:1) Warning: Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable makes connections insecure, certificates are required\nnpm warn deprecated x@1: missing\ncannot open /x\nbye\n", "cannot open /x"},
	} {
		var l Log
		l.drain("x", strings.NewReader(r.stderr))
		l.Note("link")
		if got := l.reason("x", time.Time{}, words); got != r.want {
			t.Errorf("%s: %q, want %q", r.name, got, r.want)
		}
	}
}

// A child that writes much displaces no line of another, nor of the deck.
// What a server writes of what it was given is in no line, nor in the reason of its end.
func TestALogShowsNoSecrets(t *testing.T) {
	const given, shaped = "correct-horse-battery", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	known := &redact.Known{}
	known.Add(given)
	l := Log{Secrets: known}
	of := l.Child("x")
	of.drain("x", strings.NewReader("debug: opening with "+given+"\nGET https://a.example/?key=q7Rk2vTz9Lw4: 403\nError: bad login "+given+" "+shaped+"\n"))
	for range 3 * storm {
		of.hear("x", "again "+given)
	}
	text := of.reason("x", time.Time{}, words) + "\n"
	for _, line := range l.Tail(MaxLines) {
		text += line.Text + "\n"
	}
	for _, secret := range []string{given, shaped, "q7Rk2vTz9Lw4"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in\n%.400s", secret, text)
		}
	}
	if !strings.HasPrefix(text, "Error: bad login [redacted]") || !strings.Contains(text, "debug: opening with [redacted]") {
		t.Errorf("%.400s", text)
	}
}

func TestEachChildKeepsItsOwnLines(t *testing.T) {
	var l Log
	l.Note("turned on")
	quiet, loud := l.Child("git"), l.Child("git 2")
	quiet.Note("ready")
	for range 3 * MaxLines {
		loud.Note("again")
	}
	l.Note("turned off")
	of := map[string]int{}
	lines := l.Tail(MaxLines)
	for _, line := range lines {
		of[line.Child]++
	}
	if of[""] != 2 || of["git"] != 1 || of["git 2"] != MaxLines {
		t.Errorf("%v", of)
	}
	if first, last := lines[0].Text, lines[len(lines)-1].Text; first != "turned on" || lines[1].Text != "ready" || last != "turned off" {
		t.Errorf("from %q, %q to %q", first, lines[1].Text, last)
	}
}

// The logs of children that are gone are not kept for ever, those of others are.
func TestTheOldestLogsOfChildrenThatAreGoneGo(t *testing.T) {
	var l Log
	l.Child("stays").Note("a")
	for i := range 3 * keptLogs {
		at := l.Child(strings.Repeat("i", i+1))
		at.Note("b")
		at.Gone()
	}
	l.Child("new")
	if n := len(l.of); n != keptLogs+2 || l.of[0].name != "stays" || l.of[n-1].name != "new" || l.of[n-2].name != strings.Repeat("i", 3*keptLogs) {
		t.Errorf("%d logs", n)
	}
}
