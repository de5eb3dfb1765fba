package tui_test

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
	"github.com/mcpdeck/mcpdeck/tui/page/servers"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// listed are the pages with a list, each with more rows than most terminals have.
func listed(d *fake.Deck, q *ask.Queue, now time.Time) []tui.Page {
	return []tui.Page{
		inbox.New(q, inbox.Options{CallsPage: calls.ID, Home: "/home/ana"}),
		agents.New(agents.Options{AskPage: inbox.ID, CallsPage: calls.ID, Questions: q, Answered: inbox.Answered}),
		calls.New(calls.Options{Bodies: d}),
		servers.New(servers.Options{Servers: many{}, CallsPage: calls.ID}),
		pixels.New(pixels.Options{Sources: []pixels.Source{drawn{now}}}),
		drift.New(drift.Options{Project: "/home/ann/shop", Source: fake.NewDrift(now, fake.DriftMany(now, 80))}),
	}
}

// nth is a name for each number.
func nth(i int) string { return string(rune('a'+i/26)) + string(rune('a'+i%26)) }

// many are servers, each with many tools.
type many struct{ servers.Servers }

func (many) Origins() map[string]servers.Origin { return nil }

func (many) Details(string) (d snapshot.Details, known bool) {
	for i := range 70 {
		d.Tools = append(d.Tools, snapshot.Tool{Original: "tool " + nth(i), Context: 400, Verdict: snapshot.Allow})
	}
	return d, true
}

// drawn are pictures.
type drawn struct{ now time.Time }

func (drawn) Version() uint64                      { return 1 }
func (drawn) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }

func (p drawn) Renders() (all []pixels.Render) {
	for i := range manyRows {
		name := "sprite " + nth(i)
		pic := &viewer.Picture{Key: name, Frames: []viewer.Frame{{Image: image.NewNRGBA(image.Rect(0, 0, 8, 8))}}}
		all = append(all, pixels.Render{ID: uint64(i + 1), Name: name, Kind: "sprite", Agent: "claude", Time: p.now.Add(-3 * time.Hour), Picture: pic})
	}
	return all
}

// manyRows are more rows than any of clickSizes has.
const manyRows = 32

// clicked runs a deck with all those pages, and shows one.
func clicked(t *testing.T, size frame.Size, page string, test func(s *frame.Screen)) {
	t.Helper()
	var q *ask.Queue
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		now := time.Now()
		d := fake.NewDeck(now)
		d.Forget()
		for i := range manyRows {
			d.Add(snapshot.Call{AgentName: "claude", Tool: "read", Args: nth(i), Status: snapshot.OK, Started: now.Add(-3 * time.Hour)})
		}
		d.Change(func(s *snapshot.Snapshot) {
			for i := range manyRows {
				name := "server " + nth(i)
				s.Servers = append(slices.Clone(s.Servers), snapshot.Server{Name: name, Title: name, Foreign: true, State: snapshot.State{Status: snapshot.Off}})
			}
		})
		q = ask.New(ask.Options{})
		for _, r := range []ask.Request{fake.FrontAllow(), fake.FrontQuestion(), fake.FrontLong(), fake.FrontParts()} {
			if _, err := q.Open(r); err != nil {
				t.Fatal(err)
			}
		}
		all := fake.FrontSessions(now.Add(-3 * time.Hour))
		for i := range manyRows {
			more := all.All[5]
			more.ID, more.Folder = nth(i), "/home/ana/src/more-"+nth(i)
			all.All = append(all.All, more)
		}
		return tui.New(tui.Options{Deck: d, Background: "dark", Still: true, Start: page, Feeds: []tui.Feed{tui.SessionsFeed(all)}, Pages: listed(d, q, now)})
	}, func(s *frame.Screen) {
		s.Wait(10 * time.Second)
		test(s)
		_ = q.Close() // it keeps nothing
	})
}

// clickSizes are terminals with one pane, with two below each other, side by side, and with three.
func clickSizes() []frame.Size {
	return []frame.Size{{W: 40, H: 12}, {W: 60, H: 30}, {W: 80, H: 24}, {W: 110, H: 24}, {W: 200, H: 30}}
}

// onEachPage runs a test on each page with a list, at all sizes.
func onEachPage(t *testing.T, test func(t *testing.T, size frame.Size, page string)) {
	t.Helper()
	for _, page := range pagesWithAList(t) {
		for _, size := range clickSizes() {
			t.Run(fmt.Sprintf("%s/%dx%d", page, size.W, size.H), func(t *testing.T) {
				t.Parallel()
				test(t, size, page)
			})
		}
	}
}

// pagesWithAList are the IDs of those in listed, which has to have all pages there are.
func pagesWithAList(t *testing.T) (ids []string) {
	t.Helper()
	q := queue()
	for _, p := range listed(fake.NewDeck(time.Now()), q, time.Now()) {
		ids = append(ids, p.ID())
	}
	files, err := filepath.Glob("page/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`(?m)^const ID = "(\w+)"`).FindSubmatch(text); m != nil && !slices.Contains(ids, string(m[1])) {
			t.Errorf("no page is clicked on that has the ID of %s", path)
		}
	}
	return ids
}

// timeless is a text without the ages in it, which go on, and the room that they take.
func timeless(text string) string {
	text = regexp.MustCompile(`\d+ [smh]\b|\bnow\b`).ReplaceAllString(text, "")
	return strings.Join(strings.Fields(text), " ")
}

// listRow is what a list has in row y of a screen, without the mark of the cursor, and whether the cursor
// is there.
func listRow(text string, y int) (row string, cursor bool) {
	row = strings.Split(text, "\n")[y]
	_, size := utf8.DecodeRuneInString(row)
	list, _, _ := strings.Cut(row[size:], "│")
	return timeless(strings.ReplaceAll(list, "┃", "")), strings.HasPrefix(row, "▌")
}

// cursorRow is the row of a list that the cursor is on; -1, "" where there is none.
func cursorRow(text string) (y int, row string) {
	for y := range strings.Count(text, "\n") {
		if row, here := listRow(text, y); here {
			return y, row
		}
	}
	return -1, ""
}

// walk presses a key until the cursor stays where it is. It returns the screens with the cursor on each
// row.
func walk(s *frame.Screen, key string) map[string]string {
	rows := map[string]string{}
	for {
		text := s.Text()
		_, row := cursorRow(text)
		if rows[row] != "" || row == "" {
			return rows
		}
		rows[row] = text
		s.Quick(key)
	}
}

func TestAClickOnARowSelectsIt(t *testing.T) {
	onEachPage(t, func(t *testing.T, size frame.Size, page string) {
		t.Helper()
		clicked(t, size, page, func(s *frame.Screen) {
			s.Quick("home")
			rows := walk(s, "down")
			for _, end := range []string{"home", "end"} {
				n := 0
				for y := 1; y < size.H-1; y++ {
					s.Quick(end)
					before := s.Text()
					want, here := listRow(before, y)
					if rows[want] == "" || here { // a click on the row of the cursor opens it
						continue
					}
					n++
					s.Click(7*y%18, y)
					after := s.Text()
					if _, row := cursorRow(after); row != want {
						t.Errorf("a click on row %d has the cursor on %q:\n%s\nbefore\n%s", y, row, after, before)
						return
					}
					if same, _ := cursorRow(rows[want]); same == y && timeless(after) != timeless(rows[want]) { // else it was scrolled
						t.Errorf("a click on row %d shows\n%s\nand with the keys that row is\n%s", y, after, rows[want])
						return
					}
				}
				if n == 0 {
					t.Errorf("there is no row to click on:\n%s", s.Text())
				}
			}
		})
	})
}

// keysOf are the keys of a footer as it names them, and the cell at which each begins.
func keysOf(text string) (labels []string, at []int) {
	rows := strings.Split(strings.TrimRight(text, "\n"), "\n")
	footer := []rune(rows[len(rows)-1])
	for x, r := range footer {
		begins := x > 0 && footer[x-1] == ' ' && (x == 1 || footer[x-2] == ' ')
		if label, _, _ := strings.Cut(string(footer[x:]), " "); begins && r != ' ' {
			labels, at = append(labels, label), append(at, x)
		}
	}
	return labels, at
}

// keyOf is the key that a footer calls so.
func keyOf(label string) string {
	if key := map[string]string{"pgdn": "pgdown", "↑": "up", "↓": "down", "←": "left", "→": "right"}[label]; key != "" {
		return key
	}
	if len(label) > 1 && '0' < label[0] && label[0] <= '9' { // 1-4
		return label[:1]
	}
	return label
}

func TestAClickOnAKeyOfTheFooterDoesWhatTheKeyDoes(t *testing.T) {
	size := frame.Size{W: 200, H: 24} // there is room for most keys
	for _, page := range pagesWithAList(t) {
		for _, before := range [][]string{nil, {"enter"}} {
			t.Run(fmt.Sprint(page, before), func(t *testing.T) {
				t.Parallel()
				for i, n := 0, 1; i < n; i++ { // each on a screen of its own
					label, byClick, byKey := "", "", ""
					clicked(t, size, page, func(s *frame.Screen) {
						s.Keys(before...)
						s.Wait(2 * time.Second)
						labels, at := keysOf(s.Text())
						if n = len(labels); n == 0 {
							t.Errorf("the footer names no key:\n%s", s.Text())
							return
						}
						label = labels[i]
						s.Click(at[i], size.H-1)
						byClick = s.Text()
					})
					if strings.Contains(byClick, "press "+label+" to: ") { // a click never does that
						continue
					}
					clicked(t, size, page, func(s *frame.Screen) {
						s.Keys(before...)
						s.Wait(2 * time.Second)
						s.Keys(keyOf(label))
						byKey = s.Text()
					})
					if timeless(byClick) != timeless(byKey) {
						t.Errorf("a click on %q shows\n%s\nand the key shows\n%s", label, byClick, byKey)
					}
				}
			})
		}
	}
}

func TestAClickOnATabShowsItsPage(t *testing.T) {
	for _, size := range clickSizes() {
		clicked(t, size, "", func(s *frame.Screen) {
			shown := map[string]string{}
			for _, title := range []string{"Inbox", "Agents", "Calls", "Servers", "Pixels", "Drift"} {
				s.Quick(title[:1])
				s.Wait(time.Second)
				shown[title] = s.Text()
			}
			for title, want := range shown {
				s.Quick("I")
				row, _, _ := strings.Cut(s.Text(), "\n")
				before, _, there := strings.Cut(row, title)
				if !there {
					continue // there is no room for it
				}
				for _, x := range []int{0, len(title) - 1} {
					s.Click(len([]rune(before))+x, 0)
					s.Wait(time.Second)
					if text := s.Text(); timeless(text) != timeless(want) {
						t.Errorf("a click on %s shows\n%s\nand its key shows\n%s", title, text, want)
					}
					s.Quick("I")
				}
			}
		})
	}
}

// section is what stands on a page below a heading, in its column.
type section struct{ x, y, w, h int }

// sections are those of a screen.
func sections(text string) (all []section) {
	rows := strings.Split(strings.TrimRight(text, "\n"), "\n")
	x := 0
	for column := range strings.SplitSeq(rows[1], "│") {
		w := len([]rune(column))
		for y := 1; y < len(rows)-1; y++ {
			cells := []rune(rows[y])
			if len(cells) > x && strings.ContainsRune("━─", cells[x]) {
				all = append(all, section{x: x, y: y, w: w})
			}
			all[len(all)-1].h++
		}
		x += w + 1
	}
	return all
}

// of is what stands in a section of a screen.
func (a section) of(text string) string {
	var out []string
	for _, row := range strings.Split(text, "\n")[a.y : a.y+a.h] {
		cells := []rune(row + strings.Repeat(" ", a.x+a.w))
		out = append(out, string(cells[a.x:a.x+a.w]))
	}
	return strings.Join(out, "\n")
}

func TestTheWheelScrollsThePaneUnderIt(t *testing.T) {
	onEachPage(t, func(t *testing.T, size frame.Size, page string) {
		t.Helper()
		var all []section
		var rows map[string]string
		clicked(t, size, page, func(s *frame.Screen) {
			s.Quick("home")
			all = sections(s.Text())
			rows = walk(s, "down")
		})
		for _, a := range all {
			clicked(t, size, page, func(s *frame.Screen) { wheel(t, s, a, all, rows) })
		}
	})
}

// wheel turns the wheel over one of the sections of a screen, and back. Its list has rows.
func wheel(t *testing.T, s *frame.Screen, a section, all []section, rows map[string]string) {
	t.Helper()
	turn := func(by tea.MouseButton) string {
		s.Send(tea.MouseWheelMsg{X: a.x + a.w/2, Y: a.y + a.h/2, Button: by})
		return s.Text()
	}
	s.Quick("home")
	before, list := s.Text(), false
	for y := a.y; a.x == 0 && y < a.y+a.h; y++ {
		row, _ := listRow(before, y)
		list = list || rows[row] != ""
	}
	scrolls, after := strings.Contains(a.of(before), "┃"), turn(tea.MouseWheelDown)
	if scrolls && timeless(a.of(after)) == timeless(a.of(before)) {
		t.Errorf("over the pane at %d,%d the wheel does nothing:\n%s", a.x, a.y, before)
	}
	for _, other := range all {
		if other != a && !list && a.h > 2 && timeless(other.of(after)) != timeless(other.of(before)) {
			t.Errorf("over the pane at %d,%d the wheel moved that at %d,%d:\n%s\nafter\n%s", a.x, a.y, other.x, other.y, after, before)
		}
	}
	if back := turn(tea.MouseWheelUp); scrolls && !list && timeless(back) != timeless(before) {
		t.Errorf("the wheel back over the pane at %d,%d shows\n%s\nafter\n%s", a.x, a.y, back, before)
	}
}
