package pencil

import (
	"strings"

	"golang.org/x/sys/windows/registry"
)

// uninstallFolders are the folders that installers of the app left in the
// registry; people install on other drives.
func uninstallFolders() []string {
	const path = `Software\Microsoft\Windows\CurrentVersion\Uninstall`
	var out []string
	for _, root := range []registry.Key{registry.CURRENT_USER, registry.LOCAL_MACHINE} {
		list, err := registry.OpenKey(root, path, registry.READ)
		if err != nil {
			continue
		}
		names, err := list.ReadSubKeyNames(-1)
		list.Close()
		if err != nil {
			continue
		}
		for _, n := range names {
			if d := installLocation(root, path+`\`+n); d != "" {
				out = append(out, d)
			}
		}
	}
	return out
}

func installLocation(root registry.Key, path string) string {
	k, err := registry.OpenKey(root, path, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer k.Close()
	name, _, err := k.GetStringValue("DisplayName")
	if err != nil {
		return ""
	}
	if first, _, _ := strings.Cut(name, " "); first != "Pen" && first != "Pencil" {
		return ""
	}
	dir, _, err := k.GetStringValue("InstallLocation")
	if err != nil {
		return ""
	}
	return dir
}
