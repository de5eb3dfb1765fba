package tui

// RenamedActions are the actions by the names of before.
func RenamedActions() map[string]string { return renamedActions() }
