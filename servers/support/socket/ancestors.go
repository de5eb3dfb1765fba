package socket

import "os"

// Ancestors returns the ids of pid and the processes above it, nearest first.
func Ancestors(pid int) []int {
	const deepest = 64
	var ids []int
	for pid > 1 && len(ids) < deepest {
		ids = append(ids, pid)
		pid = Parent(pid)
	}
	return ids
}

// AgentOf looks for the program that started the process pid as its tool
// server: the nearest ancestor that neither is this program nor only wraps a
// command. A shell that a user types into is no agent.
func AgentOf(pid int) (agent int, program string) {
	for _, p := range Ancestors(pid) {
		name := Program(p)
		switch {
		case name == "mcpdeck" || name == "env" || p == os.Getpid():
			continue
		case isShell(name) && wraps(p):
			continue
		case isShell(name) || name == "":
			return 0, ""
		}
		return p, name
	}
	return 0, ""
}

// Behind looks for the program that runs this one as the process pid: a shell, or
// what else has started the command.
func Behind(pid int) (id int, program string) {
	for _, p := range Ancestors(pid) {
		if name := Program(p); name != "mcpdeck" && name != "" {
			return p, name
		}
	}
	return pid, ""
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "fish", "dash", "ksh", "login", "sudo", "tmux: server":
		return true
	}
	return false
}
