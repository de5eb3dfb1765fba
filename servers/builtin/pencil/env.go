package pencil

import (
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// childCommand starts the program that was found. It finds its app by HOME
// alone.
func childCommand(o Options, found Found) process.Command {
	args := []string{"--app", found.App}
	if o.SpawnAgents {
		args = append(args, "--enable_spawn_agents")
	}
	var extra []string
	if o.Home != "" {
		extra = append(extra, "HOME="+o.Home)
	}
	return process.Command{
		Program: found.Program, Args: append(args, o.Args...), Dir: o.Root,
		Kind: process.Server, Own: o.Environ, Extra: append(extra, o.Env...),
	}
}

// variable is the value of a variable of the deck's environment.
func (o Options) variable(name string) string {
	value, _ := process.Lookup(o.Environ, name) // "" for none
	return value
}

// short shows a path with ~ for the home folder.
func (o Options) short(path string) string {
	return humanize.Tilde(path, o.Home)
}
