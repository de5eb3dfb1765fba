package deck

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// serverReader shows what there is to know about a server. It follows what changes.
type serverReader struct {
	tui.Reader
	page    *Page
	name    string
	details deck.Details // of one that can be turned on and off
}

// detailsMsg is what was loaded about a server.
type detailsMsg struct {
	name string
	deck.Details
}

func (p *Page) openServer() tea.Cmd {
	s := p.server()
	if s == nil {
		return nil
	}
	r := &serverReader{page: p, name: s.Name}
	r.Reader = tui.Reader{Name: "server", Title: plain.Line(s.Title), Rows: r.rows, Extra: []tui.Action{{
		ID: "server.restart", Title: "Restart the server", Hint: "restart", Keys: []string{"r"}, Acts: true,
		Enabled: func() string { return p.whyNoRestart(p.named(r.name)) },
		Run:     func() tea.Cmd { return p.confirmRestart(r.name) },
	}}}
	return tea.Sequence(tui.Open(r), r.load())
}

// load asks for the details.
func (r *serverReader) load() tea.Cmd {
	cards, name := r.page.opts.Cards, r.name
	if s := r.page.named(name); s == nil || !s.Foreign || cards == nil {
		return nil
	}
	return func() tea.Msg {
		if d, ok := cards.Details(name); ok {
			return detailsMsg{name, d}
		}
		return nil
	}
}

// Update loads the details again when something has changed, and scrolls.
func (r *serverReader) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tui.DeckMsg:
		return r.load()
	case detailsMsg:
		if msg.name == r.name {
			r.details = msg.Details
		}
	}
	return r.Reader.Update(msg)
}

func (r *serverReader) rows(f *tui.Frame, w int) []string {
	s, d := r.page.named(r.name), &r.details
	if s == nil {
		return []string{f.Theme.Faint.Render("this server is gone")}
	}
	tools, why := "", s.State.Reason
	if !s.Foreign {
		tools = strconv.Itoa(s.Tools) + ", " + tui.Bytes(s.Bytes) + " of each agent's context"
	}
	if why == "" && d.Error != "" {
		why = "last error, " + f.Since(d.ErrorAt) + ": " + d.Error
	}
	process := ""
	if d.PID != 0 {
		process = fmt.Sprintf("%d, for %s", d.PID, span.Took(f.Now.Sub(d.Since)))
	}
	server := d.Server
	if d.Protocol != "" {
		server += ", protocol " + d.Protocol
	}
	held := ""
	if d.Holding != "" {
		held = d.Holding + "; to accept: mcpdeck accept " + s.Name
	}
	rows := facts(f, w, "state", string(s.State.Status), "", why, "", s.State.Detail,
		"name", s.Name,
		"runs", d.Runs,
		"process", process,
		"server", server,
		"tools", tools,
		"held", held,
		"calls", strconv.FormatUint(s.Calls, 10),
		"connect", "mcpdeck mcp "+s.Name)
	return append(rows, r.costs(f, w)...)
}

// sum is what all tools take.
func sum(tools []deck.Tool) (bytes int) {
	for _, t := range tools {
		bytes += t.Bytes
	}
	return bytes
}

// costs are the tools with what each takes of an agent's context, and the log.
func (r *serverReader) costs(f *tui.Frame, w int) []string {
	th, d := f.Theme, &r.details
	var rows []string
	if len(d.Tools) > 0 {
		sum := sum(d.Tools)
		s := r.page.named(r.name)
		note := cost(sum) + " of each agent's context"
		switch {
		case s != nil && s.Lazy:
			note = cost(sum) + " that agents do not list"
		case !d.Offered:
			note = cost(sum) + " while it is on"
		}
		rows = append(rows, "", widget.Section(th, counted(uint64(len(d.Tools)), "tool"), th.Faint.Render(note), w))
		for _, t := range d.Tools {
			rows = append(rows, widget.Ends(plain.Line(t.Name), th.Muted.Render(cost(t.Bytes)), w))
		}
	}
	if s := r.page.named(r.name); s != nil && !s.Lazy && sum(d.Tools) > deck.LargeContext {
		for _, l := range widget.Wrap("That is much for one server. Lazy, agents find its tools instead of listing them: ctrl+p, lazy.", w) {
			rows = append(rows, th.Muted.Render(l))
		}
	}
	for _, n := range d.Notes {
		for _, l := range widget.Wrap(n, w) {
			rows = append(rows, th.Warn.Render(l))
		}
	}
	if len(d.Log) > 0 {
		rows = append(rows, "", widget.Section(th, "Log", "", w))
	}
	for _, l := range d.Log {
		for _, part := range widget.Wrap(l.Time.Format("15:04:05")+" "+plain.Line(l.From+": "+l.Text), w) {
			rows = append(rows, th.Faint.Render(part))
		}
	}
	return rows
}

// cost is the size of definitions in bytes, and about how many tokens those are.
func cost(bytes int) string {
	n := deck.Tokens(bytes)
	if n < 1000 {
		return fmt.Sprintf("%s ≈ %d tokens", tui.Bytes(bytes), n)
	}
	return fmt.Sprintf("%s ≈ %.1fk tokens", tui.Bytes(bytes), float64(n)/1000)
}
