package socket

import "strconv"

// Machine says on which machine the process pid at the other end of a
// connection works, as far as that differs from this one: "" for a process
// beside this one, else a word for what stands between ("container", "ssh") and
// what tells two of them apart. What the system says about such a process (its
// folder, its program) is not what the asker sees of itself.
func Machine(pid int) string {
	if name := Program(pid); carries(name) {
		return name + " " + strconv.Itoa(pid)
	}
	return container(pid)
}

// carries tells whether a program only brings another machine's connection here.
func carries(program string) bool {
	switch program {
	case "ssh", "sshd", "sshd-session", "dropbear", "socat", "websocat", "nc", "ncat", "netcat", "docker-proxy", "rootlessport", "gvproxy":
		return true
	}
	return false
}
