package calls_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

func show(t *testing.T, size frame.Size, test func(s *frame.Screen, d *fake.Deck)) {
	t.Helper()
	var d *fake.Deck
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		d.SetBody(4, snapshot.CallBody{
			Args:   json.RawMessage(`{"file":"hero.pxl","scale":4,"layers":["body","hat"],"background":null}`),
			Result: json.RawMessage(`{"content":[{"type":"text","text":"1 picture, 64×64\nsaved as hero.png"},{"type":"image","data":"sha256:9f86d081, 4.1 KB","mimeType":"image/png"}],"isError":false}`),
		})
		return tui.New(tui.Options{Deck: d, Background: "dark", Keys: sortKeys(), Pages: []tui.Page{calls.New(calls.Options{Bodies: d, Commands: commands})}})
	}, func(s *frame.Screen) { test(s, d) })
}

func TestScreens(t *testing.T) {
	tests := []struct {
		name string
		size frame.Size
		keys []string
	}{
		{"110x34", frame.Size{W: 110, H: 34}, []string{"home", "down", "down", "down"}},
		{"110x34-error", frame.Size{W: 110, H: 34}, []string{"home", "down", "down", "enter"}},
		{"110x34-running", frame.Size{W: 110, H: 34}, []string{"end"}},
		{"80x24", frame.Size{W: 80, H: 24}, nil},
		{"80x24-detail", frame.Size{W: 80, H: 24}, []string{"home", "down", "down", "down", "enter"}},
		{"80x24-filter", frame.Size{W: 80, H: 24}, []string{"/", "p", "e", "n", "c", "i", "l"}},
		{"80x24-failed", frame.Size{W: 80, H: 24}, []string{"e"}},
		{"80x24-none", frame.Size{W: 80, H: 24}, []string{"/", "x", "y", "z"}},
		{"40x12", frame.Size{W: 40, H: 12}, nil},
		{"40x12-detail", frame.Size{W: 40, H: 12}, []string{"home", "enter", "pgdown"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			show(t, tt.size, func(s *frame.Screen, _ *fake.Deck) {
				s.Quick(tt.keys...)
				s.Golden(tt.name)
			})
		})
	}
}

func TestCallsAtEverySize(t *testing.T) {
	frame.Every(t, "list", func(t *testing.T, l frame.Look, test func(s *frame.Screen)) {
		t.Helper()
		frame.Run(t, l.Size, l.Colors, func() tea.Model {
			d := fake.NewDeck(time.Now())
			return tui.New(tui.Options{Deck: d, Still: true, Theme: l.Theme, Background: l.Background, Pages: []tui.Page{calls.New(calls.Options{Bodies: d})}})
		}, test)
	})
}

// full is the page with a badge above nine.
type full struct{ *calls.Page }

func (full) Badge() int { return 12 }

func TestCallsBelowFullBadges(t *testing.T) {
	for _, size := range frame.Sizes()[:3] {
		frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
			d := fake.NewDeck(time.Now())
			return tui.New(tui.Options{Deck: d, Still: true, Background: "dark", Start: calls.ID, Pages: fake.Tabs(full{calls.New(calls.Options{Bodies: d})}, 12)})
		}, func(s *frame.Screen) { s.Golden(fmt.Sprintf("badges-%dx%d", size.W, size.H)) })
	}
}

func TestARunningCallIsCancelledAndAnEndedOneRepeated(t *testing.T) {
	var cancelled []uint64
	var repeated []string
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d := fake.NewDeck(time.Now())
		d.SetBody(4, snapshot.CallBody{Args: json.RawMessage(`{"file":"hero.pxl"}`)})
		return tui.New(tui.Options{Deck: d, Still: true, Background: "dark", Pages: []tui.Page{calls.New(calls.Options{
			Bodies: d, Cancel: func(id uint64) bool { cancelled = append(cancelled, id); return true },
			Repeat: func(tool string, b snapshot.CallBody) error {
				repeated = append(repeated, tool+string(b.Args))
				return nil
			},
		})}})
	}, func(s *frame.Screen) {
		s.Has("x stop")
		s.Keys("x")
		s.Has("cancelled: claude pencil_get_screenshot")
		s.Keys("home", "down", "down", "down")
		s.Lacks("x stop")
		s.Keys("r")
		s.Has("Call pixelsrc_render again?")
		s.Keys("n", "r", "y")
		if !slices.Equal(cancelled, []uint64{9}) || !slices.Equal(repeated, []string{`pixelsrc_render{"file":"hero.pxl"}`}) {
			t.Errorf("cancelled %v, repeated %v", cancelled, repeated)
		}
	})
}

// forgotten keeps no bodies.
type forgotten struct{}

func (forgotten) Body(context.Context, uint64) (snapshot.CallBody, bool) {
	return snapshot.CallBody{}, false
}

func TestACallWhoseArgumentsAreGoneIsNotRepeatedWithoutThem(t *testing.T) {
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		return tui.New(tui.Options{Deck: fake.NewDeck(time.Now()), Still: true, Background: "dark", Pages: []tui.Page{calls.New(calls.Options{
			Bodies: forgotten{}, Repeat: func(_ string, b snapshot.CallBody) error {
				t.Errorf("repeated with the arguments %q", b.Args)
				return nil
			},
		})}})
	}, func(s *frame.Screen) {
		s.Keys("home", "down", "down", "down")
		s.Has("no longer kept")
		s.Keys("r", "y")
		s.Has("not repeated: its arguments are no longer stored")
	})
}

func TestTheDetailFollowsTheCall(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, func(s *frame.Screen, d *fake.Deck) {
		s.Keys("end")
		s.Has("running", `id: "hero"`)
		s.Lacks("Result")
		c := snapshot.Call{ID: 9, AgentName: "claude", Tool: "pencil_get_screenshot", Status: snapshot.OK, Duration: 3 * time.Second, Result: "done at last", Args: `{"id":"hero"}`}
		d.Add(c)
		s.Wait(time.Second)
		s.Has("Result", "done at last")
		s.Resize(160, 40)
		s.Has("done at last")
	})
}

func TestFollowAndPause(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, d *fake.Deck) {
		more := func() {
			for i := range 50 {
				d.Add(snapshot.Call{AgentName: "codex", Tool: fmt.Sprintf("echo_%d", i), Status: snapshot.OK})
			}
			s.Wait(time.Second)
		}
		more()
		s.Has("echo_49", "following")
		s.Keys("up", "up")
		s.Has("57 of 59")
		more()
		s.Has("57 of 109", "echo_47")
		s.Keys("f")
		s.Has("echo_49", "following")
	})
}

func TestFilterTakesNewCalls(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, d *fake.Deck) {
		s.Keys("/")
		s.Type("codex echo")
		s.Has("No matching calls", "Calls 0 of 9")
		d.Add(snapshot.Call{AgentName: "codex", Tool: "echo", Status: snapshot.OK})
		d.Add(snapshot.Call{AgentName: "claude", Tool: "echo", Status: snapshot.OK})
		s.Wait(time.Second)
		s.Has("Calls 1 of 11")
		s.Keys("enter", "esc")
		s.Has("Calls 11 ")
		s.Lacks("Calls 1 of 11")
	})
}

// The filter knows the fields that mcpdeck log knows.
func TestFilterKnowsFields(t *testing.T) {
	tests := []struct{ query, want string }{
		{"status:error", "Calls 1 of 9"},
		{"status:err", "Calls 1 of 9"},
		{"tool:pencil_* status:ok", "Calls 2 of 9"},
		{"server:ask", "Calls 1 of 9"},
		{"agent:open*", "Calls 1 of 9"},
		{"since:100s", "Calls 5 of 9"},
		{">100ms", "Calls 2 of 9"},
		{"status:fine", "status:fine: use ok, error"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			show(t, frame.Size{W: 99, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
				s.Keys("/")
				s.Type(tt.query)
				s.Has(tt.want)
			})
		})
	}
}

func TestFilterLetsGoWhatChanged(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, d *fake.Deck) {
		s.Keys("/")
		s.Type("running")
		s.Has("Calls 2 of 9")
		d.Add(snapshot.Call{ID: 9, AgentName: "claude", Tool: "pencil_get_screenshot", Status: snapshot.OK})
		s.Wait(time.Second)
		s.Has("Calls 1 of 9")
	})
}

func TestOldCallsAreDropped(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, d *fake.Deck) {
		for i := range 13_000 {
			d.Add(snapshot.Call{AgentName: "codex", Tool: fmt.Sprintf("echo_%d", i), Status: snapshot.OK})
		}
		s.Wait(time.Second)
		s.Has("echo_12999")
		s.Keys("home")
		s.Lacks("read_project_context")
	})
}

func commands() []calls.Command {
	return []calls.Command{{What: "a command", Line: func(tool string, args json.RawMessage) string {
		if strings.Contains(string(args), "redacted") {
			return ""
		}
		return tool + " " + string(args)
	}}}
}

func TestAChosenPartOfACallIsCopied(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, func(s *frame.Screen, d *fake.Deck) {
		for _, tt := range []struct{ key, what, want string }{
			{"3", "a command", `read_project_context {"path":"README.md"}`},
			{"2", "the arguments", `{` + "\n" + `  "path": "README.md"` + "\n" + `}`},
			{"1", "the result", widget.Indent([]byte(`{"content":[{"type":"text","text":"# Menu"}],"isError":false}`))},
		} {
			before := len(s.Raw())
			s.Keys("home", "c")
			s.Has("1  The result as JSON", "2  The arguments as JSON", "3  A command")
			s.Keys(tt.key)
			s.Has("copied " + tt.what)
			_, text, _ := strings.Cut(s.Raw()[before:], "\x1b]52;c;")
			text, _, _ = strings.Cut(text, "\a")
			if got, err := base64.StdEncoding.DecodeString(text); err != nil || string(got) != tt.want {
				t.Errorf("%s copies %q, %v, want %q", tt.key, got, err, tt.want)
			}
		}
		d.SetBody(2, snapshot.CallBody{Args: json.RawMessage(`{"key":"[redacted]"}`), Result: json.RawMessage("{}")})
		s.Keys("home", "down", "c", "3")
		s.Has("not copied: the stored arguments are incomplete")
		s.Keys("end", "c")
		s.Has("1  The arguments as JSON")
		s.Lacks("The result as JSON") // it still runs
	})
}

// The list keeps when a call was and its arguments at every width that the detail
// is shown at, too.
func TestNoWidthCutsWhatACallWas(t *testing.T) {
	for w := 72; w <= 240; w += 4 {
		show(t, frame.Size{W: w, H: 34}, func(s *frame.Screen, _ *fake.Deck) {
			for l := range strings.SplitSeq(s.Text(), "\n") {
				if strings.Contains(l, "pixelsrc_rend") && (!strings.Contains(l, "23:58") || !strings.Contains(l, "hero.pxl")) {
					t.Errorf("at %d columns: %s", w, l)
				}
			}
		})
	}
}

func TestWhyACallWasRefusedIsSaidOnce(t *testing.T) {
	show(t, frame.Size{W: 160, H: 40}, func(s *frame.Screen, d *fake.Deck) {
		d.Add(snapshot.Call{AgentName: "codex", Tool: "nope", Status: snapshot.Refused, Result: "no such tool in this view", Args: `{}`})
		s.Wait(time.Second)
		s.Keys("end")
		_, detail, _ := strings.Cut(s.Text(), "✗ refused")
		said := 0
		for l := range strings.SplitSeq(detail, "\n") {
			if at := strings.LastIndex(l, "│"); at >= 0 { // beside the row of the list, which tells why, too
				said += strings.Count(l[at:], "no such tool in this view")
			}
		}
		if said != 1 {
			t.Errorf("said %d times:\n%s", said, s.Text())
		}
		s.Keys("enter", "v")
		s.Has("-32602")
	})
}

// A narrow list has room for why a call failed and for what is asked: the names of
// most tools are short, and a long one costs its own row alone.
func TestANarrowListTellsWhyAndWhat(t *testing.T) {
	for _, tt := range []struct {
		size frame.Size
		want []string
	}{
		{frame.Size{W: 80, H: 40}, []string{"claude     read_project_context", "no memory named", "Which database?"}},
		{frame.Size{W: 40, H: 12}, []string{"ask  Which data"}},
	} {
		show(t, tt.size, func(s *frame.Screen, _ *fake.Deck) { s.Has(tt.want...) })
	}
}

func TestALongCallKeepsItsDurationApart(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, d *fake.Deck) {
		d.Add(snapshot.Call{AgentName: "codex", Tool: "slow", Status: snapshot.ToolError, Result: strings.Repeat("reason ", 20), Duration: 59*time.Minute + 59*time.Second})
		s.Wait(time.Second)
		s.Has("… 59 m 59 s")
	})
}

const markdown = "# Drift report\n\nThe **two** components differ, see `Button.tsx` and https://example.com/drift/42.\n\n" +
	"| Component | Change | Breaking |\n|---|---|---:|\n| `Button` | prop *size* gone | yes |\n| `世界` | none | no |\n\n" +
	"1. Update the callers\n   - `app.tsx`\n2. Run [the tests](https://example.com/ci)\n\n```go\nfunc main() {\n\tfmt.Println(\"a long line of code that does not fit into the pane and is broken\")\n}\n```\n> quoted\n"

func TestMarkdownInAResult(t *testing.T) {
	for _, size := range []frame.Size{{W: 200, H: 60}, {W: 110, H: 34}, {W: 40, H: 24}} {
		frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
			d := fake.NewDeck(time.Now())
			text, _ := json.Marshal(markdown)
			d.SetBody(4, snapshot.CallBody{Args: json.RawMessage(`{}`), Result: json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`)})
			return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{calls.New(calls.Options{Bodies: d})}})
		}, func(s *frame.Screen) {
			s.Quick("home", "down", "down", "down", "enter", "d")
			s.Golden(fmt.Sprintf("%dx%d-markdown", size.W, size.H))
			if raw := s.Raw(); !strings.Contains(raw, "\x1b]8;;https://example.com/") && !strings.Contains(raw, ";https://example.com/") {
				t.Error("the address is no link")
			}
			s.Keys("v")
			s.Has("**two**")
		})
	}
}

func TestTheFirstFrameNeedsNoActions(t *testing.T) {
	p := calls.New(calls.Options{})
	call := snapshot.Call{ID: 1, Tool: "ask", Status: snapshot.Running}
	p.Update(tui.DeckMsg{Snapshot: &snapshot.Snapshot{}, Calls: []snapshot.Call{call}})
	if rows := p.Render(&tui.Frame{W: 160, H: 40, Theme: theme.New(theme.Options{})}); len(rows) == 0 {
		t.Error("nothing was drawn")
	}
}

func TestValuesOfTheFilterAreCompleted(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
		s.Keys("/")
		s.Type("s")
		s.Has("▌ server:", "status:", "since:")
		s.Type("t")
		s.Quick("tab")
		s.Has("/ status:", "status:running", "status:cancelled", "tab choose", "esc back")
		s.Golden("80x24-complete")
		s.Keys("down", "down", "enter") // the first down goes into the list
		s.Has("/ status:ok", "enter choose")
		s.Lacks("status:running")
		s.Type(" agent:")
		s.Has("▌ agent:claude", "agent:codex")
		s.Keys("esc")
		s.Has("/ status:ok agent:", "esc back")
		s.Lacks("agent:codex")
		s.Type("cod")
		s.Lacks("agent:codex")
		s.Keys("ctrl+w")
		s.Type(" agent:co")
		s.Has("▌ agent:codex")
		s.Keys("enter") // without going there, what is typed is what counts
		s.Has("agent:co")
		s.Lacks("agent:codex")
	})
}

func TestACompletionIsTakenWithTheMouse(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
		s.Keys("/")
		s.Type("status:")
		s.ClickOn("status:refused")
		s.Has("/ status:refused")
		s.Lacks("status:running")
	})
}
