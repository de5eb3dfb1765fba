// Package drain has a server end its work as its client reads: after the end of the input, it answers
// what somebody still waits for.
package drain

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

const (
	// lastCalls is how long calls may go on after the client has closed its output, as long
	// as somebody reads the answers.
	lastCalls = 10 * time.Minute
	// lastQuestions is the same for questions, which the deck keeps, with their answers, when
	// their agent is gone. A client that shuts a server down closes its output, waits for two
	// seconds, and kills.
	lastQuestions = time.Second
	// Unread is the same if it cannot be known whether somebody reads.
	Unread = 80 * time.Millisecond
)

// Awaited reports whether a call is still awaited some time after the end of the input.
func Awaited(waited time.Duration, question bool) bool {
	if question {
		return waited < lastQuestions
	}
	return waited < lastCalls
}

// Answers waits for the answers to requests that were read before the end of input,
// since a client may write all its requests and close. A client that is gone does not read,
// and nothing goes on for it. left returns how many answers are missing after some time.
func Answers(ctx context.Context, w io.Writer, left func(waited time.Duration) int) {
	began := time.Now()
	for wait := time.Millisecond; left(time.Since(began)) > 0; wait = min(2*wait, 100*time.Millisecond) {
		f, is := w.(*os.File)
		reads, known := false, false
		if is {
			reads, known = reader(f)
		}
		if known && !reads || !known && time.Since(began) > Unread || process.Pause(ctx, wait) != nil {
			return
		}
	}
}

// HungUp returns when the other end of a pipe, a socket or a terminal is closed, and reports
// whether it has learned of it: of something else it learns nothing.
func HungUp(of any) bool {
	f, is := of.(*os.File)
	return is && closed(f)
}
