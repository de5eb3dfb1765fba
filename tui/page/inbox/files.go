package inbox

import questions "github.com/mcpdeck/mcpdeck/ask"

// filesOf lists the files of the folder of the agent that asks; nil where that is unknown,
// or on another machine.
func (p *answer) filesOf(r *questions.Request) func() []string {
	list, folder := p.opt.Files, r.Cwd()
	if list == nil || folder == "" || r.Peer.Machine != "" || r.Peer.Host != "" {
		return nil
	}
	return func() []string { return list(folder) }
}

// completing reports whether the keys choose a file.
func (p *answer) completing() bool {
	return p.place == partRequest && p.opened && (p.draft.Field != questions.NoField || p.onForm()) && p.files.Picking()
}
