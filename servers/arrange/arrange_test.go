package arrange

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type row struct{ key, place int }

func byKey(a, b row) int { return a.key - b.key }

// 300 elements are more than are sorted by insertion, which is stable by itself.
func TestTheOrderIsThatOfSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 12, 300} {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{key: r.IntN(20), place: i}
		}
		want, got := slices.Clone(rows), slices.Clone(rows)
		slices.SortStableFunc(want, byKey)
		Stable(got, byKey)
		if !slices.Equal(got, want) {
			t.Errorf("%d elements, stable: %v", n, got)
		}
		got = slices.Clone(rows)
		By(got, byKey)
		if !slices.IsSortedFunc(got, byKey) || len(got) != n {
			t.Errorf("%d elements: %v", n, got)
		}
	}
}
