package widget

import (
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/theme"
)

// The sequences around the text of a link (OSC 8).
const (
	linkStart = "\x1b]8;;"
	linkEnd   = linkStart + "\a"
)

// longestLink is how long an address may be that a terminal is told.
const longestLink = 2000

// Link draws text that leads to an address on a click, in terminals that can. Only
// addresses of the web do: what a file would start is nobody's to choose but the
// user's. The text alone is no reason to follow a link, so the caller shows the
// address, too, where it is another one.
func Link(th *theme.Theme, text, address string) string {
	if !followable(address) {
		return th.Link.Render(text)
	}
	return linkStart + address + "\a" + th.Link.Render(text) + linkEnd
}

// followable reports whether an address may become a link: http or https, with a host
// and without a name or password before it, in printable ASCII.
func followable(address string) bool {
	if len(address) > longestLink || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

var addresses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`https?://[!#-;=?-_a-z~]*[#-&*+/-9=@-Z_a-z~-]`)
})

// Linked draws clean text in a style, with the addresses in it as links.
func Linked(th *theme.Theme, style theme.Style, text string) string {
	if !strings.Contains(text, "://") {
		return style.Render(text)
	}
	var b strings.Builder
	at := 0
	for _, loc := range addresses().FindAllStringIndex(text, -1) {
		b.WriteString(style.Render(text[at:loc[0]]))
		b.WriteString(Link(th, text[loc[0]:loc[1]], text[loc[0]:loc[1]]))
		at = loc[1]
	}
	b.WriteString(style.Render(text[at:]))
	return b.String()
}
