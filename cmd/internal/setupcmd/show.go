package setupcmd

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Show prints what becomes of each file; ~ stands for the home.
func Show(home string, w io.Writer, diffs []Diff) {
	paint := func(s lipgloss.Style, text string) string { return s.Render(sanitize.Output(text)) }
	if console.ColorsOf(w) <= colorprofile.NoTTY || config.Env("NO_COLOR") != "" {
		paint = func(_ lipgloss.Style, text string) string { return sanitize.Output(text) }
	}
	plain := lipgloss.NewStyle()
	out := &colorprofile.Writer{Forward: console.Bytes(w), Profile: console.ColorsOf(w)}
	for _, d := range diffs {
		_, _ = fmt.Fprintln(out, console.Fold(w, paint(plain.Bold(true), Short(home, d.Path)))) // nobody is left to be told
		for _, does := range d.Does {
			_, _ = fmt.Fprintln(out, console.FoldLine(w, "  "+paint(plain.Foreground(lipgloss.Cyan), does), 2))
		}
		for _, l := range d.Lines {
			style := plain.Faint(true)
			switch l[:min(1, len(l))] {
			case "+":
				style = plain.Foreground(lipgloss.Green)
			case "-":
				style = plain.Foreground(lipgloss.Red)
			}
			_, _ = fmt.Fprintln(out, console.FoldLine(w, "    "+paint(style, l), 4+textOf(l)))
		}
	}
}

// textOf is where the text of a line of a diff begins, behind its mark.
func textOf(line string) int {
	const mark = 2
	text := line[min(mark, len(line)):]
	return mark + len(text) - len(strings.TrimLeft(text, " "))
}

// Question is what the user is asked about what was shown.
func Question(diffs []Diff) string {
	n := 0
	for _, d := range diffs {
		n += len(d.Does)
	}
	return fmt.Sprintf("Apply %s to %s?", humanize.Count(n, "change"), humanize.Count(len(diffs), "file"))
}

// choose has the user tick what is wanted, by numbers, until there is nothing more to change.
// It returns false if the user gives up.
func (p *Plan) choose(in *bufio.Reader, w io.Writer) bool {
	for {
		for i, item := range p.Items {
			does, ticked := Short(p.cfg.Home, item.Path())+": "+item.Does, !item.Off
			if item.keeps != "" {
				does, ticked = item.keeps, item.Off
			}
			tick := " "
			if ticked {
				tick = "x"
			}
			fmt.Fprintf(w, "%3d [%s] %s\n", i+1, tick, does)
		}
		fmt.Fprint(w, "Numbers to tick or untick, enter to see the changes, q to quit: ")
		line, err := in.ReadString('\n')
		words := strings.Fields(line)
		switch {
		case err != nil || len(words) == 1 && words[0] == "q":
			return false
		case len(words) == 0:
			return true
		}
		for _, word := range words {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > len(p.Items) {
				fmt.Fprintf(w, "there is no number %s\n", word)
				continue
			}
			p.Items[n-1].Off = !p.Items[n-1].Off
		}
	}
}

// agree shows the plan and asks about it, until the user says yes or no. It returns what the
// user has agreed to, nil for nothing.
func (p *Plan) agree(in *bufio.Reader, w io.Writer) ([]Diff, error) {
	for {
		diffs, err := p.Diffs()
		if err != nil || len(diffs) == 0 {
			return nil, err
		}
		Show(p.cfg.Home, w, diffs)
		sum(p.cfg.Home, w, diffs)
		fmt.Fprintf(w, "\n%s [Y/n/choose] ", Question(diffs))
		line, err := in.ReadString('\n')
		if err != nil { // no answer is no
			fmt.Fprintln(w)
			return nil, nil
		}
		switch word := strings.ToLower(strings.TrimSpace(line)); {
		case word == "" || word == "y" || word == "yes":
			return diffs, nil
		case strings.HasPrefix("choose", word):
			if !p.choose(in, w) {
				return nil, nil
			}
		default:
			return nil, nil
		}
	}
}

// sum says once more what becomes of each file, where that has scrolled away above the changes.
func sum(home string, w io.Writer, diffs []Diff) {
	const most = 20 // lines of changes
	n := 0
	for _, d := range diffs {
		n += len(d.Lines)
	}
	if n <= most {
		return
	}
	fmt.Fprintln(w)
	for _, d := range diffs {
		fmt.Fprintln(w, console.FoldLine(w, sanitize.Output(Short(home, d.Path)+": "+strings.Join(d.Does, "; ")), 2))
	}
}

// remarks prints what is left as it is.
func (p *Plan) remarks(c *cobra.Command) {
	for _, r := range p.Remarks {
		c.Println(console.FoldLine(c.OutOrStdout(), "note: "+r, len("note: ")))
	}
	if p.Own != "" {
		c.Println(console.FoldLine(c.OutOrStdout(), "note: "+p.Own+"; choose turns them off", len("note: ")))
	}
}

// nobody says which clients are known, and what connects any other.
func (p *Plan) nobody(c *cobra.Command) error {
	c.Println(console.Fold(c.OutOrStdout(), "No agent's client was found on this machine. Those that mcpdeck knows: "+strings.Join(setup.Names(), ", ")+".\nTo connect another, copy this into its configuration:\n"))
	snippet, err := Snippet(p.cfg)
	if err == nil {
		c.Println(snippet)
	}
	return err
}

// Then is what to do once the plan is made, a line a client.
func (p *Plan) Then() (lines []string) {
	for _, client := range p.Clients {
		if p.touches(client.ID) {
			lines = append(lines, strings.TrimSpace(client.ID+": restart it if it runs. "+client.Now))
		}
	}
	return lines
}

// touches reports whether something of a client is wanted.
func (p *Plan) touches(client string) bool {
	return slices.ContainsFunc(p.Items, func(i Item) bool { return i.client == client && !i.Off })
}
