package clients

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// Member is one key of a server's entry. Values are strings, numbers, booleans,
// lists of strings, and maps of strings.
type Member struct {
	Key   string
	Value any
}

// Form is how a client writes the entry of a server that is a command.
type Form struct {
	First   []Member      // before the command
	OneList bool          // the command is the first of its arguments
	Then    []Member      // behind the arguments
	Timeout string        // key of the limit of one call; "" when no entry raises it
	Unit    time.Duration // of Timeout
	Env     string        // key of the environment, which is always written; "": "env", if there is something in it
	Alone   []Member      // besides, in a file that is for this server alone
}

// Server is what an entry starts.
type Server struct {
	Command string
	Args    []string
	Env     map[string]string
	Limit   time.Duration // of one call, where the client lets that be set
}

// Members are the entry's, in the order they are written. Where the limit is set,
// the environment says so.
func (f Form) Members(s Server) []Member {
	out := slices.Clone(f.First)
	if f.OneList {
		out = append(out, Member{"command", append(list(s.Command), s.Args...)})
	} else {
		out = append(out, Member{"command", s.Command}, Member{"args", s.Args})
	}
	out = append(out, f.Then...)
	env := map[string]string{}
	maps.Copy(env, s.Env)
	if f.Timeout != "" {
		out = append(out, Member{f.Timeout, int(s.Limit / f.Unit)})
		env[LimitHint] = strconv.FormatInt(s.Limit.Milliseconds(), 10)
	}
	switch {
	case f.Env != "":
		out = append(out, Member{f.Env, env})
	case len(env) > 0:
		out = append(out, Member{"env", env})
	}
	return out
}

// Relay are the members that start a command in place of what an entry started before.
// What else the user has set there stays.
func (f Form) Relay(command []string) []Member {
	kind := func(m Member) bool { return m.Key != "type" && m.Key != "source" }
	out := slices.DeleteFunc(slices.Clone(f.First), kind)
	if f.OneList {
		out = append(out, Member{"command", command})
	} else {
		out = append(out, Member{"command", command[0]}, Member{"args", command[1:]})
	}
	return append(out, slices.DeleteFunc(slices.Clone(f.Then), kind)...)
}
