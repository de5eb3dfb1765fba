// Package diff finds the shortest edit that turns one sequence into another.
package diff

// Step is one element, by its index in the old and in the new sequence; -1 where it
// is not among them.
type Step struct{ Old, New int }

// mostPairs bounds the elements that are compared, each of one sequence with each of the other.
const mostPairs = 4 << 20

// Steps leads from a to b, what is lost before what is gained. It takes time and room for
// each pair of elements between the first and the last that differ. Where these are too many
// to compare, all between is lost and gained.
func Steps[T any](a, b []T, same func(a, b T) bool) []Step {
	var out []Step
	for i := 0; i < min(len(a), len(b)) && same(a[i], b[i]); i++ {
		out = append(out, Step{i, i})
	}
	i := len(out)
	j, endA, endB := i, len(a), len(b)
	for endA > i && endB > j && same(a[endA-1], b[endB-1]) {
		endA, endB = endA-1, endB-1
	}
	vast := (endA-i)*(endB-j) > mostPairs
	var common [][]int // common[x][y]: the most that a[i+x:endA] and b[j+y:endB] share
	if !vast {
		common = shared(a[i:endA], b[j:endB], same)
	}
	for head := i; i < len(a) || j < len(b); {
		switch {
		case i >= endA && j >= endB, !vast && i < endA && j < endB && same(a[i], b[j]):
			out = append(out, Step{i, j})
			i, j = i+1, j+1
		case j == endB, i < endA && (vast || common[i+1-head][j-head] >= common[i-head][j+1-head]):
			out = append(out, Step{i, -1})
			i++
		default:
			out = append(out, Step{-1, j})
			j++
		}
	}
	return out
}

// shared tells how many elements the ends of two sequences have in common.
func shared[T any](a, b []T, same func(a, b T) bool) [][]int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(a[i], b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}
