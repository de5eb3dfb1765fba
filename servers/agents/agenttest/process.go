package agenttest

import (
	"fmt"
	"os/exec"
)

// Process starts a program that does nothing, with these variables, and returns once the system tells them. end
// ends it.
func Process(env ...string) (pid int, end func(), err error) {
	c := exec.Command("/bin/cat")
	c.Env = env
	in, err := c.StdinPipe()
	if err != nil {
		return 0, nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, nil, err
	}
	if err := c.Start(); err != nil {
		return 0, nil, err
	}
	end = func() {
		_ = in.Close()
		_ = c.Wait()
	}
	if _, err = fmt.Fprintln(in, "runs"); err == nil {
		_, err = fmt.Fscan(out, new(string))
	}
	if err != nil {
		end()
		return 0, nil, err
	}
	return c.Process.Pid, end, nil
}
