package clients

import (
	"path/filepath"
	"runtime"
)

// Folders are where clients keep the user's own files. The empty ones but for
// Home are as the client has them by default.
type Folders struct {
	Home    string
	Config  string // XDG_CONFIG_HOME
	AppData string // APPDATA, on Windows
	Claude  string // CLAUDE_CONFIG_DIR
	Codex   string // CODEX_HOME
	Qwen    string // QWEN_HOME
	Copilot string // COPILOT_HOME
	Kimi    string // KIMI_CODE_HOME
}

// Program returns the folder in which a client's program keeps what it does, such as
// conversations; "" if that is not known.
func (f Folders) Program(id string) string {
	if c, ok := Find(id); ok && c.Folder != nil {
		return c.Folder(f)
	}
	return ""
}

func (f Folders) set(folder, name string) string {
	if filepath.IsAbs(folder) {
		return folder
	}
	return filepath.Join(f.Home, name)
}

func claudeFolder(f Folders) string { return f.set(f.Claude, ".claude") }

func codexFolder(f Folders) string { return f.set(f.Codex, ".codex") }

func geminiFolder(f Folders) string { return f.set("", ".gemini") }

func qwenFolder(f Folders) string { return f.set(f.Qwen, ".qwen") }

func copilotFolder(f Folders) string { return f.set(f.Copilot, ".copilot") }

func kimiFolder(f Folders) string { return f.set(f.Kimi, ".kimi-code") }

func agyFolder(f Folders) string { return f.set("", filepath.Join(".gemini", "antigravity-cli")) }

func (f Folders) config() string {
	if filepath.IsAbs(f.Config) {
		return f.Config
	}
	return filepath.Join(f.Home, ".config")
}

// support is where desktop programs keep their files.
func (f Folders) support() string {
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(f.Home, "Library", "Application Support")
	case "windows":
		if filepath.IsAbs(f.AppData) {
			return f.AppData
		}
		return filepath.Join(f.Home, "AppData", "Roaming")
	}
	return f.config()
}

func home(parts ...string) func(Folders) []string {
	return func(f Folders) []string { return list(filepath.Join(append(list(f.Home), parts...)...)) }
}

func config(folder string, names ...string) func(Folders) []string {
	return func(f Folders) []string {
		var out []string
		for _, n := range names {
			out = append(out, filepath.Join(f.config(), folder, n))
		}
		return out
	}
}

func support(parts ...string) func(Folders) []string {
	return func(f Folders) []string { return list(filepath.Join(append(list(f.support()), parts...)...)) }
}

func claudeUser(f Folders) []string {
	if filepath.IsAbs(f.Claude) {
		return list(filepath.Join(f.Claude, ".claude.json"))
	}
	return list(filepath.Join(f.Home, ".claude.json"))
}

func copilotUser(f Folders) []string { return list(filepath.Join(copilotFolder(f), "mcp-config.json")) }

func kimiUser(f Folders) []string { return list(filepath.Join(kimiFolder(f), "mcp.json")) }

func qwenUser(f Folders) []string { return list(filepath.Join(qwenFolder(f), "settings.json")) }

func codexUser(f Folders) []string { return list(filepath.Join(codexFolder(f), "config.toml")) }

func zedUser(f Folders) []string {
	switch runtime.GOOS {
	case "darwin": // Zed does not use the folder of other programs there
		return list(filepath.Join(f.Home, ".config", "zed", "settings.json"))
	case "windows":
		return list(filepath.Join(f.support(), "Zed", "settings.json"))
	}
	return list(filepath.Join(f.config(), "zed", "settings.json"))
}
