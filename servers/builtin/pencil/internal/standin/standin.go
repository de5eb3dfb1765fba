// Package standin is an MCP server that behaves like Pencil's, for tests: its
// flags are the real program's plus one for each thing that can go wrong.
package standin

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Options is what the flags set.
type Options struct {
	App    string `flag:"app"`
	Spawn  bool   `flag:"enable_spawn_agents"`
	Tools  string `flag:"tools"`  // A (14 tools), B (9), C (5), none
	Reword bool   `flag:"reword"` // descriptions differ from the usual ones

	Absent   time.Duration `flag:"absent"`   // above 0: the app is not there, said after this time
	Silent   time.Duration `flag:"silent"`   // above 0: each call waits so long, then blames the file
	Confused int           `flag:"confused"` // so many first calls blame the file at once
	NoFile   bool          `flag:"no-file"`  // each call says that no file is open
	Result   string        `flag:"result"`   // image, odd, empty, structured, error, big: what calls answer
	Size     int           `flag:"size"`     // bytes of a big result
	Progress int           `flag:"progress"` // notifications before the answer of a call

	ExitEarly  bool          `flag:"exit-early"` // before initialize
	ExitOnCall bool          `flag:"exit-on-call"`
	Mute       bool          `flag:"mute"`     // never answers initialize
	Garbage    bool          `flag:"garbage"`  // lines on stdout that are not JSON-RPC
	Noise      int           `flag:"noise"`    // bytes on stderr at the start
	Change     bool          `flag:"change"`   // rewords and says so after the first listing
	Deaf       bool          `flag:"deaf"`     // goes on after the end of input
	Stubborn   bool          `flag:"stubborn"` // ignores SIGTERM
	Pages      int           `flag:"pages"`    // so many pages
	Repeat     bool          `flag:"repeat"`   // the last page repeats its cursor
	Odd        bool          `flag:"odd"`      // a duplicate name and bad entries among the tools
	NoGuide    bool          `flag:"no-guide"` // no instructions
	Many       int           `flag:"many"`     // so many tools more
	Form       string        `flag:"form"`     // schema of a form that a call asks for first; its answer is that of the call
	Message    string        `flag:"message"`  // above the form
	Mode       string        `flag:"mode"`     // of the form
	Withdraw   time.Duration `flag:"withdraw"` // above 0: the form is withdrawn after this time
	Brood      bool          `flag:"brood"`    // starts a process of its own, which outlives it
}

// Parse reads the command line as the real program does: no app is exit 1, an
// unknown flag exit 2. The code is -1 when the server is to run.
func Parse(args []string, errOut io.Writer) (Options, int) {
	o := Options{Tools: "A", Size: 256 << 10, Pages: 1, Message: "Which one?", Mode: "form"}
	f := flag.NewFlagSet("fakepencil", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.String("agent", "", "")
	f.String("conversation_id", "", "")
	for field, v := range reflect.ValueOf(&o).Elem().Fields() {
		switch name := field.Tag.Get("flag"); p := v.Addr().Interface().(type) {
		case *bool:
			f.BoolVar(p, name, *p, "")
		case *int:
			f.IntVar(p, name, *p, "")
		case *string:
			f.StringVar(p, name, *p, "")
		case *time.Duration:
			f.DurationVar(p, name, *p, "")
		}
	}
	if err := f.Parse(args); err != nil {
		return o, 2
	}
	if o.App == "" {
		fmt.Fprintln(errOut, "no app named")
		return o, 1
	}
	return o, -1
}

type server struct {
	Options
	calls atomic.Int32
	can   string   // what the client says that it can
	exit  chan int // the code
}

// Serve answers on out what it reads from in, until in ends. It returns the
// exit code.
func Serve(o Options, in io.Reader, out, errOut io.Writer) int {
	fmt.Fprintln(errOut, "stand-in for the design server, app", o.App)
	if o.Noise > 0 {
		line := strings.Repeat("n", 99) + "\n"
		fmt.Fprint(errOut, strings.Repeat(line, o.Noise/100))
	}
	if o.ExitEarly {
		fmt.Fprintln(errOut, "told to go")
		return 3
	}
	if o.Garbage {
		fmt.Fprint(out, "hello\n{\"not\":\n[1,2]\n\n\"text\"\n{\"jsonrpc\":\"2.0\",\"id\":\"nobody\",\"result\":{}}\n")
	}
	s := &server{Options: o, exit: make(chan int, 2)}
	recovery.Go("stand-in", func() {
		(&fake.Server{NoModern: true, Answer: s.answer}).Serve(in, out)
		if o.Deaf {
			time.Sleep(time.Hour)
		}
		s.exit <- 0
	})
	return <-s.exit
}

// answer answers a request, unless it is a ping.
func (s *server) answer(c *fake.Call) bool {
	switch c.Method {
	case "ping":
		return false
	case "initialize":
		s.can = string(c.Params.Get("capabilities"))
		if !s.Mute {
			c.Result(s.hello(c.Params.Str("protocolVersion")))
		}
	case "tools/list":
		c.Result(s.list(c.Params.Str("cursor")))
		if s.Change && !s.Reword {
			s.Reword = true
			c.Notify("notifications/tools/list_changed", "")
		}
	case "tools/call":
		if s.ExitOnCall {
			s.exit <- 7
			break
		}
		s.call(c)
	default:
		c.Fail(rpc.CodeMethod, "no method "+c.Method)
	}
	return true
}

func (s *server) hello(protocol string) string {
	guide := ""
	if !s.NoGuide {
		guide = `,"instructions":` + encode(Guide(s.Tools))
	}
	return `{"protocolVersion":` + encode(protocol) + `,"serverInfo":{"name":"standin","version":"0.1"},"capabilities":{"tools":{}}` + guide + `}`
}

func (s *server) list(cursor string) string {
	defs := Definitions(s.Tools, s.Reword)
	if s.Spawn {
		defs = append(defs, define("spawn_agents", "Start more workers.", `{"type":"object"}`, 'w'))
	}
	for i := range s.Many {
		defs = append(defs, define(fmt.Sprintf("more_%04d", i), "One more; see batch_get.", schema(`"filePath"`, file), 'r'))
	}
	if s.Odd {
		defs = append(defs, defs[0], `{"description":"no name"}`, `"text"`, `{"name":"bad_schema","inputSchema":[1]}`,
			`{"name":"no_schema"}`, `{"name":"no_type","inputSchema":{"properties":{}}}`)
	}
	var page int
	if _, err := fmt.Sscanf(cursor, "page%d", &page); err != nil {
		page = 0
	}
	pages := max(s.Pages, 1)
	from, to := page*len(defs)/pages, (page+1)*len(defs)/pages
	next := ""
	switch {
	case page+1 < pages:
		next = fmt.Sprintf(`,"nextCursor":"page%d"`, page+1)
	case s.Repeat:
		next = fmt.Sprintf(`,"nextCursor":"page%d"`, page)
	}
	return `{"tools":[` + strings.Join(defs[from:to], ",") + `]` + next + `}`
}

func (s *server) call(c *fake.Call) {
	n := int(s.calls.Add(1))
	meta, _ := rawjson.SplitObject(c.Params.Get("_meta")) // may be missing
	if token := meta.Get("progressToken"); token != nil {
		for i := range s.Progress {
			c.Notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d,"total":%d,"message":"step"}`, token, i+1, s.Progress))
		}
	}
	const blame = "nothing came back: you are probably referencing the wrong .pen file"
	switch {
	case s.Form != "":
		c.Text(s.ask(c))
	case s.Absent > 0:
		select {
		case <-time.After(s.Absent):
			c.Fail(rpc.CodeInternal, "failed to connect to running Pencil app: "+s.App+" (stand-in)")
		case <-c.Done:
			c.Fail(rpc.CodeInternal, "context canceled")
		}
	case s.Silent > 0:
		time.Sleep(s.Silent)
		c.Fail(rpc.CodeInternal, blame)
	case n <= s.Confused:
		c.Fail(rpc.CodeInternal, blame)
	case s.NoFile:
		c.Fail(rpc.CodeInternal, "a file needs to be open in the editor")
	default:
		c.Result(s.result(c.Params))
	}
}

// ask puts the form to the client and returns what comes back.
func (s *server) ask(c *fake.Call) string {
	if !strings.Contains(s.can, `"elicitation"`) {
		return "the client cannot ask"
	}
	withdrawn := make(chan struct{})
	time.AfterFunc(cmp.Or(s.Withdraw, 2*time.Hour), func() { close(withdrawn) })
	said, ok := c.Ask(withdrawn, "elicitation/create", `{"mode":`+encode(s.Mode)+`,"message":`+encode(s.Message)+`,"requestedSchema":`+s.Form+`}`)
	if !ok {
		return "withdrawn"
	}
	return said
}

func (s *server) result(call rawjson.Object) string {
	kind, name := s.Result, call.Str("name")
	if kind == "" && strings.HasSuffix(name, "screenshot") {
		kind = "image"
	}
	switch kind {
	case "image":
		return `{"content":[{"type":"text","text":"one node"},{"type":"image","mimeType":"image/png","data":"` + Picture() + `"}]}`
	case "odd":
		return OddResult()
	case "empty":
		return `{}`
	case "structured":
		return `{"content":[],"structuredContent":{"n":9007199254740993},"_meta":{"k":[1,2]}}`
	case "error":
		return `{"content":[{"type":"text","text":"filePath is missing"}],"isError":true}`
	case "big":
		return `{"content":[{"type":"text","text":"` + strings.Repeat("x", s.Size) + `"}]}`
	}
	if strings.HasSuffix(name, "_state") {
		return `{"content":[{"type":"text","text":"Active file: /designs/menu.pen, 3 nodes selected"}]}`
	}
	args := cmp.Or(string(call.Get("arguments")), "nothing")
	return `{"content":[{"type":"text","text":` + encode(args) + `}]}`
}

func encode(s string) string { return string(rawjson.Quote(s)) }

// Main runs the stand-in on the process's own input and output.
func Main(args []string) int {
	o, code := Parse(args, os.Stderr)
	if code >= 0 {
		return code
	}
	if o.Stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	if o.Brood {
		young := exec.Command(os.Args[0], "--app", "young", "--deaf", "--stubborn")
		young.Stdout, young.Stderr = os.Stdout, os.Stderr
		if err := young.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 4
		}
		fmt.Fprintf(os.Stderr, "young %d\n", young.Process.Pid)
	}
	return Serve(o, os.Stdin, os.Stdout, os.Stderr)
}
