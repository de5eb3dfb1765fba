package codex

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

func readFor(method, params string) *asked {
	return read(rpc.Message{ID: json.RawMessage("0"), Method: method, Params: json.RawMessage(params)}, around{
		Home: "/home/ana", Codex: "/home/ana/.codex", Folder: "/home/ana/api",
		Changes: func(item string) []change {
			_, all := changesOf(json.RawMessage(`{"type":"fileChange","id":"` + item + `","changes":[{"path":"/home/ana/api/a.txt","kind":{"type":"update"},"diff":"@@ -1 +1 @@\n-a\n+b"}]}`))
			return all
		},
	})
}

// Shapes as version 0.169.0 sends them.
const (
	commandParams = `{"kind":"command","threadId":"s","turnId":"turn","itemId":"call_1","startedAtMs":1,"environmentId":"local","reason":"Need to write there","command":"/bin/bash -lc 'touch /etc/x && echo hi'","cwd":"/home/ana/api","commandActions":[],"proposedExecpolicyAmendment":["touch","/etc/x y"],"availableDecisions":["accept","acceptForSession",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch","/etc/x y"]}},{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"action":"deny","host":"evil.example"}}},{"somethingNew":{}},"somethingElse","cancel"]}`
	networkParams = `{"kind":"command","threadId":"s","turnId":"turn","itemId":"call_2","startedAtMs":1,"reason":null,"command":null,"cwd":null,"networkApprovalContext":{"host":"example.com","protocol":"https"},"proposedNetworkPolicyAmendments":[{"action":"allow","host":"example.com"}],"availableDecisions":null}`
	filesParams   = `{"threadId":"s","turnId":"turn","itemId":"call_3","startedAtMs":1,"reason":null,"grantRoot":"/srv"}`
	morePerms     = `{"network":{"enabled":true},"fileSystem":{"read":null,"write":["/etc/foo"],"entries":[{"path":{"type":"path","path":"/etc/foo"},"access":"write"},{"path":{"type":"special","value":{"kind":"project_roots","subpath":null}},"access":"read"}]}}`
	permsParams   = `{"threadId":"s","turnId":"turn","itemId":"call_4","environmentId":"local","startedAtMs":1,"cwd":"/p","reason":"Need network","permissions":` + morePerms + `}`
	toolParams    = `{"threadId":"s","turnId":"turn","serverName":"files","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","persist":["session","always","forever"],"tool_name":"wipe","tool_params":{"what":"all"},"tool_params_display":[]},"message":"Allow?","requestedSchema":{"type":"object","properties":{}}}`
	formParams    = `{"threadId":"s","turnId":"turn","serverName":"files","mode":"form","_meta":null,"message":"Your colour?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string","enum":["red","blue"]}},"required":["colour"]}}`
	urlParams     = `{"threadId":"s","turnId":null,"serverName":"files","mode":"url","_meta":null,"message":"Sign in","elicitationId":"e","url":"https://example.com/in"}`
	askParams     = `{"threadId":"s","turnId":"turn","itemId":"call_5","questions":[{"id":"db","header":"Database","question":"Which database?","isOther":true,"isSecret":false,"options":[{"label":"SQLite","description":"A file."},{"label":"Postgres","description":"A server."}]},{"id":"name","header":"Name","question":"What name?","isOther":false,"isSecret":false,"options":null}],"isBlocking":false,"autoResolutionMs":null}`
)

func TestEachOptionOfAPermissionIsWhatCodexOffersAndDoesExactlyThat(t *testing.T) {
	tests := []struct {
		name, method, params string
		want                 []string // label | effect | what is sent
	}{
		{"command", runCommand, commandParams, []string{
			`Allow once||{"decision":"accept"}`,
			`Allow for this session|this command in this session|{"decision":"acceptForSession"}`,
			`Always allow|commands that start with touch "/etc/x y" everywhere (writes ~/.codex/rules/default.rules)|{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch","/etc/x y"]}}}`,
			`Deny||{"decision":"decline"}`,
			`Deny with a message||{"decision":"decline"}`,
			`Deny and stop the turn||{"decision":"cancel"}`,
			`Always deny|connections to evil.example everywhere (a rule of Codex's)|{"decision":{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"action":"deny","host":"evil.example"}}}}`,
		}},
		{"network", runCommand, networkParams, []string{
			`Allow once||{"decision":"accept"}`,
			`Always allow|connections to example.com everywhere (a rule of Codex's)|{"decision":{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"action":"allow","host":"example.com"}}}}`,
			`Deny||{"decision":"decline"}`,
			`Deny with a message||{"decision":"decline"}`,
			`Deny and stop the turn||{"decision":"cancel"}`,
		}},
		{"files", changeFiles, filesParams, []string{
			`Allow once||{"decision":"accept"}`,
			`Allow for this session|files below /srv, for the rest of this session|{"decision":"acceptForSession"}`,
			`Deny||{"decision":"decline"}`,
			`Deny with a message||{"decision":"decline"}`,
			`Deny and stop the turn||{"decision":"cancel"}`,
		}},
		{"permissions", addPermissions, permsParams, []string{
			`Allow for this turn|network, write /etc/foo, read project roots, until this turn ends|{"permissions":` + morePerms + `,"scope":"turn"}`,
			`Allow for this session|network, write /etc/foo, read project roots, for the rest of this session|{"permissions":` + morePerms + `,"scope":"session"}`,
			`Deny||{"permissions":{},"scope":"turn"}`,
			`Deny with a message||{"permissions":{},"scope":"turn"}`,
		}},
		{"tool", fillForm, toolParams, []string{
			`Allow once||{"action":"accept","content":null}`,
			`Allow for this session|the tool wipe of files, with any arguments in this session|{"action":"accept","content":null,"_meta":{"persist":"session"}}`,
			`Always allow|the tool wipe of files, with any arguments everywhere (writes ~/.codex/config.toml)|{"action":"accept","content":null,"_meta":{"persist":"always"}}`,
			`Deny||{"action":"decline"}`,
			`Deny with a message||{"action":"decline"}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := readFor(tt.method, tt.params)
			if q.req.Prompt.Kind != ask.Permission || q.req.Prompt.Door != ask.Shared || len(q.req.Questions) != 1 || len(q.req.Prompt.Grants) != len(q.req.Questions[0].Options) {
				t.Fatalf("got %+v with %+v", q.req.Prompt, q.req.Questions)
			}
			var got []string
			for i, o := range q.req.Questions[0].Options {
				result, note, ok := q.answer(ask.Reply{Status: ask.Answered, Results: []ask.Result{{ID: "permission", SelectedOptions: []string{o.Label}, Note: "n"}}})
				if !ok || (note != "") != q.req.Prompt.Grants[i].Note {
					t.Errorf("%s: %v with the note %q", o.Label, ok, note)
				}
				got = append(got, o.Label+"|"+q.req.Prompt.Grants[i].Effect+"|"+string(result))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if result, note, ok := q.answer(ask.Reply{Status: ask.Declined, Reason: "no"}); !ok || note != "no" || string(result) != string(q.choices[slices.IndexFunc(q.choices, func(c approvals.Choice) bool { return c.Label == "Deny" })].Result) {
				t.Errorf("declined, it sends %s with the note %q", result, note)
			}
			if _, _, ok := q.answer(ask.Reply{Status: ask.Answered, Results: []ask.Result{{SelectedOptions: []string{"Allow all"}}}}); ok {
				t.Error("an option that is not there was taken")
			}
			if _, _, ok := q.answer(ask.Reply{Status: ask.TimedOut}); ok {
				t.Error("nobody's answer was sent")
			}
		})
	}
}

func TestOptionsThatLastCanBeLeftOut(t *testing.T) {
	for method, params := range map[string]string{runCommand: commandParams, changeFiles: filesParams, addPermissions: permsParams, fillForm: toolParams} {
		q := read(rpc.Message{Method: method, Params: json.RawMessage(params)}, around{OnceOnly: true, Folder: "/", Changes: readAnyChange})
		if len(q.req.Prompt.Grants) < 3 {
			t.Errorf("%s: left is %+v", method, q.req.Prompt.Grants)
		}
		for _, g := range q.req.Prompt.Grants {
			if g.Scope != ask.Once {
				t.Errorf("%s: left is %+v", method, g)
			}
		}
	}
}

func readAnyChange(string) []change {
	c := change{Path: "/a", Diff: "@@ -1 +1 @@\n-a\n+b\n"}
	c.Kind.Type = "update"
	return []change{c}
}

func TestWhatAPermissionIsAbout(t *testing.T) {
	for _, tt := range []struct {
		method, params string
		want           ask.Prompt
	}{
		{runCommand, commandParams, ask.Prompt{Tool: "bash", Command: "touch /etc/x && echo hi", Words: "Need to write there", Marks: []string{"outside the project"}}},
		{runCommand, networkParams, ask.Prompt{Tool: "a connection to example.com (https)"}},
		{runCommand, strings.NewReplacer("/bin/bash -lc 'touch /etc/x && echo hi'", "git push --force", `"cwd":"/home/ana/api"`, `"cwd":"/srv"`, `"reason"`, `"additionalPermissions":`+morePerms+`,"reason"`).Replace(commandParams), ask.Prompt{
			Tool: "a command", Command: "git push --force", Words: "Need to write there",
			Marks: []string{"runs in /srv", "with more permissions: network, write /etc/foo, read project roots"},
		}},
		{runCommand, strings.Replace(commandParams, `"kind":"command"`, `"kind":"writeStdin"`, 1), ask.Prompt{Tool: "input for a running command", Command: "touch /etc/x && echo hi", Words: "Need to write there", Marks: []string{"outside the project"}}},
		{changeFiles, filesParams, ask.Prompt{Tool: "an edit", Path: "/home/ana/api/a.txt", Diff: "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n", Marks: []string{"asks to write below /srv"}}},
		{addPermissions, permsParams, ask.Prompt{Tool: "more permissions", Words: "Need network", Args: json.RawMessage(morePerms)}},
		{fillForm, toolParams, ask.Prompt{Tool: "files.wipe", Args: json.RawMessage(`{"what":"all"}`)}},
	} {
		p := readFor(tt.method, tt.params).req.Prompt
		got := ask.Prompt{Tool: p.Tool, Command: p.Command, Path: p.Path, Diff: p.Diff, Words: p.Words, Args: p.Args, Marks: p.Marks}
		if a, b := string(encodedPrompt(got)), string(encodedPrompt(tt.want)); a != b {
			t.Errorf("got  %s\nwant %s", a, b)
		}
	}
}

func encodedPrompt(p ask.Prompt) json.RawMessage {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return b
}

func TestAnswersToQuestionsAreThoseOfTheTerminal(t *testing.T) {
	q := readFor(askUser, askParams)
	if q.req.Prompt.Kind != ask.OwnQuestion || len(q.req.Questions) != 2 || !q.req.Questions[0].AllowOther || q.req.Questions[1].Kind != ask.Text {
		t.Fatalf("got %+v", q.req.Questions)
	}
	one := func(r ask.Result) []ask.Result { return []ask.Result{r, {Skipped: true}} }
	for _, tt := range []struct {
		name  string
		reply ask.Reply
		want  string
		note  string
	}{
		{"option", ask.Reply{Results: one(ask.Result{SelectedOptions: []string{"Postgres"}})}, `{"answers":{"db":{"answers":["Postgres"]},"name":{"answers":[]}}}`, ""},
		{"with a note", ask.Reply{Results: one(ask.Result{SelectedOptions: []string{"Postgres"}, Note: "17 & up"})}, `{"answers":{"db":{"answers":["Postgres","user_note: 17 & up"]},"name":{"answers":[]}}}`, ""},
		{"own text", ask.Reply{Results: one(ask.Result{CustomInput: "DuckDB"})}, `{"answers":{"db":{"answers":["None of the above","user_note: DuckDB"]},"name":{"answers":[]}}}`, ""},
		{"asked back", ask.Reply{Results: one(ask.Result{Clarify: "for what?"})}, `{"answers":{"db":{"answers":["None of the above","user_note: for what?"]},"name":{"answers":[]}}}`, ""},
		{"text", ask.Reply{Results: []ask.Result{{Skipped: true}, {CustomInput: "api"}}}, `{"answers":{"db":{"answers":[]},"name":{"answers":["user_note: api"]}}}`, ""},
		{"declined", ask.Reply{Status: ask.Declined, Reason: "Decide yourself."}, `{"answers":{"db":{"answers":[]},"name":{"answers":[]}}}`, "The user declined to answer. Decide yourself."},
		{"no such option", ask.Reply{Results: one(ask.Result{SelectedOptions: []string{"Oracle"}})}, "", ""},
	} {
		result, note, ok := q.answer(tt.reply)
		if string(result) != tt.want || note != tt.note || ok != (tt.want != "") {
			t.Errorf("%s: %s, note %q, %v", tt.name, result, note, ok)
		}
	}
}

func TestAFormIsAcceptedDeclinedOrClosed(t *testing.T) {
	form, page := readFor(fillForm, formParams), readFor(fillForm, urlParams)
	if form.req.Prompt.Kind != ask.ServerForm || form.req.Questions[0].Kind != ask.Form || !strings.Contains(page.req.Questions[0].Description, "a page of example.com") {
		t.Fatalf("got %+v and %+v", form.req.Questions, page.req.Questions)
	}
	for _, tt := range []struct {
		q     *asked
		reply ask.Reply
		want  string
	}{
		{form, ask.Reply{Results: []ask.Result{{Content: json.RawMessage(`{"colour":"red"}`)}}}, `{"action":"accept","content":{"colour":"red"}}`},
		{form, ask.Reply{Status: ask.Declined}, `{"action":"decline"}`},
		{form, ask.Reply{Results: []ask.Result{{Skipped: true}}}, `{"action":"cancel"}`},
		{page, ask.Reply{Results: []ask.Result{{SelectedOptions: []string{"Yes"}}}}, `{"action":"accept","content":{}}`},
		{page, ask.Reply{Results: []ask.Result{{SelectedOptions: []string{"No"}}}}, `{"action":"decline"}`},
	} {
		if result, _, ok := tt.q.answer(tt.reply); !ok || string(result) != tt.want {
			t.Errorf("got %s, %v; want %s", result, ok, tt.want)
		}
	}
}

func TestWhatIsNotUnderstoodIsLeftToTheTerminal(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for name, tt := range map[string]struct{ method, params string }{
		"secret":              {askUser, strings.Replace(askParams, `"isSecret":false`, `"isSecret":true`, 1)},
		"equal labels":        {askUser, strings.Replace(askParams, "Postgres", "SQLite", 1)},
		"no questions":        {askUser, `{"threadId":"s","itemId":"i","questions":[]}`},
		"no command":          {runCommand, `{"threadId":"s","itemId":"i","availableDecisions":["accept"]}`},
		"no way to allow":     {runCommand, strings.Replace(commandParams, `"availableDecisions":[`, `"availableDecisions":["cancel"],"x":[`, 1)},
		"unknown kind":        {runCommand, strings.Replace(commandParams, `"kind":"command"`, `"kind":"dream"`, 1)},
		"unknown permissions": {addPermissions, strings.Replace(permsParams, `"network":`, `"camera":`, 1)},
		"unknown access":      {addPermissions, strings.Replace(permsParams, `"access":"write"`, `"access":"own"`, 1)},
		"no permissions":      {addPermissions, `{"threadId":"s","itemId":"i","permissions":{}}`},
		"unknown approval":    {fillForm, strings.Replace(toolParams, "mcp_tool_call", "other", 1)},
		"unknown form":        {fillForm, strings.Replace(formParams, `"mode":"form"`, `"mode":"openai/form"`, 1)},
		"another type":        {runCommand, `{"threadId":"s","itemId":"i","command":["rm"]}`},
		"a name twice":        {runCommand, strings.Replace(commandParams, `"reason"`, `"command":"ls","reason"`, 1)},
		"too deep":            {addPermissions, strings.Replace(permsParams, `"reason"`, `"x":`+deep+`,"reason"`, 1)},
		"too long":            {runCommand, strings.Replace(commandParams, "touch", strings.Repeat("x", maxString), 1)},
	} {
		q := readFor(tt.method, tt.params)
		if p := q.req.Prompt; p.Door != ask.InTerminal || len(q.req.Questions) != 1 || (p.Misread == "") != strings.HasPrefix(q.req.Questions[0].Description, "Not shown here, because ") {
			t.Errorf("%s: %+v %+v", name, q.req.Prompt, q.req.Questions)
		}
		if _, _, ok := q.answer(ask.Reply{Results: []ask.Result{{SelectedOptions: []string{"Answer in its terminal"}}}}); ok {
			t.Errorf("%s was answered", name)
		}
	}
}

func TestAPromptKeepsItsIdentityWhenItIsSentAgain(t *testing.T) {
	seen := map[string]string{}
	for method, params := range map[string]string{runCommand: commandParams, changeFiles: filesParams, addPermissions: permsParams, fillForm: toolParams, askUser: askParams} {
		a, b := readFor(method, params), readFor(method, params)
		if a.req.Prompt.ID == "" || a.req.Prompt.ID != b.req.Prompt.ID || seen[a.req.Prompt.ID] != "" {
			t.Errorf("%s: %q, then %q", method, a.req.Prompt.ID, b.req.Prompt.ID)
		}
		seen[a.req.Prompt.ID] = method
	}
	if a, b := readFor(fillForm, toolParams), readFor(fillForm, formParams); a.req.Prompt.ID == b.req.Prompt.ID {
		t.Error("two forms are one")
	}
}

func TestShellsAreTakenOffACommand(t *testing.T) {
	for line, want := range map[string][2]string{
		`/bin/bash -lc 'ls -l'`:         {"bash", "ls -l"},
		`bash -lc "it's"`:               {"bash", "it's"},
		`zsh -c 'a'"'"'b'`:              {"zsh", "a'b"},
		`bash -lc "a\\b \$c"'$d'`:       {"bash", `a\b $c$d`},
		`bash -lc "a\b"`:                {"a command", `bash -lc "a\b"`},
		`bash -lc "a!b"`:                {"a command", `bash -lc "a!b"`},
		`sh -c ls`:                      {"sh", "ls"},
		"bash -lc 'a\nb'":               {"bash", "a\nb"},
		`bash -lc "$HOME"`:              {"a command", `bash -lc "$HOME"`},
		`bash -lc 'ls' 'x'`:             {"a command", `bash -lc 'ls' 'x'`},
		`bash -lc 'ls`:                  {"a command", `bash -lc 'ls`},
		`python -c 'print()'`:           {"a command", `python -c 'print()'`},
		`bash -lc ls; rm`:               {"a command", `bash -lc ls; rm`},
		"bash -lc ls\nrm":               {"a command", "bash -lc ls\nrm"},
		`git commit -m 'x'`:             {"a command", `git commit -m 'x'`},
		`PATH=/evil /bin/bash -lc 'ls'`: {"a command", `PATH=/evil /bin/bash -lc 'ls'`},
		`/bin/bash -lc '' `:             {"bash", ""},
		``:                              {"a command", ""},
	} {
		if program, script, _ := unwrap(line); program != want[0] || script != want[1] {
			t.Errorf("%q: %q, %q", line, program, script)
		}
	}
}

func FuzzRequests(f *testing.F) {
	for method, params := range map[string]string{runCommand: commandParams, changeFiles: filesParams, addPermissions: permsParams, fillForm: toolParams, askUser: askParams} {
		f.Add(method, params)
	}
	f.Add(fillForm, formParams)
	f.Add(fillForm, urlParams)
	f.Add(runCommand, networkParams)
	f.Fuzz(func(t *testing.T, method, params string) {
		m, bad := rpc.Rules{Lenient: true, Bare: true}.Decode([]byte(`{"id":1,"method":"x","params":` + params + `}`))
		if bad != nil || !isPrompt(method) {
			return
		}
		m.Method = method
		q := read(m, around{Changes: readAnyChange})
		if len(q.req.Questions) == 0 || q.req.Prompt.ID == "" {
			t.Fatalf("nothing to show: %+v", q)
		}
		if q.req.Prompt.Kind != ask.Permission {
			return
		}
		options := q.req.Questions[0].Options
		if len(options) != len(q.req.Prompt.Grants) {
			t.Fatalf("%d options, %d grants", len(options), len(q.req.Prompt.Grants))
		}
		seen := map[string]bool{}
		for i, o := range options {
			result, _, ok := q.answer(ask.Reply{Results: []ask.Result{{SelectedOptions: []string{o.Label}}}})
			if seen[o.Label] || ok && !json.Valid(result) || ok == (q.req.Prompt.Door == ask.InTerminal) {
				t.Errorf("option %q sends %s, %v", o.Label, result, ok)
			}
			if g := q.req.Prompt.Grants[i]; g.Allow && g.Scope != ask.Once && g.Effect == "" {
				t.Errorf("option %q does not say what it does", o.Label)
			}
			seen[o.Label] = true
		}
	})
}
