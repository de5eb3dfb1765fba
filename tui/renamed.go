package tui

import "strings"

// renamedPages are the pages by their names of before. Of an action there that is not among
// [renamedActions] only the page's name is another.
func renamedPages() map[string]string {
	return map[string]string{"deck": "inbox", "ask": "inbox", "cards": "servers"}
}

// renamedActions are the actions by the names of before that users may have bound. Those of
// which there is no action are not among them.
func renamedActions() map[string]string {
	return map[string]string{
		"go.deck": "go.inbox", "go.ask": "go.inbox", "go.cards": "go.servers",

		"deck.agent": "inbox.open", "deck.allow": "inbox.yes", "deck.answer": "inbox.open", "deck.clients": "inbox.setup", "deck.deny": "inbox.no", "deck.next": "inbox.list.next",
		"deck.previous": "inbox.back", "deck.restart": "servers.restart", "deck.server": "servers.open", "deck.servercalls": "servers.calls", "deck.snippet": "inbox.setup.copy",
		"deck.toggle": "servers.toggle", "deck.warnings": "notices",

		"ask.blank.clarify": "inbox.message", "ask.blank.decline": "inbox.stop", "ask.blank.edit": "inbox.edit", "ask.blank.skip": "inbox.skip", "ask.blank.snooze": "inbox.later",
		"ask.clarify": "inbox.message", "ask.decline": "inbox.stop", "ask.forget": "inbox.stop", "ask.form.scrolldown": "inbox.pagedown", "ask.form.scrollup": "inbox.pageup",
		"ask.form.skip": "inbox.skip", "ask.group": "inbox.mark", "ask.group.leave": "inbox.group.back", "ask.history.jump": "inbox.jump", "ask.leave": "inbox.back",
		"ask.list.forget": "inbox.stop", "ask.list.history": "history", "ask.history": "history", "ask.list.jump": "inbox.jump", "ask.next": "inbox.right", "ask.preview": "inbox.view",
		"ask.previous": "inbox.left", "ask.prompt.allow": "inbox.yes", "ask.prompt.choose": "inbox.accept", "ask.prompt.deny": "inbox.no", "ask.prompt.note": "inbox.message",
		"ask.prompt.pagedown": "inbox.pagedown", "ask.prompt.pageup": "inbox.pageup", "ask.prompt.stop": "inbox.stop", "ask.read": "inbox.details", "ask.release": "inbox.jump",
		"ask.settled.jump": "inbox.jump", "ask.settled.leave": "inbox.settled.back", "ask.snooze": "inbox.later", "ask.snoozefor": "inbox.later", "ask.terminal": "inbox.jump",
		"ask.toggle": "inbox.mark", "ask.text.leave": "inbox.text.close", "inbox.leave": "inbox.back", "inbox.text.leave": "inbox.text.close",

		"drift.detail": "drift.open", "drift.enter": "drift.open", "drift.raw": "drift.view", "drift.side": "drift.view", "drift.tree": "drift.close",

		"cards.acceptall": "servers.accept", "cards.acceptone": "servers.accept", "cards.allow": "servers.tool", "cards.childlog": "servers.look", "cards.filter": "servers.tools.filter",
		"cards.filtered": "servers.tools.filtered", "cards.next": "servers.open", "cards.previous": "servers.back", "cards.prompt": "servers.look", "cards.prompts": "servers.tool",
		"cards.resource": "servers.look", "cards.resources": "servers.tool", "cards.sort": "servers.tools.sort", "cards.switch": "servers.toggle", "cards.tool": "servers.look",
		"cards.unfilter": "servers.tools.unfilter",
	}
}

// renamed is what an action is called that had another name before.
func renamed(id string, known map[string]bool) string {
	if known[id] {
		return id
	}
	if now := renamedActions()[id]; now != "" && known[now] {
		return now
	}
	page, rest, _ := strings.Cut(id, ".")
	if now := renamedPages()[page] + "." + rest; known[now] {
		return now
	}
	return id
}
