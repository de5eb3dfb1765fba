package compare_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
)

// counted is a context that ends when it has been asked so often.
type counted struct {
	context.Context
	asked, ends atomic.Int64
}

func (c *counted) Err() error {
	if n := c.asked.Add(1); c.ends.Load() > 0 && n > c.ends.Load() {
		return context.Canceled
	}
	return nil
}

func TestAComparisonEndsInTheMiddleWhenItsContextDoes(t *testing.T) {
	parts := func(prefix string) world {
		w := world{map[string]map[string]any{}, map[string][]string{}, map[string]string{}, 2}
		for i := range 60 {
			id := fmt.Sprintf("%s%d.tsx", prefix, i)
			w.parts[id] = map[string]any{"props": map[string]any{"x": "number"}, "imports": []string{}, "functions": []string{id}, "exports": any("default"), "seed": i}
			w.texts[id] = id
		}
		return w
	}
	base, cur := parts("a").context(t, nil, "t"), parts("b").context(t, nil, "t")
	ctx := &counted{Context: t.Context()}
	if r := compare.Compare(base, cur, compare.Options{Context: ctx}); r.Summary.TotalFolders == 0 {
		t.Fatal("nothing was compared")
	}
	whole := ctx.asked.Load()
	if whole < 100 {
		t.Errorf("the context was asked %d times in all", whole)
	}
	ctx.ends.Store(whole + whole/2)
	compare.Compare(base, cur, compare.Options{Context: ctx})
	if more := ctx.asked.Load() - ctx.ends.Load(); more > 5 {
		t.Errorf("it went on for %d of %d looks", more, whole)
	}
}
