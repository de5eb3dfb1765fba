//go:build !unix

package hook

// statusLine does nothing: setup writes no status line here.
func statusLine([]string, string) {}
