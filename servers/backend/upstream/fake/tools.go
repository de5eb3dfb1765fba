package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Capabilities are what the fake declares.
const Capabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{},` +
	`"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},"experimental":{"later":{"z":1.0}}}`

// What the fake lists and answers, formatted as no encoder would do it.
const (
	Prompt   = `{"later" : [1e2,{}],"name":"greet","description":"Greets with greet() <p>","arguments":[{"name":"who"}]}`
	Resource = `{"uri":"fake://a","size":9007199254740993,"name":"a","later":null}`
	Template = `{"uriTemplate":"fake://{x}","later":"<t>","name":"x"}`
	Odd      = `{"z":1.0,"content":[{"type":"later","x":1e2},{"type":"image","data":"AAAA","mimeType":"image/png","_meta":{"\u00e9":1.0}},` +
		`{"type":"resource_link","uri":"fake://b","name":"b"}],"structuredContent":{"n":9007199254740993,"b":1.50},"_meta":{"x":1.0},"later":"<\u00e9>"}`
	PageNews = `{"z":1.0,"elicitationId":"e-1"}`
	TaskNews = `{"z":1.0,"taskId":"task-1","status":"working"}`
	OddError = `{"code":-32042,"message":"\u00e9 <no>","data":{"n":9007199254740993,"z":1.0,"a":2},"later":1}`
)

const (
	form = `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`
	page = `{"mode":"url","elicitationId":"e-1","url":"https://example.org/sign-in?a=b","message":"Please sign in."}`
)

// tool is one of the fake's.
type tool struct {
	name   string
	schema string // and what follows it in the definition; "" takes any object
	run    func(c *Call)
}

func tools() []tool {
	return []tool{
		{"headers", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"in":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Number"}}}}}`, (*Call).echo},
		{"echo", "", (*Call).echo}, // returns its text
		{"steps", "", (*Call).steps},
		{"wait", "", func(c *Call) { <-c.Done }}, // never answers
		{"ask", "", func(c *Call) { c.input("elicitation/create", form) }},
		{"large", "", func(c *Call) { n, _ := strconv.Atoi(string(c.Args.Get("bytes"))); c.Text(strings.Repeat("x", n)) }},
		{"count", "", func(c *Call) { c.Text(strconv.Itoa(int(c.calls.Add(1)))) }}, // its calls on the connection
		{"fail", "", func(c *Call) {
			c.reply(rpc.Failure(c.ID, rpc.Error{Code: -32042, Message: "as told", Data: json.RawMessage(`{"n":1.0}`)}))
		}},
		{"change", "", (*Call).change},
		{"odd", "", func(c *Call) { c.Result(Odd) }}, // all possible members and unknown ones
		{"bad", "", func(c *Call) { c.reply(rpc.Message{ID: c.ID, Err: json.RawMessage(OddError)}.Line()) }},
		{"params", "", func(c *Call) { c.Result(`{"content":[],"got":` + string(withoutHop(c.Params)) + `}`) }},
		{"log", "", (*Call).log},
		{"touch", "", (*Call).touch},
		{"where", "", func(c *Call) { c.input("roots/list", `{}`) }},
		{"sample", "", func(c *Call) { c.input("sampling/createMessage", `{"messages":[],"maxTokens":1.0}`) }},
		{"url", "", func(c *Call) { c.input("elicitation/create", page) }},
		{"unheard", "", func(c *Call) { c.ask("later/method", `{}`) }}, // sends an unknown request
		{"news", "", (*Call).news},
		{"research", `{"type":"object"},"execution":{"taskSupport":"required"}`, (*Call).research},
		{"crash", "", (*Call).Crash},
	}
}

// definitions are the tools that are listed.
func (s *Server) definitions() (all []string) {
	for _, t := range tools() {
		if t.name != "crash" || s.Crashes {
			all = append(all, `{"name":"`+t.name+`","inputSchema":`+cmp.Or(t.schema, `{"type":"object"}`)+`}`)
		}
	}
	return append(all, s.added(`{"name":"new_%d","inputSchema":{"type":"object"}}`)...)
}

// tool calls a tool.
func (c *Call) tool() {
	all, name := tools(), c.Params.Str("name")
	i := slices.IndexFunc(all, func(t tool) bool { return t.name == name })
	if i < 0 {
		c.Fail(rpc.CodeParams, "Unknown tool: "+name)
		return
	}
	all[i].run(c)
}

func (c *Call) echo() { c.Text(c.Args.Str("text")) }

// steps reports three steps of progress.
func (c *Call) steps() {
	meta, _ := rawjson.SplitObject(c.Params.Get("_meta")) // may be missing
	for i := range 3 {
		if token := meta.Get("progressToken"); token != nil {
			c.Notify("notifications/progress", fmt.Sprintf(`{"later":1.0,"progressToken":%s,"progress":%d.0,"total":3}`, token, i+1))
		}
	}
	c.Text("done")
}

// change changes the lists and notifies.
func (c *Call) change() {
	c.s.grown.Add(1)
	c.Text("changed")
	for _, o := range c.s.reached(c.session) {
		o.changed()
	}
}

// news reports news of a page and of a task.
func (c *Call) news() {
	say := c.tell
	if c.modern { // where there is no stream of the server's own
		say = c.reply
	}
	say(notification("notifications/elicitation/complete", PageNews))
	say(notification("notifications/tasks/status", TaskNews))
	c.Text("told")
}

// ask sends the client a request and answers with its reply.
func (c *Call) ask(method, params string) {
	if said, ok := c.Ask(c.Done, method, params); ok {
		c.Text(said)
	}
}

// input asks the client something as the era does, and answers with its reply.
func (c *Call) input(method, params string) {
	said := c.Params.Get("inputResponses")
	switch {
	case !c.modern:
		c.ask(method, params)
	case said != nil:
		c.Text(c.Params.Str("requestState") + " " + string(said))
	default:
		c.Result(`{"resultType":"input_required","inputRequests":{"it":{"method":"` + method + `","params":` + params + `}},"requestState":"state"}`)
	}
}

// LevelSet marks, among the requests, the moment at which the requested log level applies.
// Over HTTP, a call that follows that request at once may be served before.
const LevelSet = "level set"

// log sends a message of each wanted level, where it is sure to arrive before the answer:
// over HTTP, on the stream of the request.
func (c *Call) log() {
	all := []string{"debug", "info", "warning", "error"}
	c.mu.Lock()
	level := c.level
	c.mu.Unlock()
	if c.modern {
		meta, _ := rawjson.SplitObject(c.Params.Get("_meta"))
		level = meta.Str("io.modelcontextprotocol/logLevel")
	}
	if from := slices.Index(all, level); from >= 0 {
		for _, l := range all[from:] {
			c.Notify("notifications/message", `{"data":"<\u00e9>","level":"`+l+`"}`)
		}
	}
	c.Text("logged")
}

// touch notifies of a changed resource whoever subscribed to it. A subscription of the newer
// era is over HTTP a connection of its own.
func (c *Call) touch() {
	const method = "notifications/resources/updated"
	uri := c.Args.Str("uri")
	params := `{"z":1.0,"uri":` + string(rawjson.Quote(uri))
	for _, o := range c.s.reached(c.session) {
		o.mu.Lock()
		if o == c.session && o.watched[uri] {
			o.tell(notification(method, params+`}`))
		}
		for id, l := range o.listens {
			if slices.Contains(l.uris, uri) {
				l.say(notification(method, params+`,"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}`))
			}
		}
		o.mu.Unlock()
	}
	c.Text("touched")
}

// research starts a task, which runs until its status was requested twice.
func (c *Call) research() {
	if c.Params.Get("task") == nil {
		c.Result(`{"content":[{"type":"text","text":"it requires task augmentation"}],"isError":true}`)
		return
	}
	c.mu.Lock()
	id := fmt.Sprintf("task-%d", len(c.tasks)+1)
	c.tasks[id] = 0
	c.mu.Unlock()
	c.Result(`{"task":` + about(id, "working") + `}`)
}

func about(task, status string) string {
	return `{"taskId":"` + task + `","status":"` + status + `","statusMessage":"reading","createdAt":"2026-01-01T00:00:00Z","ttl":60000,"pollInterval":1}`
}

// task answers requests about tasks.
func (c *Call) task() {
	id := c.Params.Str("taskId")
	c.mu.Lock()
	defer c.mu.Unlock()
	looked, known := c.tasks[id]
	switch {
	case !known:
		c.Fail(rpc.CodeParams, "unknown task")
	case c.Method == "tasks/cancel":
		c.Result(about(id, "cancelled"))
	case c.Method == "tasks/result":
		c.Result(`{"content":[{"type":"text","text":"report"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + id + `"}}}`)
	default:
		c.tasks[id]++
		c.Result(about(id, map[bool]string{true: "completed", false: "working"}[looked >= 2]))
	}
}
