package demo

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui"
)

func TestGoingOnWhileTheAgentsFinishGoesOnOnceTheyHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := ask.New(ask.Options{Hold: -1})
		s := New(Options{Queue: q, Pace: time.Hour})
		start := time.Now()
		sc := scene{say: "It asks.", try: "Press 1.", ready: waiting(1), keys: []string{"1"}, agents: func(ctx context.Context, _ *Show) error {
			_, err := q.Ask(ctx, ask.Request{Questions: []ask.Question{{ID: "q", Question: "May I?", Kind: ask.Text, AllowOther: true, Required: true}}})
			time.Sleep(2 * time.Second) // it goes on with the answer, on the bubble's clock
			return err
		}}
		go func() {
			time.Sleep(time.Minute) // on the bubble's clock
			if err := q.Answer(q.Pending().Items[0].ID, []ask.Result{{ID: "q", CustomInput: "yes"}}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second) // on the bubble's clock
			if msg, ok := s.Feed().Load().(tui.GuideMsg); !ok || !strings.Contains(msg.Try, "u undoes it") {
				t.Errorf("while the answer is sent it says %+v", msg)
			}
			s.Next()
		}()
		if err := s.play(t.Context(), "1/1", sc); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("it went on after %v", took)
		}
		if s.now.Press != "" {
			t.Errorf("it pressed %s where nothing was asked any more", s.now.Press)
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPromptsComeInTheSameOrderEachTimeTheyArePlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Queue: ask.New(ask.Options{Hold: -1})})
		want := []string{"0", "1", "2"}
		for played := range 3 {
			var mu sync.Mutex
			var asked []string
			var all []func(context.Context) error
			for i := range want {
				all = append(all, func(context.Context) error {
					time.Sleep(time.Duration(len(want)-i) * time.Second) // the first takes longest
					call, err := s.o.Queue.Open(ask.Request{
						Questions: []ask.Question{{ID: "q", Question: "May I?", Kind: ask.Text, AllowOther: true, Required: true}},
						Prompt:    &ask.Prompt{Kind: ask.OwnQuestion, ID: strconv.Itoa(10*played + i), Agent: "claude", Session: "s"},
					})
					mu.Lock()
					asked = append(asked, strconv.Itoa(i))
					mu.Unlock()
					if err == nil {
						time.Sleep(time.Minute) // on the bubble's clock
						call.Settled("answered in its terminal")
					}
					return err
				})
			}
			if err := s.inTurn(t.Context(), all...); err != nil || !slices.Equal(asked, want) {
				t.Errorf("time %d: they ask in the order %v, %v", played, asked, err)
			}
		}
		if err := s.o.Queue.Close(); err != nil {
			t.Error(err)
		}
	})
}
