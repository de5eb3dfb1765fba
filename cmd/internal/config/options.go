package config

import (
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
)

// AskOptions are the queue's.
func (c *Config) AskOptions() ask.Options {
	f := c.File.Ask
	o := ask.Options{
		Timeout: time.Duration(f.Timeout), Hold: time.Duration(f.UndoSeconds) * time.Second, Snooze: time.Duration(f.Snooze),
		DeadlineFirst: f.Sort == "deadline", AutoDeliverParked: f.AutoDeliverParked,
		StateFile: c.Paths.Drafts, HistoryFile: c.Paths.History,
		AllowHold: time.Duration(c.File.Prompts.UndoSeconds) * time.Second,
	}
	if f.UndoSeconds <= 0 {
		o.Hold = -1
	}
	if f.Persist == "off" {
		o.StateFile = ""
	}
	if f.History == "off" {
		o.HistoryFile = ""
	}
	return o
}

// ProjectRoot is the working folder, unless no project may live in it.
func (c *Config) ProjectRoot() string {
	if _, err := c.Roots.Folder(c.Dir); err != nil {
		return ""
	}
	return c.Dir
}
