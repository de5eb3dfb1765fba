package hook

// StatusLine is what the command of a status line tells the deck: of its input, how much is
// used of what an account may use.
type StatusLine struct {
	Event   string `json:"hook_event_name"`
	Session string `json:"session_id"`
	Quotas  struct {
		FiveHours *Used `json:"five_hour,omitempty"`
		SevenDays *Used `json:"seven_day,omitempty"`
	} `json:"rate_limits"`
}

// Used is how much of a quota is used, in percent, and when it is reset, in seconds since 1970.
type Used struct {
	Percent float64 `json:"used_percentage"`
	Resets  float64 `json:"resets_at"`
}
