package clients

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// SearchHint is the variable by which the relay says which clients, in the environment
// that it was started in, find tools in a long list by themselves: their IDs with commas
// between them. An entry, or the user, may set it in place of what the relay finds out.
const SearchHint = "MCPDECK_CLIENT_SEARCHES"

// NoSearch is the hint of an entry whose tools the client loads all the same.
const NoSearch = "none"

// Searching returns the hint of an environment.
func Searching(env func(name string) string) string {
	if said := env(SearchHint); said != "" {
		return said
	}
	return strings.Join(IDs(func(c Client) bool { return c.Searches != nil && c.Searches(env) }), ",")
}

// Searches reports whether a session of a client finds tools in a long list by itself, so
// that a long list costs its model little. Where nothing is known of the session, it does
// not: a client is not told apart from one of the same name by what it calls itself.
func Searches(introduced, hint string) bool {
	c, known := Of(introduced)
	return known && slices.Contains(strings.Split(hint, ","), c.ID)
}

// claudeSearches is as Claude Code 2.1 decides it. With auto it puts a list into each
// request up to a tenth of the context, so that is no search. At an address that is not
// Anthropic's, 2.1.197 does not search, and 2.1.330 does until that refuses a request: which
// it will be is not known, and without a search a long list costs the most.
func claudeSearches(env func(name string) string) bool {
	set := strings.ToLower(env("ENABLE_TOOL_SEARCH"))
	share, isShare := strings.CutPrefix(set, "auto:")
	percent, err := strconv.Atoi(share)
	switch {
	case isTrue(env("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS")), strings.Contains(env("ANTHROPIC_MODEL"), "claude-3"):
		return false
	case isShare && err == nil:
		return percent <= 0
	case set == "auto" || isShare || isFalse(set):
		return false
	case set != "":
		return true
	}
	return !isTrue(env("CLAUDE_CODE_USE_VERTEX")) && anthropic(env("ANTHROPIC_BASE_URL"))
}

// anthropic reports whether a base URL is that of Anthropic's own service. Others need not
// understand what the search adds to requests.
func anthropic(base string) bool {
	if base == "" {
		return true
	}
	u, err := url.Parse(base)
	return err == nil && u.Host == "api.anthropic.com"
}

func isTrue(v string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(v)))
}

func isFalse(v string) bool {
	return slices.Contains([]string{"0", "false", "no", "off"}, strings.ToLower(strings.TrimSpace(v)))
}
