package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tool makes one of a line: SERVER NAME | description | parameters.
func tool(line string) Tool {
	parts := strings.Split(line, "|")
	server, name, _ := strings.Cut(strings.TrimSpace(parts[0]), " ")
	properties := map[string]any{}
	for p := range strings.FieldsSeq(parts[2]) {
		properties[p] = map[string]any{"type": "string"}
	}
	b, _ := json.Marshal(map[string]any{"name": name, "description": strings.TrimSpace(parts[1]), "inputSchema": map[string]any{"type": "object", "properties": properties}})
	return Tool{Server: server, Name: strings.TrimSpace(name), Definition: b}
}

func toolbox() (tools []Tool) {
	for _, line := range []string{
		"tracker createTicket     | Create a ticket in a project. | project summary",
		"tracker close-ticket     | Close a ticket. Comments stay. | id",
		"tracker list_tickets     | List the tickets of a project, newest first. | project assignee",
		"tracker add_comment      | Add a comment to a ticket. | id body",
		"disk    make_directory   | Create a directory. | path",
		"disk    read_file        | Read a file from disk. | path",
		"disk    delete_file      | Delete a file. This cannot be undone. | path",
		"disk    move_file        | Move a file, or rename it. | source destination",
		"browser navigate         | Go to an address. | url",
		"browser take_screenshot  | Take a screenshot of the page. | fullPage",
		"browser click            | Click an element. | selector",
		"browser fill_form        | Fill in the fields of a form. | fields",
		"mail    send_message     | Send an e-mail. | recipient subject body",
		"mail    search_mailbox   | Search the mailbox. | query folder",
		"weather forecast         | The weather of the next days at a place. | city days",
	} {
		tools = append(tools, tool(line))
	}
	return tools
}

func TestAToolIsFoundByWhatItDoes(t *testing.T) {
	x := New(toolbox())
	for query, want := range map[string]string{
		"create a ticket":                "createTicket",
		"Close Ticket":                   "close-ticket",
		"show all the tickets":           "list_tickets",
		"leave a remark on a ticket":     "add_comment",
		"new folder":                     "make_directory",
		"reading files":                  "read_file",
		"remove a file from the disk":    "delete_file",
		"renaming":                       "move_file",
		"visit a website":                "navigate",
		"take a picture of the web page": "take_screenshot",
		"press a button":                 "click",
		"enter data into a form":         "fill_form",
		"find e-mails":                   "search_mailbox",
		"send mail to somebody":          "send_message",
		"what is it like in this city":   "forecast",
		"full page":                      "take_screenshot",
	} {
		got := x.Find(query, "", 5)
		if len(got) == 0 || len(got) > 5 || got[0].Name != want {
			t.Errorf("%s: got %v, want %s", query, names(got), want)
		}
	}
	for _, query := range []string{"", "the of and", "xylophone", "🙂"} {
		if got := x.Find(query, "", 5); len(got) != 0 {
			t.Errorf("%q: got %v", query, names(got))
		}
	}
}

func names(tools []Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

func TestToolsOfOneServerAreFound(t *testing.T) {
	x := New(toolbox())
	if got := x.Find("search", "disk", 5); len(got) != 0 {
		t.Errorf("got %v of another server", names(got))
	}
	if got := names(x.Find("file", "disk", 2)); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if got := names(x.Find("everything about the weather", "", 5)); !slices.Equal(got, []string{"forecast"}) {
		t.Errorf("by the server's name: %v", got)
	}
}

// Of two tools the one is better that fits all words, and not the one that repeats one
// of them.
func TestAToolThatFitsMoreWordsComesFirst(t *testing.T) {
	x := New([]Tool{
		tool("a status | Status, status, status: the status of the status service. | status"),
		tool("a report | A report on the status of a build. | build"),
		tool("a other  | Something else. | x"),
	})
	if got := names(x.Find("status report of a build", "", 2)); !slices.Equal(got, []string{"report", "status"}) {
		t.Errorf("got %v", got)
	}
}

func TestNamesAreTakenApart(t *testing.T) {
	for text, want := range map[string]string{
		"create_issue":     "create issue",
		"API-post-page":    "api post page",
		"getHTTPResponse2": "get http response2",
		"user's iOS a b":   "users os",
		"":                 "",
		"größe-ändern":     "größe ändern",
	} {
		if got := strings.Join(split(text), " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte(`{"name":"a","description":"b. c","inputSchema":{"properties":{"x":{"items":{"properties":{"y":{"description":"z"}}}}}}}`), "z", "s")
	f.Add([]byte(`[]`), "\xff'", "")
	f.Fuzz(func(t *testing.T, definition []byte, query, server string) {
		x := New([]Tool{{"s", "a", definition}, {"t", query, nil}})
		if got := x.Find(query, server, 1); len(got) > 1 {
			t.Error(fmt.Sprint(got))
		}
	})
}
