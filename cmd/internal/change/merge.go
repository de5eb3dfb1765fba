package change

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/diff"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// hunk is a part of a text that another has in its place: bytes from start to end.
type hunk struct {
	start, end int
	text       []byte
}

// hunks lead from a to b: whole lines first, and of these the bytes that differ.
func hunks(a, b []byte) []hunk {
	var out []hunk
	for _, h := range lineHunks(a, b) {
		old := a[h.start:h.end]
		head := 0
		for head < len(old) && head < len(h.text) && old[head] == h.text[head] {
			head++
		}
		tail := 0
		for tail < len(old)-head && tail < len(h.text)-head && old[len(old)-1-tail] == h.text[len(h.text)-1-tail] {
			tail++
		}
		out = append(out, hunk{h.start + head, h.end - tail, h.text[head : len(h.text)-tail]})
	}
	return out
}

func lineHunks(a, b []byte) []hunk {
	old, fresh := slices.Collect(bytes.Lines(a)), slices.Collect(bytes.Lines(b))
	at := 0
	var out []hunk
	open := false // whether the last hunk ends here
	for _, s := range diff.Steps(old, fresh, bytes.Equal) {
		if s.Old >= 0 && s.New >= 0 {
			at, open = at+len(old[s.Old]), false
			continue
		}
		if !open {
			out, open = append(out, hunk{start: at, end: at}), true
		}
		h := &out[len(out)-1]
		if s.Old >= 0 {
			at += len(old[s.Old])
			h.end = at
		} else {
			h.text = append(h.text, fresh[s.New]...)
		}
	}
	return out
}

// revert takes the change from before to after out of now, which has changed since
// elsewhere. It is false when both have touched the same bytes.
func revert(before, after, now []byte) ([]byte, bool) {
	ours, theirs := hunks(after, before), hunks(after, now)
	for _, o := range ours {
		for i := 0; i < len(theirs); i++ {
			t := theirs[i]
			if o.start == t.start && o.end == t.end && bytes.Equal(o.text, t.text) { // taken back already
				theirs = slices.Delete(theirs, i, i+1)
				i--
				continue
			}
			if o.start < t.end && t.start < o.end || o.start == o.end && t.start == t.end && o.start == t.start {
				return nil, false // in the last case nobody knows which comes first
			}
		}
	}
	both := slices.Concat(ours, theirs)
	slices.SortStableFunc(both, func(a, b hunk) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end
	})
	var out []byte
	at := 0
	for _, h := range both {
		out = append(append(out, after[at:h.start]...), h.text...)
		at = h.end
	}
	return append(out, after[at:]...), true
}

// named are the secrets in a file that its keys tell of, as they are written there. A key may
// stand many lines above them.
func named(text []byte) (written []string) {
	for _, g := range []clients.Grammar{clients.JSONC, clients.TOML} {
		values, err := g.Decode(text)
		if err != nil {
			continue
		}
		b, err := json.Marshal(values)
		if err != nil {
			continue
		}
		for _, secret := range redact.Named(b) {
			quoted := string(rawjson.AppendQuote(nil, secret))
			written = append(written, secret, quoted[1:len(quoted)-1])
			if len(secret) < 8 { // a word elsewhere, but in quotes the value
				written = append(written, quoted)
			}
		}
		break
	}
	return written
}

// Preview is a change as lines with + and - before them, and up to two lines around
// each place. Secrets are not shown.
func Preview(before, after []byte, secrets ...string) []string {
	const around = 2
	var hide redact.Rules
	hide.Known = &redact.Known{}
	hide.Known.Add(secrets...)
	hide.Known.Add(named(before)...)
	hide.Known.Add(named(after)...)
	lines := func(b []byte) []string {
		var out []string
		for l := range bytes.Lines(b) {
			out = append(out, hide.Text(string(bytes.TrimRight(l, "\r\n"))))
		}
		return out
	}
	var out []string
	add := func(mark string, ls []string) {
		for _, l := range ls {
			out = append(out, mark+l)
		}
	}
	hs := lineHunks(before, after)
	for i, h := range hs {
		above, below := lines(before[:h.start]), lines(before[h.end:])
		if i > 0 {
			between := lines(before[hs[i-1].end:h.start])
			if above = between; len(between) > 2*around {
				out = append(out, "  ...")
			} else {
				above = between[min(around, len(between)):]
			}
		}
		add("  ", above[max(0, len(above)-around):])
		add("- ", lines(before[h.start:h.end]))
		add("+ ", lines(h.text))
		if i+1 < len(hs) {
			below = lines(before[h.end:hs[i+1].start])
		}
		add("  ", below[:min(around, len(below))])
	}
	return out
}
