package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

// moreTools are odd (returns a result with all possible members and unknown ones), bad
// (returns an error of that kind), params (returns its params), log (logs a message of
// each level), touch (reports a change of the resource with a URI), news (reports news of
// a page and of a task), where (asks for the roots), sample (asks for a model's message),
// url (asks the user to open a page), unheard (sends an unknown request) and research,
// which can only run as a task.
func moreTools() (all []string) {
	for _, name := range []string{"odd", "bad", "params", "log", "touch", "where", "sample", "url", "unheard", "news"} {
		all = append(all, `{"name":"`+name+`","inputSchema":{"type":"object"}}`)
	}
	return append(all, `{"name":"research","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`)
}

// serveMore answers requests that are not about tools.
func (c *session) serveMore(_ context.Context, m rpc.Message, reply func([]byte)) bool {
	params, _ := rawjson.SplitObject(m.Params) // may be missing
	switch m.Method {
	case "prompts/list":
		reply(result(m.ID, `{"prompts":[`+listOf(c.s.Prompts, Prompt)+`]}`))
	case "resources/list":
		reply(result(m.ID, `{"resources":[`+strings.Join(c.s.resources(), ",")+`]}`))
	case "resources/templates/list":
		reply(result(m.ID, `{"resourceTemplates":[`+listOf(c.s.Templates, Template)+`]}`))
	case "prompts/get", "resources/read", "completion/complete", "later/method":
		reply(result(m.ID, `{"z":1.0,"got":`+string(withoutHop(params))+`,"a":"<\u00e9>"}`))
	case "resources/subscribe", "resources/unsubscribe":
		c.mu.Lock()
		c.watched[params.Str("uri")] = m.Method == "resources/subscribe"
		c.mu.Unlock()
		reply(result(m.ID, "{}"))
	case "logging/setLevel":
		c.mu.Lock()
		c.level = params.Str("level")
		c.mu.Unlock()
		c.s.note(Request{Method: LevelSet})
		reply(result(m.ID, "{}"))
	case "tasks/get", "tasks/result", "tasks/cancel":
		c.task(m, params, reply)
	default:
		return false
	}
	return true
}

// resources returns the definitions; Change adds one with each tool.
func (s *Server) resources() []string {
	all := []string{Resource}
	for i := range s.grown.Load() {
		all = append(all, fmt.Sprintf(`{"uri":"fake://new/%d","name":"new"}`, i+1))
	}
	return all
}

// listOf is a list of the given definitions, or else of the fake's own one.
func listOf(told []string, own string) string {
	if told == nil {
		return own
	}
	return strings.Join(told, ",")
}

// withoutHop removes from params what every request of the newer era carries.
func withoutHop(params rawjson.Object) json.RawMessage {
	params = slices.Clone(params)
	for i, p := range params {
		if p.Key != "_meta" {
			continue
		}
		meta, _ := rawjson.SplitObject(p.Value) // valid: the client made it
		meta = slices.DeleteFunc(meta, func(m rawjson.Member) bool { return strings.HasPrefix(m.Key, "io.modelcontextprotocol/") })
		params[i].Value = meta.JSON()
	}
	return slices.DeleteFunc(params, func(m rawjson.Member) bool { return m.Key == "_meta" && string(m.Value) == "{}" }).JSON()
}

// callMore calls the tools of this file.
func (c *session) callMore(ctx context.Context, m rpc.Message, params rawjson.Object, modern bool, reply func([]byte)) bool {
	args, _ := rawjson.SplitObject(params.Get("arguments")) // may be missing
	switch params.Str("name") {
	case "odd":
		reply(result(m.ID, Odd))
	case "bad":
		reply(rpc.Message{ID: m.ID, Err: json.RawMessage(OddError)}.Line())
	case "params":
		reply(result(m.ID, `{"content":[],"got":`+string(withoutHop(params))+`}`))
	case "log":
		c.log(params, modern, reply)
		reply(result(m.ID, text("logged")))
	case "touch":
		c.touch(args.Str("uri"))
		reply(result(m.ID, text("touched")))
	case "news":
		say := c.tell
		if modern { // where there is no stream of the server's own
			say = reply
		}
		say(rpc.Message{Method: "notifications/elicitation/complete", Params: json.RawMessage(PageNews)}.Line())
		say(rpc.Message{Method: "notifications/tasks/status", Params: json.RawMessage(TaskNews)}.Line())
		reply(result(m.ID, text("told")))
	case "where":
		c.input(ctx, m, params, modern, "roots/list", `{}`, reply)
	case "sample":
		c.input(ctx, m, params, modern, "sampling/createMessage", `{"messages":[],"maxTokens":1.0}`, reply)
	case "url":
		c.input(ctx, m, params, modern, "elicitation/create", `{"mode":"url","elicitationId":"e-1","url":"https://example.org/sign-in?a=b","message":"Please sign in."}`, reply)
	case "unheard":
		if a, ok := c.request(ctx, "later/method", `{}`, reply); ok {
			reply(result(m.ID, text(string(a.Err))))
		}
	case "research":
		c.research(m, params, reply)
	default:
		return false
	}
	return true
}

// input asks the client something as the era does, and answers with its reply.
func (c *session) input(ctx context.Context, m rpc.Message, params rawjson.Object, modern bool, method, about string, reply func([]byte)) {
	if !modern {
		if a, ok := c.request(ctx, method, about, reply); ok {
			reply(result(m.ID, text(string(a.Result)+string(a.Err))))
		}
		return
	}
	if said := params.Get("inputResponses"); said != nil {
		reply(result(m.ID, text(params.Str("requestState")+" "+string(said))))
		return
	}
	reply(result(m.ID, `{"resultType":"input_required","inputRequests":{"it":{"method":"`+method+`","params":`+about+`}},"requestState":"state"}`))
}

// LevelSet marks, among the requests, the moment at which the requested log level applies.
// Over HTTP, a call that follows that request at once may be served before.
const LevelSet = "level set"

// log sends a message of each wanted level, where it is sure to arrive before the answer:
// over HTTP, on the stream of the request.
func (c *session) log(params rawjson.Object, modern bool, reply func([]byte)) {
	all := []string{"debug", "info", "warning", "error"}
	c.mu.Lock()
	level := c.level
	c.mu.Unlock()
	if modern {
		meta, _ := rawjson.SplitObject(params.Get("_meta"))
		level = meta.Str("io.modelcontextprotocol/logLevel")
	}
	from := slices.Index(all, level)
	if from < 0 {
		return
	}
	for _, l := range all[from:] {
		reply(rpc.Message{Method: "notifications/message", Params: json.RawMessage(`{"data":"<\u00e9>","level":"` + l + `"}`)}.Line())
	}
}

// touch notifies of a changed resource, if the client subscribed to it.
func (c *session) touch(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	params := `{"z":1.0,"uri":` + string(rawjson.Quote(uri))
	if c.watched[uri] {
		c.tell(rpc.Message{Method: "notifications/resources/updated", Params: json.RawMessage(params + `}`)}.Line())
	}
	for _, other := range c.all() {
		for id, uris := range other {
			if slices.Contains(uris.of, uri) {
				uris.say(rpc.Message{Method: "notifications/resources/updated", Params: json.RawMessage(params + `,"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`)}.Line())
			}
		}
	}
}

type watch struct {
	of  []string
	say func([]byte)
}

// all returns the newer era's subscriptions to resources; over HTTP each is a connection
// of its own. The caller holds c.mu.
func (c *session) all() (all []map[string]watch) {
	of := func(o *session) map[string]watch {
		found := map[string]watch{}
		for id, filter := range o.filters {
			uris, _ := rawjson.SplitArray(filter.Get("resourceSubscriptions"))
			var names []string
			for _, raw := range uris {
				name, _ := rawjson.Text(raw)
				names = append(names, name)
			}
			found[id] = watch{names, o.listens[id]}
		}
		return found
	}
	all = append(all, of(c))
	c.s.mu.Lock()
	web := c.s.web
	c.s.mu.Unlock()
	if web == nil {
		return all
	}
	for _, o := range web.sessions() {
		if o != c {
			o.mu.Lock()
			all = append(all, of(o))
			o.mu.Unlock()
		}
	}
	return all
}

// task is a task that runs until its status was requested twice.
type task struct {
	looked    int
	cancelled bool
}

// research starts a task.
func (c *session) research(m rpc.Message, params rawjson.Object, reply func([]byte)) {
	if params.Get("task") == nil {
		reply(result(m.ID, `{"content":[{"type":"text","text":"it requires task augmentation"}],"isError":true}`))
		return
	}
	c.mu.Lock()
	c.next++
	id := fmt.Sprintf("task-%d", c.next)
	c.tasks[id] = &task{}
	c.mu.Unlock()
	reply(result(m.ID, `{"task":`+about(id, "working")+`}`))
}

func about(id, status string) string {
	return `{"taskId":"` + id + `","status":"` + status + `","statusMessage":"reading","createdAt":"2026-01-01T00:00:00Z","ttl":60000,"pollInterval":1}`
}

// task answers requests about tasks.
func (c *session) task(m rpc.Message, params rawjson.Object, reply func([]byte)) {
	id := params.Str("taskId")
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tasks[id]
	switch {
	case t == nil:
		reply(rpc.Failure(m.ID, rpc.Error{Code: rpc.CodeParams, Message: "unknown task"}))
	case m.Method == "tasks/cancel":
		t.cancelled = true
		reply(result(m.ID, about(id, "cancelled")))
	case m.Method == "tasks/result":
		reply(result(m.ID, `{"content":[{"type":"text","text":"report"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}}}`))
	default:
		t.looked++
		reply(result(m.ID, about(id, map[bool]string{true: "completed", false: "working"}[t.looked > 2])))
	}
}
