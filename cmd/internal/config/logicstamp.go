package config

// Logicstamp is the snapshots of contracts.
type Logicstamp struct {
	Command         string   `toml:"command"` // the stamp CLI; empty: searched
	AllowProjectCLI bool     `toml:"allow_project_cli"`
	AllowedPaths    []string `toml:"allowed_paths"`
	Publish         bool     `toml:"publish"`
	MaxSnapshots    int      `toml:"max_snapshots"`
	TTLMinutes      int      `toml:"ttl_minutes"`
	StampSeconds    int      `toml:"stamp_seconds"`
}

func defaultLogicstamp() Logicstamp {
	return Logicstamp{MaxSnapshots: 10, TTLMinutes: 60, StampSeconds: 900}
}
