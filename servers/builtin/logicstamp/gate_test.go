package logicstamp

import (
	"testing"
	"testing/synctest"
)

// TestAnAnalysisInTheBackgroundIsBehindAllOthers has it wait for a project's turn
// before somebody else does.
func TestAnAnalysisInTheBackgroundIsBehindAllOthers(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g, order := newGate(), make(chan string, 3)
		first, err := g.enter(t.Context(), "p")
		must(err)
		go func() {
			bound, leave, err := g.enterBackground(t.Context(), "p")
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			order <- "background"
			<-bound.Done()
			order <- "gives way"
		}()
		synctest.Wait()
		second := make(chan func(), 1)
		go func() {
			leave, err := g.enter(t.Context(), "p")
			if err != nil {
				t.Error(err)
			}
			order <- "second"
			second <- leave
		}()
		synctest.Wait()
		first()
		synctest.Wait()
		if got := <-order; got != "second" {
			t.Errorf("%s has the turn", got)
		}
		(<-second)()
		synctest.Wait()
		if got := <-order; got != "background" {
			t.Errorf("then %s has the turn", got)
		}
		third, err := g.enter(t.Context(), "p")
		must(err)
		third()
		if got := <-order; got != "gives way" {
			t.Errorf("the background: %s", got)
		}
	})
}
