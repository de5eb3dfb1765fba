package router

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// leaving is a server that writes down when it is told to end, and how much
// time it has then.
type leaving struct {
	module
	began         time.Time
	told, stopped time.Duration
	left          time.Duration
	expired       bool
	stuck         chan struct{} // it ends when this is closed; nil: at once
	quit          func()
}

func (m *leaving) Stop(ctx context.Context) error {
	m.stopped = time.Since(m.began)
	end, _ := ctx.Deadline()
	m.left, m.expired = time.Until(end), ctx.Err() != nil
	if m.stuck != nil {
		<-m.stuck
	}
	return nil
}

// hasty wants to hear of the end before the calls in flight are waited for.
type hasty struct{ leaving }

func (m *hasty) Quit() {
	m.told = time.Since(m.began)
	m.quit()
}

// TestQuittingWithAStuckCall holds what a call that never ends costs: nothing,
// where its server can end it; else the time that servers need to end in good
// order is kept for them, within the two seconds in all.
func TestQuittingWithAStuckCall(t *testing.T) {
	stop := func(t *testing.T, tool string) (child *hasty, other *leaving, took time.Duration, err error) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			freed := make(chan struct{})
			child = &hasty{leaving{module: module{name: "child", tools: []string{"of_child"}}, began: time.Now()}}
			child.quit = func() {
				time.AfterFunc(300*time.Millisecond, func() { close(freed) }) // the child is killed
			}
			child.handler = func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				<-freed
				return nil, errors.New("it stopped")
			}
			never := make(chan struct{})
			other = &leaving{module: module{name: "other", tools: []string{"of_other"}}, began: time.Now()}
			other.handler = func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				<-never
				return mcp.NewToolResultText("late"), nil
			}
			h, newErr := New(Options{Servers: []backend.Server{child, other}})
			if newErr != nil {
				t.Fatal(newErr)
			}
			h.Start()
			a := h.Connect(snapshot.Caller{}, nil)
			done := make(chan struct{})
			go func() {
				defer close(done)
				callTool(h, a, tool, `{}`)
			}()
			synctest.Wait()
			began := time.Now()
			child.began, other.began = began, began
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err = h.Stop(ctx)
			took = time.Since(began)
			close(never)
			<-done
			a.Close()
		})
		return child, other, took, err
	}
	t.Run("of a child", func(t *testing.T) {
		child, _, took, err := stop(t, "of_child")
		if err != nil || child.told != 0 || took != 300*time.Millisecond {
			t.Errorf("told after %v, over after %v, %v", child.told, took, err)
		}
	})
	t.Run("that nothing ends", func(t *testing.T) {
		_, other, took, err := stop(t, "of_other")
		if err != nil || other.expired || other.left < 500*time.Millisecond || took > 2*time.Second {
			t.Errorf("asked to stop after %v with %v left (expired: %v), over after %v, %v", other.stopped, other.left, other.expired, took, err)
		}
	})
}

// TestAModuleThatDoesNotEndHoldsUpNoOther holds that servers end side by side.
func TestAModuleThatDoesNotEndHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, never := time.Now(), make(chan struct{})
		defer close(never)
		good := &leaving{module: module{name: "good"}, began: began}
		slow := &leaving{module: module{name: "slow"}, began: began, stuck: never}
		h, err := New(Options{Servers: []backend.Server{good, slow}})
		if err != nil {
			t.Fatal(err)
		}
		h.Start()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err = h.Stop(ctx)
		if err == nil || !strings.Contains(err.Error(), "stop slow") || good.left != 2*time.Second {
			t.Errorf("error %v; the other had %v left", err, good.left)
		}
	})
}
