//go:build unix

package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestMain lets the test binary play the server.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CLIPPY_TEST_STDIO"); dir != "" {
		serve(dir)
	}
	os.Exit(m.Run())
}

func serve(dir string) {
	s := clippy.New(clippy.Options{
		Home: dir, Dir: dir, CacheDir: filepath.Join(dir, "cache"), Bell: clippy.TerminalBell,
		Env: func(k string) string { return map[string]string{"PATH": filepath.Join(dir, "bin")}[k] },
	})
	if err := server.NewStdioServer(New(s, "0")).Listen(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func TestToolsOverStdio(t *testing.T) {
	dir := testwait.TempDir(t)
	project := filepath.Join(dir, "project")
	mkdir(t, filepath.Join(dir, "Desktop"))
	mkdir(t, project)
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "CLIPPY_TEST_STDIO="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ring a bell at
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	calls := []string{
		`{"name":"haunt_desktop","arguments":{"filename":"a\u0007.txt","content":""}}`,
		`{"name":"haunt_desktop","arguments":{"filename":"a.txt","content":"boo"}}`,
		`{"name":"play_system_sound","arguments":{"type":"error"}}`,
		`{"name":"play_system_sound","arguments":null}`,
		`{"name":"read_project_context","arguments":{"directoryPath":"."}}`,
		`{"name":"manage_memory","arguments":{"action":"write","key":"k","value":"\u0007\n"}}`,
		`{"name":"manage_memory","arguments":{"action":"read","key":"k"}}`,
		`{"name":"manage_memory","arguments":{"action":"read"}}`,
	}
	lines := bufio.NewReader(out)
	answer := func() map[string]any {
		line, err := lines.ReadString('\n')
		must(t, err)
		if strings.ContainsRune(line, 7) {
			t.Fatalf("a bell in %q", line)
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil || m["jsonrpc"] != "2.0" {
			t.Fatalf("not JSON-RPC: %q, %v", line, err)
		}
		return m
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	answer()
	for i, c := range calls {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", i+1, c)
		if m := answer(); m["result"] == nil {
			t.Errorf("%s: %v", c, m)
		}
	}
	must(t, in.Close())
	if rest, _ := io.ReadAll(lines); len(rest) > 0 {
		t.Errorf("more on stdout: %q", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "Desktop", "a.txt")); string(got) != "boo" {
		t.Errorf("the note holds %q, %v", got, err)
	}
}
