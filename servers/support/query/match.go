// Package query implements the query language for calls and sessions, used by the deck's
// Calls and Agents pages and by mcpdeck log.
//
// A query consists of words that occur anywhere in a call, and fields:
//
//	tool:pencil_* server:ask agent:claude status:error since:2h until:15:04 >500ms <2s
package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Query is what a call must have. The zero value lets all through.
type Query struct {
	Tool   string // exact, or with * for any text
	Server string // the same
	Agent  string // part of the name, or the whole with * for any text
	Status string // the beginning of one
	Since  time.Time
	Until  time.Time
	Longer time.Duration // took more
	Less   time.Duration // took less; 0: any time
	Words  []string      // each anywhere: tool, agent, server, status, arguments, result, machine and project
}

// Fields are the names before a colon.
func Fields() []string { return []string{"tool", "server", "agent", "status", "since", "until"} }

// Statuses are those that a call can have.
func Statuses() []snapshot.CallStatus {
	return []snapshot.CallStatus{snapshot.Running, snapshot.OK, snapshot.ToolError, snapshot.Refused, snapshot.Cancelled, snapshot.Lost}
}

// Parse reads a query. What begins like a field that there is not is a word. An
// empty value asks for nothing, as while it is being typed.
func Parse(text string, now time.Time) (Query, error) {
	var all []string
	for _, s := range append(Statuses()[1:], snapshot.Running) { // the one that is asked for least comes last
		all = append(all, string(s))
	}
	return parse(text, now, all)
}

func parse(text string, now time.Time, statuses []string) (Query, error) {
	var q Query
	for word := range strings.FieldsSeq(text) {
		name, value, field := strings.Cut(word, ":")
		switch {
		case field && slices.Contains(Fields(), name):
			if err := q.set(name, value, now, statuses); err != nil {
				return q, err
			}
		case word[0] == '>' || word[0] == '<':
			d, err := time.ParseDuration(word[1:])
			if err != nil && len(word) > 1 {
				return q, fmt.Errorf("%s: use a time such as >500ms or <2s", word)
			}
			if word[0] == '>' {
				q.Longer = d
			} else {
				q.Less = d
			}
		default:
			q.Words = append(q.Words, strings.ToLower(word))
		}
	}
	return q, nil
}

func (q *Query) set(name, value string, now time.Time, statuses []string) (err error) {
	switch name {
	case "tool":
		q.Tool = value
	case "server":
		q.Server = value
	case "agent":
		q.Agent = value
	case "status":
		q.Status = strings.ToLower(value)
		if !slices.ContainsFunc(statuses, func(s string) bool { return strings.HasPrefix(s, q.Status) }) {
			last := len(statuses) - 1
			return fmt.Errorf("status:%s: use %s or %s", value, strings.Join(statuses[:last], ", "), statuses[last])
		}
	case "since":
		q.Since, err = Moment(value, now)
	case "until":
		q.Until, err = Moment(value, now)
	}
	if err != nil {
		return fmt.Errorf("%s:%s: %w", name, value, err)
	}
	return nil
}

func (q *Query) isStatus(s snapshot.CallStatus) bool { return strings.HasPrefix(string(s), q.Status) }

// FullStatus is the status that the query means; "" when it asks for none.
func (q *Query) FullStatus() string {
	if q.Status == "" {
		return ""
	}
	all := Statuses()
	return string(all[slices.IndexFunc(all, q.isStatus)])
}

// Lets tells whether a call is one that the query asks for.
func (q *Query) Lets(c *snapshot.Call) bool {
	switch {
	case q.Tool != "" && !like(c.Tool, q.Tool),
		q.Server != "" && !like(c.Server, q.Server),
		q.Agent != "" && !like(c.AgentName, q.Agent) && (strings.Contains(q.Agent, "*") || !has(c.AgentName, strings.ToLower(q.Agent))),
		!q.isStatus(c.Status),
		!q.Since.IsZero() && c.Started.Before(q.Since),
		!q.Until.IsZero() && !c.Started.Before(q.Until),
		q.Longer > 0 && c.Duration <= q.Longer,
		q.Less > 0 && (c.Status == snapshot.Running || c.Duration >= q.Less):
		return false
	}
	for _, w := range q.Words {
		if !has(c.Tool, w) && !has(c.AgentName, w) && !has(c.Server, w) &&
			!has(string(c.Status), w) && !has(c.Args, w) && !has(c.Result, w) && !has(c.Place(), w) {
			return false
		}
	}
	return true
}

func has(s, word string) bool { return strings.Contains(strings.ToLower(s), word) }

// like tells whether s is the pattern, in which * stands for any text; capitals
// do not matter.
func like(s, pattern string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	s = strings.ToLower(s)
	last := len(parts) - 1
	if last == 0 {
		return s == parts[0]
	}
	s, ok := strings.CutPrefix(s, parts[0])
	for _, p := range parts[1:last] {
		i := strings.Index(s, p)
		if !ok || i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return ok && strings.HasSuffix(s, parts[last])
}

// Moment reads a point in time: so long ago, a time of today, a day, or both. An
// empty one is the zero Time.
func Moment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && fmt.Sprint(n) == days && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location()), nil
		}
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("use 90m, 2h, 3d, 15:04, 2006-01-02 or RFC 3339")
}
