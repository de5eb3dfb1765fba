package widget

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Span is a range of cells of a row.
type Span struct{ From, To int }

// PerCodePoint rewrites a row for a terminal that measures text code point by code
// point, as the renderer does with it until it says that it knows grapheme
// clusters. Rows are laid out in clusters: 👩‍💻 is two cells, though such a
// terminal needs four, and ⚠️ is two where it needs one. The difference is taken
// from the spaces behind the cluster, so that what follows keeps its column;
// where there are none before the next frame line, the cluster becomes U+FFFD.
// What stands in keep is left as it is. x is a column of the row, and the one
// that it becomes is returned.
func PerCodePoint(row string, keep []Span, x int) (string, int) {
	if sameBothWays(row) {
		return row, x
	}
	s := perCodePoint{}
	state := byte(0)
	for cells := 0; len(row) > 0; {
		if row[0] == 0x1b {
			_, _, n, next := ansi.DecodeSequence(row, state, nil)
			s.pieces, state, row = append(s.pieces, piece{text: row[:n]}), next, row[n:]
			continue
		}
		cluster, g := ansi.FirstGraphemeCluster(row, ansi.GraphemeWidth)
		_, w := ansi.FirstGraphemeCluster(row, ansi.WcWidth)
		if slices.ContainsFunc(keep, func(k Span) bool { return cells >= k.From && cells < k.To }) {
			s.barrier()
			w = g
		}
		s.add(piece{text: cluster, laid: g, takes: w})
		cells += g
		row = row[len(cluster):]
	}
	s.barrier()
	return s.row(x)
}

// piece is a cluster of a row, or an escape sequence, of no width.
type piece struct {
	text        string
	laid, takes int // cells in the layout, and in the terminal
}

type perCodePoint struct {
	pieces []piece
	wide   []int // pieces since the last barrier that take more than was laid out
	debt   int   // cells that they take too many
	blank  bool  // the piece before is a space
}

func (s *perCodePoint) add(p piece) {
	blank := p.text == " "
	switch {
	case isFrame(p.text):
		s.barrier()
	case blank && s.blank && s.debt > 0:
		s.debt--
		s.pieces = append(s.pieces, piece{laid: 1})
		return
	case p.takes > p.laid:
		s.wide = append(s.wide, len(s.pieces))
		s.debt += p.takes - p.laid
	case p.takes < p.laid:
		p.text += blanks[:p.laid-p.takes]
		p.takes = p.laid
	}
	s.blank = blank
	s.pieces = append(s.pieces, p)
}

// barrier pays the debt that the spaces did not: what follows must keep its
// column.
func (s *perCodePoint) barrier() {
	for _, i := range slices.Backward(s.wide) {
		if s.debt <= 0 {
			break
		}
		p := &s.pieces[i]
		s.debt -= p.takes - p.laid
		p.text, p.takes = string(utf8.RuneError)+blank(p.laid-1), p.laid
		if s.debt < 0 { // spaces gave more than is needed
			p.text += blank(-s.debt)
			p.takes -= s.debt
		}
	}
	s.wide, s.debt = s.wide[:0], 0
}

func (s *perCodePoint) row(x int) (string, int) {
	var b strings.Builder
	laid, takes, at := 0, 0, -1
	for _, p := range s.pieces {
		if at < 0 && laid >= x && p.laid > 0 {
			at = takes
		}
		b.WriteString(p.text)
		laid += p.laid
		takes += p.takes
	}
	if at < 0 {
		at = takes + x - laid
	}
	return b.String(), at
}

// isFrame reports whether a cluster is a vertical line of a frame.
func isFrame(cluster string) bool {
	return cluster == "│" || cluster == "┃" || cluster == "|"
}

// sameBothWays tells quickly of most rows that both ways to measure agree.
func sameBothWays(row string) bool {
	for i := 0; i < len(row); {
		if row[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, w := utf8.DecodeRuneInString(row[i:])
		if !narrow(r) {
			return false
		}
		i += w
	}
	return true
}
