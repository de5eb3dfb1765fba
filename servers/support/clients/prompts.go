package clients

import "path/filepath"

// Prompts is how the deck gets what a client's program asks in its own terminal.
type Prompts struct {
	// User is the user's own file that the program reads, Project the same below a
	// project, with slashes. nil and "": there is nothing to write.
	User    func(Folders) string
	Project string
	Grammar Grammar
	// Hooks are what the file has the program run. None: the file is a plugin, all of it
	// the deck's.
	Hooks []Hook
	// Signals are further hooks, for a version of the program whose files do not tell that
	// a prompt was answered in its terminal; none if they always do.
	Signals []Hook
	// Disabled are settings in the file which keep the program from running hooks if
	// they are true.
	Disabled []string
	// Windows is the shell that runs hooks on Windows. Elsewhere it is sh.
	Windows Shell
	// Apart is the way of the sessions that do not ask by this one; nil if all do.
	Apart *Prompts

	Answers     string // what the user can answer in the deck, for lists
	Note        string // what the user does once the file is written
	Review      string // when the program asks about each hook, before what it shows of it
	ProjectNote string // the same, of a project's file
	Tested      string // version of the program that this was tested with
}

// Shell is a program that reads a command line.
type Shell int

// The shells that run hooks.
const (
	Sh         Shell = iota
	GitBash          // or PowerShell, where Git for Windows is not installed
	Cmd              // of Windows
	PowerShell       // of Windows
)

// Hook is a command that a program runs when something happens.
type Hook struct {
	Event   string
	Matcher string // of the tools that it is for; "" for all
	Name    string // that the program shows; "" if it has none
	Async   bool   // the program does not wait for it
	Timeout int    // in the program's own unit
}

// claudePrompts asks for a day: a hook that the program ends shows its dialog.
func claudePrompts() *Prompts {
	return &Prompts{
		User:    func(f Folders) string { return filepath.Join(claudeFolder(f), "settings.json") },
		Project: ".claude/settings.local.json", Grammar: JSON, Windows: GitBash,
		Hooks: []Hook{
			{Event: "PermissionRequest", Timeout: 86400},
			{Event: "Elicitation", Timeout: 86400},
			{Event: "SessionStart", Timeout: 10, Async: true},
			{Event: "SessionEnd", Timeout: 10, Async: true},
		},
		Signals: []Hook{
			{Event: "PostToolUse", Timeout: 10, Async: true},
			{Event: "PostToolUseFailure", Timeout: 10, Async: true},
			{Event: "Stop", Timeout: 10, Async: true},
		},
		Disabled:    list("disableAllHooks", "allowManagedHooksOnly"),
		Answers:     "permissions, questions, plans and servers' forms",
		Note:        "Sessions that are running already ask in the deck, too, from their next prompt on.",
		ProjectNote: "Claude Code runs a project's hooks in folders you trust: trust this one when it asks.",
		Tested:      "2.1.330",
	}
}

// codexPrompts are those of the daemon's sessions. The others ask for permissions by a
// hook, which Codex wants the user to review first.
func codexPrompts() *Prompts {
	const tested = "0.169.0"
	return &Prompts{
		Answers: "permissions, questions and servers' forms", Tested: tested,
		Apart: &Prompts{
			User:    func(f Folders) string { return filepath.Join(codexFolder(f), "hooks.json") },
			Grammar: JSON, Windows: Cmd,
			Hooks:   []Hook{{Event: "PermissionRequest", Timeout: 86400}},
			Answers: "permissions",
			Review:  `When Codex starts next, it says "Hooks need review". Choose "Review hooks", and trust the one with these lines, or it does not run:`,
			Tested:  tested,
		},
	}
}

func opencodePrompts() *Prompts {
	return &Prompts{
		User:    func(f Folders) string { return filepath.Join(f.config(), "opencode", "plugin", "mcpdeck.js") },
		Project: ".opencode/plugin/mcpdeck.js",
		Answers: "permissions and questions",
		Note:    "Restart OpenCode.",
		Tested:  "1.18.33",
	}
}

// geminiPrompts are hooks that are answered at once: the program waits for each. Their
// time is in milliseconds.
func geminiPrompts() *Prompts {
	p := &Prompts{
		User:    func(f Folders) string { return filepath.Join(geminiFolder(f), "settings.json") },
		Project: ".gemini/settings.json", Grammar: JSONWithComments, Windows: PowerShell,
		Answers:     "nothing: prompts are shown, and answered in their terminal",
		Note:        "Restart Gemini CLI.",
		ProjectNote: "Gemini CLI runs a project's hooks in folders you trust: trust this one when it asks.",
		Tested:      "0.61.0",
	}
	for _, event := range list("BeforeAgent", "AfterAgent", "BeforeTool", "Notification", "AfterTool", "SessionStart", "SessionEnd") {
		h := Hook{Event: event, Name: "mcpdeck", Timeout: 2000}
		if event == "BeforeTool" {
			h.Matcher = "ask_user" // the questions, which the notification leaves out
		}
		p.Hooks = append(p.Hooks, h)
	}
	return p
}
