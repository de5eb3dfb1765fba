//go:build !windows

package pencil

// uninstallFolders exist on Windows only.
func uninstallFolders() []string { return nil }
