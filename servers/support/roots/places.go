package roots

import (
	"path/filepath"
	"runtime"
	"strings"
)

// place is a folder that the rules know.
type place struct {
	path string
	kind kind
	why  string // it is refused
}

type kind int

const (
	tree kind = iota // refused with all below it
	top              // refused itself; what lies below is judged by other rules
	free             // what lies below is not the system's, though it lies in its folders
)

// secrets are the folders below a home that hold keys, passwords, tokens or
// cookies.
func secrets(home string) []place {
	var out []place
	add := func(k kind, below string, names ...string) {
		for _, n := range names {
			out = append(out, place{filepath.Join(home, filepath.FromSlash(below), filepath.FromSlash(n)), k, isSecrets})
		}
	}
	add(tree, "", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".password-store", ".pki", ".putty", ".step", ".vault",
		".terraform.d", ".config/mcpdeck", ".local/state/mcpdeck")
	add(tree, "", ".mozilla", ".thunderbird", ".librewolf", ".waterfox", ".tor-browser", "snap/firefox", "snap/chromium", "snap/thunderbird",
		".bitcoin", ".ethereum", ".electrum", ".monero")
	add(tree, ".config", "gh", "glab-cli", "hub", "gcloud", "doctl", "op", "sops", "rclone", "age", "keybase", "containers", "github-copilot",
		"google-chrome", "google-chrome-beta", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi", "opera", "Signal", "Bitwarden",
		"1Password", "KeePassXC", "keepassxc", "Slack", "discord", "evolution", "goa-1.0")
	add(tree, ".local/share", "keyrings", "kwalletd", "gnome-keyring", "password-store", "evolution", "gopass", "TelegramDesktop")
	add(tree, ".var/app", "org.mozilla.firefox", "org.chromium.Chromium", "com.google.Chrome", "com.brave.Browser", "org.mozilla.Thunderbird")
	// These hold such folders, or files: a token of the agent itself.
	add(top, "", ".config", ".local", ".local/share", ".local/state", ".cache", ".var", ".var/app", "snap", ".claude", ".codex", ".gemini", ".qwen", ".copilot", ".kimi-code", ".cursor")
	switch runtime.GOOS {
	case "darwin":
		add(tree, "Library", "Keychains", "Cookies", "Safari", "Mail", "Messages", "Accounts", "IdentityServices", "Calendars", "Containers",
			"Group Containers", "HTTPStorages", "WebKit")
		add(tree, "Library/Application Support", "Google", "Firefox", "Chromium", "BraveSoftware", "Microsoft Edge", "Arc", "Vivaldi",
			"com.operasoftware.Opera", "com.apple.TCC", "AddressBook", "MobileSync", "1Password", "Bitwarden", "Signal", "Slack", "gcloud")
		add(top, "", "Library", "Library/Application Support")
	case "windows":
		for _, below := range []string{"AppData/Roaming", "AppData/Local"} {
			add(tree, below, "Microsoft/Credentials", "Microsoft/Crypto", "Microsoft/Protect", "Microsoft/Vault", "Microsoft/SystemCertificates",
				"Microsoft/Edge", "Google", "Mozilla", "BraveSoftware", "Chromium", "Vivaldi", "Opera Software", "GitHub CLI", "gcloud", "gnupg",
				"Bitwarden", "1Password", "Signal", "Slack")
			add(top, below, "", "Microsoft")
		}
		add(top, "", "AppData")
	}
	return out
}

// system are the folders of the operating system, and those inside them where
// projects are kept. A home may lie there, too: that of a service.
func system(homes []string) []place {
	var out []place
	add := func(k kind, paths ...string) {
		why := isSystem
		if k == free {
			why = ""
		}
		for _, p := range paths {
			out = append(out, place{p, k, why})
		}
	}
	switch runtime.GOOS {
	case "windows":
		volumes := []string{"C:"}
		for _, h := range homes {
			volumes = append(volumes, filepath.VolumeName(h))
		}
		for _, v := range volumes {
			for _, name := range []string{"Windows", "Program Files", "Program Files (x86)", "ProgramData", "Recovery", "$Recycle.Bin", "System Volume Information"} {
				add(tree, v+`\`+name)
			}
		}
	case "darwin":
		add(tree, "/System", "/Library", "/Applications", "/private", "/usr", "/bin", "/sbin", "/dev", "/cores", "/Network")
		add(free, "/private/tmp", "/private/var/tmp", "/private/var/folders", "/usr/local/src")
	default:
		add(tree, "/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/lost+found", "/nix", "/proc", "/run", "/sbin",
			"/snap", "/sys", "/usr", "/var", "/mnt/c/Windows", "/mnt/c/Program Files", "/mnt/c/ProgramData")
		add(free, "/dev/shm", "/run/media", "/usr/app", "/usr/home", "/usr/src", "/usr/local/src", "/var/app", "/var/home", "/var/mnt", "/var/opt",
			"/var/srv", "/var/task", "/var/tmp", "/var/www")
	}
	add(top, filepath.VolumeName(first(homes))+string(filepath.Separator))
	for _, h := range homes {
		if strings.Count(filepath.Clean(h), string(filepath.Separator)) > 1 { // /usr, /dev and the like are homes of the system's own users
			add(free, h)
		}
	}
	return out
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
