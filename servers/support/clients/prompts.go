package clients

import (
	"path/filepath"
	"strings"
)

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
	// Denied is the hook that is told what the program has refused by itself; its event is "" if
	// there is none.
	Denied Hook
	// StatusLine is the setting in the file of the command that draws the program's status line,
	// which is told what the account has used; "" if there is none.
	StatusLine string
	// Disabled are settings in the file which keep the program from running hooks if
	// they are true.
	Disabled []string
	// Windows is the shell that runs hooks on Windows. Elsewhere it is sh.
	Windows Shell
	// Guarded is set if another program runs the hooks of a project as well, to which one that
	// fails is a denial.
	Guarded bool
	// Needs is a setting in another of the user's files without which the program does not read
	// this one; nil if there is none.
	Needs *Need
	// Major is the first part of the versions that load the file; "" if all do.
	Major string
	// Next is the way of the versions that do not load the file; nil: there is none.
	Next *Prompts
	// Apart is the way of the sessions that do not ask by this one; nil if all do.
	Apart *Prompts

	Consent     string // what the program asks for each folder because of the file
	Note        string // what the user does once the file is written
	Review      string // when the program asks about each hook, before what it shows of it
	ProjectNote string // the same, of a project's file
	Tested      []Version
}

// Version is one of a program that this was tested with, and when. The first is the newest.
type Version struct{ Number, Date string }

// Newest returns the newest version that this was tested with; "" if it was with none.
func (p *Prompts) Newest() string {
	if len(p.Tested) == 0 {
		return ""
	}
	return p.Tested[0].Number
}

// Loads reports whether a version of the program, "" if it is unknown, loads the file.
func (p *Prompts) Loads(version string) bool {
	return p.Major == "" || version == "" || strings.HasPrefix(version, p.Major+".")
}

// Of returns the way of a version of the program, "" if it is unknown.
func (p *Prompts) Of(version string) *Prompts {
	if p.Next != nil && !p.Loads(version) {
		return p.Next
	}
	return p
}

// Need is a setting that has to be true.
type Need struct {
	File func(Folders) string
	Key  string
	Does string // "turns ... on"
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

// What stands around the command of a hook that must not fail: where there is no such program,
// or it is ended, it says nothing.
const (
	before, after     = "set -- ", `; [ -x "$1" ] && "$@"; exit 0`
	psBefore, psAfter = "try { ", " } catch {}; exit 0"
	eitherAfter       = "; exit 0" // to PowerShell as well, if no word is quoted
	cmdAfter          = " & exit 0"
)

// Guard returns a command that does the same as a hook's and never fails.
func (s Shell) Guard(command string) string {
	switch s {
	case Sh:
	case GitBash:
		return command + eitherAfter
	case Cmd:
		return command + cmdAfter
	case PowerShell:
		return psBefore + command + psAfter
	}
	return before + command + after
}

// Bare returns the command within one that Guard returned, and any other as it is.
func Bare(command string) string {
	for _, around := range [][2]string{{before, after}, {psBefore, psAfter}, {"", eitherAfter}, {"", cmdAfter}} {
		if inner, ok := strings.CutPrefix(command, around[0]); ok && strings.HasSuffix(inner, around[1]) {
			return strings.TrimSuffix(inner, around[1])
		}
	}
	return command
}

// Hook is a command that a program runs when something happens.
type Hook struct {
	Event   string
	Matcher string // of the tools that it is for; "" for all
	Name    string // that the program shows; "" if it has none
	Async   bool   // the program does not wait for it
	Timeout int    // in the program's own unit
}

// measured is when most versions were tested.
const measured = "2026-11-23"

// claudePrompts asks for a day: a hook that the program ends shows its dialog.
func claudePrompts() *Prompts {
	return &Prompts{
		User:    func(f Folders) string { return filepath.Join(claudeFolder(f), "settings.json") },
		Project: ".claude/settings.local.json", Grammar: JSON, Windows: GitBash, Guarded: true,
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
		Denied:      Hook{Event: "PermissionDenied", Timeout: 25}, // what was denied may wait for 20 s
		StatusLine:  "statusLine",
		Disabled:    list("disableAllHooks", "allowManagedHooksOnly"),
		Note:        "Sessions that are running already ask in the deck, too, from their next prompt on.",
		ProjectNote: "Claude Code runs a project's hooks in folders you trust: trust this one when it asks.",
		Tested:      []Version{{"2.1.330", measured}, {"2.1.197", measured}},
	}
}

// codexPrompts are those of the daemon's sessions. The others ask for permissions by a
// hook, which Codex wants the user to review first.
func codexPrompts() *Prompts {
	tested := []Version{{"0.169.0", measured}}
	return &Prompts{
		Tested: tested,
		Apart: &Prompts{
			User:    func(f Folders) string { return filepath.Join(codexFolder(f), "hooks.json") },
			Grammar: JSON, Windows: Cmd,
			Hooks:  []Hook{{Event: "PermissionRequest", Timeout: 86400}},
			Review: `When Codex starts next, it says "Hooks need review". Choose "Review hooks", and trust the one with these lines, or it does not run:`,
			Tested: tested,
		},
	}
}

// opencodePrompts are those of a program with OpenCode's plugins.
func opencodePrompts(id, title, major string, tested ...Version) *Prompts {
	way := func(folder string) *Prompts {
		return &Prompts{
			User:    func(f Folders) string { return filepath.Join(f.config(), id, folder, "mcpdeck.js") },
			Project: "." + id + "/" + folder + "/mcpdeck.js",
			Note:    "Restart " + title + ".",
		}
	}
	p := way("plugin")
	p.Major, p.Tested = major, tested
	if major != "" {
		p.Next = way("plugins")
		p.Next.Major = "2"
	}
	return p
}

// geminiPrompts are hooks that are answered at once: the program waits for each. Their
// time is in milliseconds, and covers the start of a shell and of mcpdeck on a busy machine:
// a turn's end that is not told leaves its row working. A deck that hangs costs less, as the
// hook gives up by itself.
func geminiPrompts() *Prompts {
	p := &Prompts{
		User:    func(f Folders) string { return filepath.Join(geminiFolder(f), "settings.json") },
		Project: ".gemini/settings.json", Grammar: JSONWithComments, Windows: PowerShell,
		Note:        "Restart Gemini CLI.",
		ProjectNote: "Gemini CLI runs a project's hooks in folders you trust: trust this one when it asks.",
		Tested:      []Version{{"0.61.0", measured}},
	}
	for _, event := range list("BeforeAgent", "AfterAgent", "BeforeTool", "Notification", "AfterTool", "SessionStart", "SessionEnd") {
		h := Hook{Event: event, Name: "mcpdeck", Timeout: 10_000}
		if event == "BeforeTool" {
			h.Matcher = "ask_user" // the questions, which the notification leaves out
		}
		p.Hooks = append(p.Hooks, h)
	}
	return p
}

// qwenPrompts ask for a day. The program takes a time of 1000 or more for milliseconds.
func qwenPrompts() *Prompts {
	p := &Prompts{
		User:    func(f Folders) string { return qwenUser(f)[0] },
		Project: ".qwen/settings.json", Grammar: JSONWithComments, Windows: PowerShell,
		Hooks:       []Hook{{Event: "PermissionRequest", Name: "mcpdeck", Timeout: 86_400_000}},
		Disabled:    list("disableAllHooks"),
		Note:        "Restart Qwen Code.",
		ProjectNote: "Qwen Code runs a project's hooks in folders you trust.",
		Tested:      []Version{{"0.24.4", measured}},
	}
	for _, event := range list("SessionStart", "UserPromptSubmit", "Notification", "Stop", "SessionEnd") {
		p.Hooks = append(p.Hooks, Hook{Event: event, Name: "mcpdeck", Timeout: 10_000, Async: true})
	}
	return p
}

// copilotPrompts are an extension. The other way is a file of hooks, which needs no consent.
func copilotPrompts() *Prompts {
	tested := []Version{{"1.0.102", measured}}
	return &Prompts{
		User: func(f Folders) string {
			return filepath.Join(copilotFolder(f), "extensions", "mcpdeck", "extension.mjs")
		},
		Windows: PowerShell,
		Needs: &Need{
			File: func(f Folders) string { return filepath.Join(copilotFolder(f), "settings.json") },
			Key:  "experimental",
			Does: "turns experimental features of Copilot CLI on: without them, it loads no extension",
		},
		Consent: `In each folder, Copilot CLI says 'Extension "user:mcpdeck" wants elevated permissions': choose "Yes, and always allow", or it asks in its terminal alone.`,
		Note:    "Restart Copilot CLI.",
		Tested:  tested,
		Apart: &Prompts{
			User:    func(f Folders) string { return filepath.Join(copilotFolder(f), "hooks", "mcpdeck.json") },
			Windows: PowerShell,
			Note:    "Restart Copilot CLI.",
			Tested:  tested,
		},
	}
}

// kimiPrompts are hooks in a list of tables, which have no names and are answered at once.
func kimiPrompts() *Prompts {
	p := &Prompts{
		User:    func(f Folders) string { return filepath.Join(kimiFolder(f), "config.toml") },
		Grammar: TOML, Windows: Cmd,
		Note:   "Restart Kimi Code, or type /reload in it.",
		Tested: []Version{{"2.1.0", "2026-11-28"}},
	}
	for _, event := range list("SessionStart", "UserPromptSubmit", "PermissionRequest", "PermissionResult", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd") {
		h := Hook{Event: event, Timeout: 10}
		if strings.Contains(event, "ToolUse") {
			h.Matcher = "^AskUserQuestion$" // its own questions, of which nothing else tells
		}
		p.Hooks = append(p.Hooks, h)
	}
	return p
}

// agyPrompts are hooks for commands alone: a program that does not ask about other calls would
// once one of its hooks says so.
func agyPrompts() *Prompts {
	p := &Prompts{
		User:    func(f Folders) string { return filepath.Join(geminiFolder(f), "config", "hooks.json") },
		Project: ".agents/hooks.json", Grammar: JSON, Windows: Cmd,
		Note: "Restart Antigravity CLI.",
	}
	for _, event := range list("PreToolUse", "PostToolUse") {
		p.Hooks = append(p.Hooks, Hook{Event: event, Matcher: "run_command", Timeout: 10})
	}
	return p
}
