package setup

import "strconv"

// serverName is the deck's name in every client's file.
const serverName = "mcpdeck"

// member is one key of a server's entry, in the order it is written. Values
// are strings, numbers, booleans, lists of strings, and maps of strings.
type member struct {
	key   string
	value any
}

// remote are the keys of an entry for a server that is reached by address.
// They go when the entry becomes a command.
var remote = []string{"url", "httpUrl", "serverUrl", "headers", "http_headers", "bearer_token_env_var"}

// members puts the parts of an entry together.
func members(parts ...func(Entry) []member) func(Entry) []member {
	return func(e Entry) []member {
		var out []member
		for _, p := range parts {
			out = append(out, p(e)...)
		}
		return out
	}
}

func stdio(e Entry) []member {
	return []member{{"command", e.Command}, {"args", e.args(false)}}
}

// fixed is stdio for a client that never asks for a changed list of tools.
func fixed(e Entry) []member {
	return []member{{"command", e.Command}, {"args", e.args(true)}}
}

func timeoutMillis(Entry) []member {
	return []member{{"timeout", raised * 1000}, {"env", clientTimeout()}}
}

func timeoutSeconds(Entry) []member {
	return []member{{"timeout", raised}, {"env", clientTimeout()}}
}

func typeStdio(Entry) []member { return []member{{"type", "stdio"}} }

func zed(Entry) []member {
	return []member{{"source", "custom"}, {"enabled", true}, {"env", map[string]string{}}}
}

func openCode(e Entry) []member {
	return []member{
		{"type", "local"},
		{"command", append([]string{e.Command}, e.args(false)...)},
		{"enabled", true},
		{"timeout", raised * 1000},
		{"environment", clientTimeout()},
	}
}

func codexEntry(e Entry) []member {
	return append(fixed(e), member{"required", true}, member{"tool_timeout_sec", raised}, member{"env", clientTimeout()})
}

// clientTimeout tells the ask tool what the client was set to.
func clientTimeout() map[string]string {
	return map[string]string{"MCPDECK_CLIENT_TIMEOUT_MS": strconv.Itoa(raised * 1000)}
}
