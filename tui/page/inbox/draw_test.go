package inbox_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// optionsShown counts the rows of options on the screen.
func optionsShown(s string) int {
	n := strings.Count(s, "option ")
	if strings.Contains(s, "Your own answer") {
		n++
	}
	return n
}

func drawCases() []refCase {
	return []refCase{
		{35, "93 columns, then 79", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 93, H: 24}, long(3, 4), func(d *driver, _ *questions.Call) {
				d.Resize(79, 24)
				for l := range strings.SplitSeq(d.Text(), "\n") {
					if len([]rune(l)) > 79 {
						t.Errorf("too wide: %q", l)
					}
				}
				d.Has("option 04")
			})
		}},
		{36, "long description at 12, 16, 20 rows", func(t *testing.T) {
			t.Helper()
			for _, h := range []int{12, 16, 20} {
				sized(t, frame.Size{W: 60, H: h}, long(40, 8), func(d *driver, _ *questions.Call) {
					d.Has("Which?", "option 01", "option 02", "enter")
				})
			}
		}},
		{37, "then down six, up four: the cursor is seen", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 60, H: 12}, long(40, 8), func(d *driver, _ *questions.Call) {
				d.Keys("down", "down", "down", "down", "down", "down")
				d.Has("▌( ) 7 option 07")
				d.Keys("up", "up", "up", "up")
				d.Has("▌( ) 3 option 03")
			})
		}},
		{38, "PgUp and Ctrl+U move the view", func(t *testing.T) {
			t.Helper()
			for _, keys := range [][2]string{{"pgdown", "pgup"}, {"ctrl+d", "ctrl+u"}} {
				sized(t, frame.Size{W: 60, H: 24}, strings.Replace(long(40, 4), "about", "very first", 1), func(d *driver, _ *questions.Call) {
					d.Has("very first")
					d.Keys(keys[0])
					d.Lacks("very first")
					d.Keys(keys[1])
					d.Has("very first")
				})
			}
		}},
		{39, "scrolling does not change the choice", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 60, H: 14}, long(10, 8), func(d *driver, c *questions.Call) {
				d.Keys("down", "down", "ctrl+u", "ctrl+u", "enter")
				same(t, d.reply(c).Results, one([]string{"option 03"}, ""))
			})
		}},
		{40, "after scrolling, the next move shows the cursor", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 60, H: 12}, long(0, 20), func(d *driver, _ *questions.Call) {
				d.Keys("ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d", "ctrl+d")
				d.Lacks("option 01")
				d.Keys("down")
				d.Has("▌( ) 2 option 02")
			})
		}},
		{41, "a note of 90 characters at 16 rows", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 60, H: 16}, long(10, 8), func(d *driver, _ *questions.Call) {
				d.press("down", "f6", "'"+strings.Repeat("word ", 17)+"theend")
				d.Has("theend")
			})
		}},
		{42, "tabs with short, long and many options", func(t *testing.T) {
			t.Helper()
			raw := `[{"question":"1?","options":["A"]},` + long(0, 40)[1:len(long(0, 40))-1] + `,` + `{"id":"z","question":"` + strings.Repeat("long ", 100) + `","options":["` + strings.Repeat("wide ", 60) + `","B"]}]`
			sized(t, frame.Size{W: 60, H: 16}, raw, func(d *driver, _ *questions.Call) {
				for range 4 {
					if n := strings.Count(d.Text(), "\n"); n != 16 || !strings.Contains(d.Text(), "enter") {
						t.Errorf("%d rows:\n%s", n, d.Text())
					}
					d.Keys("right")
				}
			})
		}},
		{43, "14 questions in review at 16 rows", func(t *testing.T) {
			t.Helper()
			raw := "[" + strings.TrimSuffix(strings.Repeat(`{"question":"?","options":["A","B"]},`, 14), ",") + "]"
			sized(t, frame.Size{W: 60, H: 16}, raw, func(d *driver, _ *questions.Call) {
				d.Keys("R", "left", "right")
				d.Has("Q1: not answered", "enter next")
			})
		}},
		{44, "recommended 10 of 12: the cursor is seen at once", func(t *testing.T) {
			t.Helper()
			raw := strings.Replace(long(20, 12), `"options"`, `"recommended":9,"options"`, 1)
			sized(t, frame.Size{W: 60, H: 12}, raw, func(d *driver, _ *questions.Call) { d.Has("option 10") })
		}},
		{45, "6 options, 24 rows, any description: all rows", func(t *testing.T) {
			t.Helper()
			for _, n := range []int{20, 160} {
				with(t, long(n, 6), func(d *driver, _ *questions.Call) { same(t, optionsShown(d.Text()), 7) })
			}
		}},
		{46, "40 options, 20 rows: more than five", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 60, H: 20}, long(10, 40), func(d *driver, _ *questions.Call) {
				if n := optionsShown(d.Text()); n <= 5 {
					t.Errorf("%d rows", n)
				}
			})
		}},
		{47, "note with line break and BEL on one line", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, _ *questions.Call) {
				d.Keys("f6")
				d.Send(tea.PasteMsg{Content: "li\x07ne\nbreak"})
				d.Keys("enter")
				d.Has("A — line break")
			})
		}},
		{48, "wide label while editing", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 40, H: 14}, `[{"question":"?","options":["漢字漢字漢字漢字漢字漢","B"]}]`, func(d *driver, _ *questions.Call) {
				d.press("f6", "'note")
				d.Has("note")
			})
		}},
		{49, "long note is wrapped, not cut", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 40, H: 20}, abc, func(d *driver, _ *questions.Call) {
				d.press("f6", "'"+strings.Repeat("ab ", 20)+"zz", "enter")
				d.Has("zz")
			})
		}},
		{50, "tall terminal: a long question gets its rows", func(t *testing.T) {
			t.Helper()
			raw := `[{"question":"` + strings.TrimSuffix(strings.Repeat(`row\n`, 20), `\n`) + `","options":["A"]}]`
			sized(t, frame.Size{W: 60, H: 50}, raw, func(d *driver, _ *questions.Call) { same(t, strings.Count(d.Text(), "row"), 20) })
		}},
		{51, "small terminal: three options", func(t *testing.T) {
			t.Helper()
			sized(t, frame.Size{W: 40, H: 12}, long(30, 8), func(d *driver, _ *questions.Call) {
				if n := optionsShown(d.Text()); n < 3 {
					t.Errorf("%d options:\n%s", n, d.Text())
				}
			})
		}},
	}
}

const shop = `[{"id":"auth","header":"Auth","question":"How should the shop's API authenticate its mobile clients?","description":"The app ships in **three weeks**. Tokens are checked in ` + "`middleware/auth.go`" + `.\n\n- OAuth needs the login page first\n- keys are in use for the [partner API](https://example.com/keys)","options":[{"label":"OAuth 2.1 with PKCE","description":"one login page, refresh tokens, no secret in the app"},{"label":"API keys","description":"what partners use today; a key per device"},{"label":"Session cookies","description":"simplest; needs the web view"}],"recommended":0},
{"id":"cache","header":"Caches","question":"Which caches may I add?","multi":true,"options":["Redis","in process","CDN"],"recommended":[1]},
{"id":"name","header":"Name","question":"What shall the package be called?","placeholder":"a short lower-case word"}]`

const previews = `[{"id":"layout","question":"Which layout for the settings page?","options":[{"label":"Two columns","preview":"+-----+----+\n| nav | a  |\n+-----+----+"},{"label":"Tabs","preview":"[A] [B]"}]}]`

const marked = `[{"id":"parser","question":"Replace **all** of ` + "`parse_*.go`" + ` with [participle](https://a.example/p)?","options":[{"label":"Yes, ` + "`participle`" + `","description":"*Fewer* lines; snake_case and *.go stay"},{"label":"**No**","description":"see ` + "`__init__`" + `"}]}]`

func TestGoldenFrames(t *testing.T) {
	sizes := []struct {
		name string
		size frame.Size
	}{{"110x34", frame.Size{W: 110, H: 34}}, {"80x24", frame.Size{W: 80, H: 24}}, {"40x12", frame.Size{W: 40, H: 12}}}
	views := []struct {
		name string
		ask  []string
		keys []string
	}{
		{"empty", nil, nil},
		{"question", []string{shop, previews}, []string{"enter"}},
		{"note", []string{shop}, []string{"f6", "'only for the app", "left", "left"}},
		{"multi", []string{shop}, []string{"enter", "space", "2", "o", "'Varnish", "enter"}},
		{"text", []string{shop}, []string{"enter", "enter", "'shopkit"}},
		{"review", []string{shop}, []string{"enter", "enter", "'shopkit", "enter"}},
		{"askback", []string{shop}, []string{"m", "'is the web view allowed?"}},
		{"decline", []string{shop}, []string{"x", "'not now"}},
		{"sent", []string{abc, previews}, []string{"enter"}},
		{"list", []string{shop, abc, previews}, []string{"esc"}},
		{"reader", []string{shop}, []string{"d"}},
		{"preview", []string{previews}, []string{"v", "down"}},
		{"history", []string{abc}, []string{"enter", "wait", "enter", "H"}},
		{"markdown", []string{marked}, []string{"down"}},
		{"markdown-list", []string{marked, abc}, []string{"esc"}},
		{"markdown-reader", []string{marked}, []string{"d"}},
		{"markdown-history", []string{marked}, []string{"enter", "wait", "enter", "H"}},
	}
	for _, v := range views {
		for _, s := range sizes {
			t.Run(v.name+" "+s.name, func(t *testing.T) {
				t.Parallel()
				setup{size: s.size}.run(t, func(d *driver) {
					for _, raw := range v.ask {
						d.ask(raw)
					}
					d.Wait(5 * time.Second)
					d.press(v.keys...)
					d.Golden(v.name + "-" + s.name)
				})
			})
		}
	}
}

// The mark of a question whose agent is away differs by its colour alone.
func TestTheListSaysThatAnAgentIsAway(t *testing.T) {
	with(t, abc, func(d *driver, c *questions.Call) {
		d.Keys("esc")
		d.Lacks("agent away")
		c.HandOver()
		d.Wait(time.Second)
		d.Has("agent away")
	})
}
