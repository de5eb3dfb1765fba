package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

// StatusLine is the flag of the user's own command, the last argument.
const StatusLine = "--statusline"

const (
	tellWithin = 100 * time.Millisecond
	mostInput  = 1 << 20 // that is looked at
)

// tell hands the deck, if there is one, what a status line's input says of quotas, and nothing
// else of it.
func tell(args []string, input []byte) {
	var says hook.StatusLine
	agent, socket, ok := read(args, os.Getenv)
	if !ok || json.Unmarshal(input, &says) != nil || says.Quotas.FiveHours == nil && says.Quotas.SevenDays == nil {
		return
	}
	says.Event = "StatusLine"
	event, _ := json.Marshal(says) // plain values always encode
	program, _ := os.Executable()  // "" is a program that is not known
	hook.Ask(context.Background(), hook.Call{Socket: socket, Agent: agent, Program: program, Env: os.Getenv, Input: bytes.NewReader(event), Within: tellWithin})
}
