package inbox

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// recallMost is how many earlier texts can be had back.
const recallMost = 100

// recall is going through what the user wrote into such a field before.
type recall struct {
	at  int    // 1 is the newest; 0 is the user's own text
	own string // while at is not 0
}

// key lets a key act on the field: up on its first row brings an earlier text back, where
// there are some, down on the last one a later one.
func (t *field) key(k tea.KeyPressMsg, earlier func() []string) {
	took := t.editor.Key(k)
	switch key := k.Keystroke(); {
	case took && key != "up" && key != "down":
		t.recall = recall{}
	case took || earlier == nil:
	case key == "up":
		t.recall.step(&t.editor, earlier(), 1)
	case key == "down":
		t.recall.step(&t.editor, earlier(), -1)
	}
}

// earlier are what the user wrote into such a field before, the newest first.
func (p *answer) earlier() []string {
	texts := said(p.snap.History, p.draft.Field)
	if last := p.lastAnswer(); last != "" {
		texts = append([]string{last}, slices.DeleteFunc(texts, func(s string) bool { return s == last })...)
	}
	return texts
}

// step puts the text d before the one in a field there.
func (r *recall) step(field *widget.Editor, texts []string, d int) {
	at := min(max(r.at+d, 0), len(texts))
	if at == r.at {
		return
	}
	if r.at == 0 {
		r.own = field.Value()
	}
	r.at = at
	text := r.own
	if at > 0 {
		text = texts[at-1]
	}
	field.Replace(text)
}

// lastAnswer is what the user wrote when the same agent asked the open question before; ""
// when it did not, or another field is open.
func (p *answer) lastAnswer() string {
	it, open := p.current()
	q, _, ok := p.at()
	if !open || !ok || p.draft.Field != questions.OtherField {
		return ""
	}
	for _, r := range slices.Backward(p.snap.History) {
		if r.Request.Client() != it.Request.Client() || r.Request.Cwd() != it.Request.Cwd() || r.Request.Peer.Machine != it.Request.Peer.Machine || r.Request.Peer.Host != it.Request.Peer.Host {
			continue
		}
		for i, asked := range r.Request.Questions {
			if asked.Question == q.Question && i < len(r.Reply.Results) {
				if s := strings.TrimSpace(r.Reply.Results[i].CustomInput); s != "" {
					return s
				}
			}
		}
	}
	return ""
}

// said is what the user wrote into a kind of field in earlier answers, the newest first,
// each text once.
func said(history []questions.Record, f questions.Field) []string {
	var out []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, r := range slices.Backward(history) {
		if len(out) >= recallMost {
			break
		}
		if f == questions.ReasonField {
			add(r.Reply.Reason)
			continue
		}
		for _, res := range r.Reply.Results {
			switch f {
			case questions.ClarifyField:
				add(res.Clarify)
			case questions.NoteField:
				add(res.Note)
				for _, o := range res.SelectedOptions { // in their order, not the map's
					add(res.Notes[o])
				}
			default:
				add(res.CustomInput)
			}
		}
	}
	return out
}
