package browser_test

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
)

// ten makes a browser of ten rows, of which the first and the fifth are heads, on a screen
// that has room for all.
func ten(o browser.Options) *browser.Browser {
	o.ID = "test"
	o.Skip = func(i int) bool { return i == 0 || i == 4 }
	b := browser.New(o, tui.Filter{Narrow: func() tea.Cmd { return nil }})
	b.SetLen(10, -1)
	b.List.Render(theme.New(theme.Options{Dark: true}), 20, 10, true, func(int, int) string { return "row" })
	b.Areas = tui.Areas{{Part: browser.PartList, W: 20, H: 10}, {Part: browser.PartDetail, X: 20, W: 20, H: 10}}
	return &b
}

func press(b *browser.Browser, id string) {
	all := slices.Concat(b.FocusActions("Read", nil), b.FilterActions("All", nil, b.Go(browser.PartList)), b.MoveActions(), b.ScrollActions(), b.SearchActions())
	i := slices.IndexFunc(all, func(a tui.Action) bool { return a.ID == id })
	all[i].Run()
}

func TestTheCursorPassesHeads(t *testing.T) {
	b := ten(browser.Options{})
	at := []int{b.List.Cursor}
	for _, id := range []string{"down", "down", "down", "up", "bottom", "top"} {
		press(b, "test.list."+id)
		at = append(at, b.List.Cursor)
	}
	if want := []int{1, 2, 3, 5, 3, 9, 1}; !slices.Equal(at, want) {
		t.Errorf("the cursor went over %v, want %v", at, want)
	}
}

func TestAClickOnTheRowUnderTheCursorOpensIt(t *testing.T) {
	opened := 0
	for _, row := range []struct {
		name  string
		open  func() tea.Cmd
		focus string
	}{
		{"its detail", nil, browser.PartDetail},
		{"what the page opens", func() tea.Cmd { opened++; return nil }, browser.PartList},
	} {
		t.Run(row.name, func(t *testing.T) {
			moves := 0
			b := ten(browser.Options{Open: row.open, Moved: func(bool) tea.Cmd { moves++; return nil }})
			for _, y := range []int{3, 3} {
				if b.Focus != browser.PartList {
					t.Fatal("the first click opened the row")
				}
				if _, taken := b.Update(tui.ClickMsg{X: 1, Y: y}); !taken {
					t.Fatal("the click was not taken")
				}
			}
			if b.List.Cursor != 3 || b.Focus != row.focus || moves != 2 {
				t.Errorf("the cursor is at %d, the focus in %s, after %d moves", b.List.Cursor, b.Focus, moves)
			}
		})
	}
	if opened != 1 {
		t.Errorf("opened %d times", opened)
	}
}

func TestTheFocusFollowsKeysAndClicks(t *testing.T) {
	b := ten(browser.Options{})
	for _, step := range []struct {
		do   func()
		part string
		text bool
	}{
		{func() { press(b, "test.open") }, browser.PartDetail, false},
		{func() { press(b, "test.detail.find") }, tui.PartSearch, true},
		{func() { b.Update(tui.ClickMsg{X: 1, Y: 2}) }, browser.PartList, false},
		{func() { press(b, "test.filter") }, browser.PartFilter, true},
		{func() { press(b, "test.filtered") }, browser.PartList, false},
		{func() { b.Update(tui.ClickMsg{X: 21, Y: 2}) }, browser.PartDetail, false},
		{func() { b.Update(tui.ClickMsg{X: 70, Y: 2}) }, browser.PartDetail, false},
		{func() { press(b, "test.close") }, browser.PartList, false},
	} {
		if step.do(); b.Part() != step.part || b.TextEntry() != step.text {
			t.Fatalf("part %s, text %v; want %s, %v", b.Part(), b.TextEntry(), step.part, step.text)
		}
	}
}

func TestWordsAreTypedIntoAFilterWithoutFields(t *testing.T) {
	b := ten(browser.Options{})
	press(b, "test.filter")
	for _, r := range "a:b" {
		b.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	b.Update(tea.PasteMsg{Content: " c"})
	if b.Filter.Text() != "a:b c" || b.Part() != browser.PartFilter {
		t.Errorf("the filter has %q, in part %s", b.Filter.Text(), b.Part())
	}
	b.Update(tui.WheelMsg{X: 1, Y: 1, Delta: 1})
	b.Update(tui.WheelMsg{X: 21, Y: 1, Delta: 1})
	if _, taken := b.Update(tui.SizeMsg{}); taken {
		t.Error("a size was taken")
	}
}

func TestEachWayToSortIsAnAction(t *testing.T) {
	by := ""
	all := browser.SortActions("test", browser.PartList, []tui.Sorting[int]{{Means: "need"}, {Column: "agent", Means: "agent"}}, &tui.Order{}, func(column string) tea.Cmd {
		by = column
		return nil
	})
	all[2].Run()
	if by != "agent" || all[1].ID != "test.sort.need" || all[2].ID != "test.sort.agent" {
		t.Errorf("sorted by %q with %s, %s", by, all[1].ID, all[2].ID)
	}
	by = ""
	if all[0].Run(); by != "agent" {
		t.Errorf("the key sorts by %q", by)
	}
}
