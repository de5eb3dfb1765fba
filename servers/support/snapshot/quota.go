package snapshot

import (
	"strconv"
	"time"
)

// Quota is how much of what an agent's account may use in some time is used.
type Quota struct {
	Agent   string        // ID in the table of clients
	Account string        // tells accounts of one agent apart; "" for that of its own folder
	Window  time.Duration // in which it counts; 0 if unknown
	Used    float64       // percent
	Resets  time.Time     // zero if unknown
	At      time.Time     // as of when
}

// Moment is a time that programs write in seconds; zero if it is 0.
func Moment(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// Ends returns when all is used at the pace so far; the zero time if it resets before, or if
// too little is used to tell.
func (q *Quota) Ends() time.Time {
	const little = 20
	began := q.Resets.Add(-q.Window)
	passed := q.At.Sub(began)
	if q.Window == 0 || q.Resets.IsZero() || passed <= 0 || q.Used < little {
		return time.Time{}
	}
	if ends := began.Add(time.Duration(float64(passed) * 100 / q.Used)); ends.Before(q.Resets) {
		return ends
	}
	return time.Time{}
}

// Text writes what is used: "5 h 62%, resets 14:10", with sep for the comma.
func (q *Quota) Text(sep string) string {
	text := strconv.Itoa(int(q.Used)) + "%"
	switch hours := int(q.Window.Hours()); {
	case hours >= 48:
		text = strconv.Itoa(hours/24) + " d " + text
	case hours > 0:
		text = strconv.Itoa(hours) + " h " + text
	}
	if !q.Resets.IsZero() {
		text += sep + "resets " + q.Clock(q.Resets)
	}
	return text
}

// Clock writes a time after q.At: "14:10", or "Tue 14:10" if that is more than most of a day.
func (q *Quota) Clock(t time.Time) string {
	const most = 20 * time.Hour
	if t.Sub(q.At) > most {
		return t.Local().Format("Mon 15:04")
	}
	return t.Local().Format("15:04")
}
