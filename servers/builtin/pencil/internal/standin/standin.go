// Package standin is an MCP server that behaves like Pencil's, for tests: its
// flags are the real program's plus one for each thing that can go wrong.
package standin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Options is what the flags set.
type Options struct {
	App    string
	Spawn  bool
	Tools  string // A (14 tools), B (9), C (5), none
	Reword bool   // descriptions differ from the usual ones

	Absent   time.Duration // above 0: the app is not there, said after this time
	Silent   time.Duration // above 0: each call waits so long, then blames the file
	Confused int           // so many first calls blame the file at once
	NoFile   bool          // each call says that no file is open
	Result   string        // image, odd, empty, structured, error, big: what calls answer
	Size     int           // bytes of a big result
	Progress int           // notifications before the answer of a call

	ExitEarly  bool // before initialize
	ExitOnCall bool
	Mute       bool          // never answers initialize
	Garbage    bool          // lines on stdout that are not JSON-RPC
	Noise      int           // bytes on stderr at the start
	Change     bool          // rewords and says so after the first listing
	Deaf       bool          // goes on after the end of input
	Stubborn   bool          // ignores SIGTERM
	Pages      int           // so many pages
	Repeat     bool          // the last page repeats its cursor
	Odd        bool          // a duplicate name and bad entries among the tools
	NoGuide    bool          // no instructions
	Many       int           // so many tools more
	Form       string        // schema of a form that a call asks for first; its answer is that of the call
	Message    string        // above the form
	Mode       string        // of the form
	Withdraw   time.Duration // above 0: the form is withdrawn after this time
	Brood      bool          // starts a process of its own, which outlives it
}

// Parse reads the command line as the real program does: no app is exit 1, an
// unknown flag exit 2. The code is -1 when the server is to run.
func Parse(args []string, errOut io.Writer) (Options, int) {
	var o Options
	f := flag.NewFlagSet("fakepencil", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.StringVar(&o.App, "app", "", "")
	f.String("agent", "", "")
	f.String("conversation_id", "", "")
	f.BoolVar(&o.Spawn, "enable_spawn_agents", false, "")
	f.StringVar(&o.Tools, "tools", "A", "")
	f.BoolVar(&o.Reword, "reword", false, "")
	f.DurationVar(&o.Absent, "absent", 0, "")
	f.DurationVar(&o.Silent, "silent", 0, "")
	f.IntVar(&o.Confused, "confused", 0, "")
	f.BoolVar(&o.NoFile, "no-file", false, "")
	f.StringVar(&o.Result, "result", "", "")
	f.IntVar(&o.Size, "size", 256<<10, "")
	f.IntVar(&o.Progress, "progress", 0, "")
	f.BoolVar(&o.ExitEarly, "exit-early", false, "")
	f.BoolVar(&o.ExitOnCall, "exit-on-call", false, "")
	f.BoolVar(&o.Mute, "mute", false, "")
	f.BoolVar(&o.Garbage, "garbage", false, "")
	f.IntVar(&o.Noise, "noise", 0, "")
	f.BoolVar(&o.Change, "change", false, "")
	f.BoolVar(&o.Deaf, "deaf", false, "")
	f.BoolVar(&o.Stubborn, "stubborn", false, "")
	f.IntVar(&o.Pages, "pages", 1, "")
	f.BoolVar(&o.Repeat, "repeat", false, "")
	f.BoolVar(&o.Odd, "odd", false, "")
	f.BoolVar(&o.NoGuide, "no-guide", false, "")
	f.IntVar(&o.Many, "many", 0, "")
	f.StringVar(&o.Form, "form", "", "")
	f.StringVar(&o.Message, "message", "Which one?", "")
	f.StringVar(&o.Mode, "mode", "form", "")
	f.DurationVar(&o.Withdraw, "withdraw", 0, "")
	f.BoolVar(&o.Brood, "brood", false, "")
	if err := f.Parse(args); err != nil {
		return o, 2
	}
	if o.App == "" {
		fmt.Fprintln(errOut, "no app named")
		return o, 1
	}
	return o, -1
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Method string          `json:"method"`
	Params struct {
		Cursor    string          `json:"cursor"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`
		Protocol  string          `json:"protocolVersion"`
		Can       json.RawMessage `json:"capabilities"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

type server struct {
	Options
	out io.Writer

	mu       sync.Mutex
	calls    int
	inFlight map[string]chan struct{}
	forms    map[string]chan string // answers, by id
	can      string                 // what the client says that it can
}

// Serve answers on out what it reads from in, until in ends. It returns the
// exit code.
func Serve(o Options, in io.Reader, out, errOut io.Writer) int {
	s := &server{Options: o, out: out, inFlight: map[string]chan struct{}{}, forms: map[string]chan string{}}
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
	lines := bufio.NewReaderSize(in, 1<<16)
	var running sync.WaitGroup
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if code := s.handle(line, &running); code >= 0 {
				return code
			}
		}
		if err != nil {
			break
		}
	}
	if o.Deaf {
		time.Sleep(time.Hour)
	}
	running.Wait()
	return 0
}

func (s *server) handle(line []byte, running *sync.WaitGroup) int {
	var r request
	if json.Unmarshal(line, &r) != nil {
		s.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot read that"}}`)
		return -1
	}
	switch r.Method {
	case "":
		s.mu.Lock()
		if answer := s.forms[string(r.ID)]; answer != nil {
			answer <- string(r.Result) + string(r.Error)
		}
		s.mu.Unlock()
	case "initialize":
		s.can = string(r.Params.Can)
		if !s.Mute {
			s.reply(r.ID, s.hello(r.Params.Protocol))
		}
	case "ping":
		s.reply(r.ID, `{}`)
	case "tools/list":
		s.reply(r.ID, s.list(r.Params.Cursor))
		if s.Change && !s.Reword {
			s.Reword = true
			s.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
	case "tools/call":
		if s.ExitOnCall {
			return 7
		}
		stop := make(chan struct{})
		s.mu.Lock()
		s.inFlight[string(r.ID)] = stop
		s.mu.Unlock()
		running.Go(func() { s.call(r, stop) })
	case "notifications/cancelled":
		s.mu.Lock()
		if stop, ok := s.inFlight[string(r.Params.RequestID)]; ok && s.Absent > 0 {
			close(stop)
			delete(s.inFlight, string(r.Params.RequestID))
		}
		s.mu.Unlock()
	default:
		if len(r.ID) > 0 {
			s.fail(r.ID, -32601, "no method "+r.Method)
		}
	}
	return -1
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

func (s *server) call(r request, stop chan struct{}) {
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.mu.Unlock()
	for i := range s.Progress {
		if len(r.Params.Meta.ProgressToken) > 0 {
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"message":"step"}}`,
				r.Params.Meta.ProgressToken, i+1, s.Progress))
		}
	}
	const blame = "nothing came back: you are probably referencing the wrong .pen file"
	switch {
	case s.Form != "":
		s.reply(r.ID, `{"content":[{"type":"text","text":`+encode(s.ask(n))+`}]}`)
	case s.Absent > 0:
		select {
		case <-time.After(s.Absent):
			s.fail(r.ID, -32603, "failed to connect to running Pencil app: "+s.App+" (stand-in)")
		case <-stop:
			s.fail(r.ID, -32603, "context canceled")
		}
	case s.Silent > 0:
		time.Sleep(s.Silent)
		s.fail(r.ID, -32603, blame)
	case n <= s.Confused:
		s.fail(r.ID, -32603, blame)
	case s.NoFile:
		s.fail(r.ID, -32603, "a file needs to be open in the editor")
	default:
		s.reply(r.ID, s.answer(r))
	}
	s.mu.Lock()
	delete(s.inFlight, string(r.ID))
	s.mu.Unlock()
}

// ask puts the form to the client and returns what comes back.
func (s *server) ask(n int) string {
	if !strings.Contains(s.can, `"elicitation"`) {
		return "the client cannot ask"
	}
	id := fmt.Sprintf(`"form-%d"`, n)
	answer := make(chan string, 1)
	s.mu.Lock()
	s.forms[id] = answer
	s.mu.Unlock()
	s.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{"mode":` + encode(s.Mode) + `,"message":` + encode(s.Message) + `,"requestedSchema":` + s.Form + `}}`)
	withdraw := time.After(2 * time.Hour)
	if s.Withdraw > 0 {
		withdraw = time.After(s.Withdraw)
	}
	select {
	case a := <-answer:
		return a
	case <-withdraw:
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		return "withdrawn"
	}
}

func (s *server) answer(r request) string {
	kind := s.Result
	if kind == "" && strings.HasSuffix(r.Params.Name, "screenshot") {
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
	if strings.HasSuffix(r.Params.Name, "_state") {
		return `{"content":[{"type":"text","text":"Active file: /designs/menu.pen, 3 nodes selected"}]}`
	}
	args := r.Params.Arguments
	if args == nil {
		args = json.RawMessage("nothing")
	}
	return `{"content":[{"type":"text","text":` + encode(string(args)) + `}]}`
}

func (s *server) reply(id json.RawMessage, result string) {
	s.send(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
}

func (s *server) fail(id json.RawMessage, code int, message string) {
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, encode(message)))
}

func (s *server) send(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprint(s.out, line+"\n")
}

func encode(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// Main runs the stand-in on the process's own input and output.
func Main(args []string) int {
	o, code := Parse(args, os.Stderr)
	if code >= 0 {
		return code
	}
	if o.Stubborn {
		ignoreTerm()
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
