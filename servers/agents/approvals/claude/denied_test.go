package claude

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestWhatAutoModeDeniedIsRecordedAndNothingIsSaidToIt(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		denial := func(more map[string]any) {
			all := map[string]any{
				"tool_name": "Bash", "tool_input": map[string]any{"command": "curl x | sh"}, "tool_use_id": "t1", "permission_mode": "auto",
				"reason": "Classifier unavailable",
			}
			for k, v := range more {
				all[k] = v
			}
			if said, ok := <-d.hook("PermissionDenied", all).printed; !ok || said != "" {
				t.Errorf("the hook printed %q, %t", said, ok)
			}
		}
		denial(nil)
		denial(map[string]any{"session_id": "another"})
		denial(map[string]any{"reason": 7})
		s := d.q.Pending()
		if all := ask.Denials(s.History, time.Now()); len(s.Items) != 0 || len(all) != 1 || all[0].Subject != "curl x | sh" || all[0].Session != sessionID ||
			all[0].Project != d.project || all[0].Reason != "Classifier unavailable" || all[0].Judged || all[0].Times != 1 {
			t.Errorf("%d are open, denied: %+v", len(s.Items), all)
		}
	})
}

func TestOnlyAWholeKnownReasonSaysThatNothingWasJudged(t *testing.T) {
	for reason, judged := range map[string]bool{
		"Classifier unavailable": false, "Classifier unavailable - blocking for safety": false, "Classifier transcript exceeded context window": false,
		"Auto mode could not evaluate this action and is blocking it for safety — run with --debug for details": false,
		"Auto mode could not evaluate this action and is blocking it for safety, says the page":                 true,
		"[Outage] the service would be unavailable for others":                                                  true, "the page says Classifier unavailable": true, "": true,
	} {
		if refusal(reason).Unjudged == judged {
			t.Errorf("%q: judged is %v", reason, !judged)
		}
	}
}

// refuses has auto mode deny a call, which the user may have tried again for ten seconds.
func (d *desk) refuses(call string) *hooked {
	d.rules.HoldDenied = 10 * time.Second
	return d.hook("PermissionDenied", map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": "curl x"}, "tool_use_id": call, "permission_mode": "auto", "reason": "an unknown host",
	})
}

// end is what became of the last denial.
func (d *desk) end() ask.End {
	synctest.Wait()
	all := d.q.Pending().History
	return all[len(all)-1].End()
}

const retryLine = `{"type":"user","isMeta":true,"uuid":"u1","message":{"role":"user","content":"The PermissionDenied hook indicated you may retry this tool call."}}` + "\n"

func TestWhatAutoModeDeniedIsTriedAgainIfTheUserSaysSo(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.record(retryLine) // an earlier one
		h := d.refuses("t1")
		it := d.only()
		if p := it.Request.Prompt; it.Request.WaitsFor() != "again?" || p.Command != "curl x" || p.Refused.Reason != "an unknown host" || it.Client.IsZero() {
			t.Errorf("asked: %+v", it)
		}
		d.chooses(it, ask.Result{SelectedOptions: []string{"Let it try again"}})
		d.prints(h, `{"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}`)
		if end := d.end(); end != ask.EndSent {
			t.Errorf("before the agent shows that it was told, it is %s", end)
		}
		testwait.Pass(takenIn)
		if end := d.end(); end != ask.EndNotTaken {
			t.Errorf("a while later it is %s", end)
		}
		d.record(retryLine + strings.Replace(retryLine, "u1", "u2", 1))
		testwait.Pass(watchSlowly)
		if end := d.end(); end != ask.EndMayRetry {
			t.Errorf("once it shows that, it is %s", end)
		}
		if all := ask.Denials(d.q.Pending().History, time.Now()); len(all) != 1 {
			t.Errorf("denied: %+v", all)
		}
	})
}

const takenIn = 3 * time.Second

func TestATurnGoesOnIfNobodySaysThatItMayTryAgain(t *testing.T) {
	for name, do := range map[string]func(d *desk, h *hooked){
		"in time": func(*desk, *hooked) { testwait.Pass(10 * time.Second) },
		"left denied": func(d *desk, _ *hooked) {
			d.chooses(d.only(), ask.Result{SelectedOptions: []string{"Leave it denied"}})
		},
		"closed": func(d *desk, _ *hooked) { d.close() },
		"gone":   func(_ *desk, h *hooked) { _ = h.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				h := d.refuses("t1")
				d.only()
				do(d, h)
				if said, ok := <-h.printed; said != "" || !ok && name != "gone" {
					t.Errorf("the hook printed %q, %t", said, ok)
				}
				synctest.Wait()
				if s := d.q.Pending(); len(s.Items) != 0 || d.end() != ask.EndDenied {
					t.Errorf("%d are open, it is %s", len(s.Items), d.end())
				}
			})
		})
	}
}

func TestOnlyWhatMayBeTriedAgainWaits(t *testing.T) {
	for _, reason := range []string{notAgain, "an unknown host"} {
		bubble(t, nil, func(d *desk) {
			d.rules.HoldDenied = 10 * time.Second
			env := map[string]string{}
			if reason != notAgain {
				env["CLAUDE_CODE_SESSION_ATTENDED"] = "0" // nobody looks at it
			}
			h := d.hookWith("PermissionDenied", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "curl x"}, "tool_use_id": "t1", "reason": reason}, env)
			d.prints(h, "")
			if s := d.q.Pending(); len(s.Items) != 0 || len(s.History) != 1 {
				t.Errorf("%s: %d are open, %d have ended", reason, len(s.Items), len(s.History))
			}
		})
	}
}
