// Package diff finds the shortest edit that turns one sequence into another.
package diff

// Step is one element, by its index in the old and in the new sequence; -1 where it
// is not among them.
type Step struct{ Old, New int }

// Steps leads from a to b, what is lost before what is gained. It takes time and room
// for len(a)·len(b) elements.
func Steps[T any](a, b []T, same func(a, b T) bool) []Step {
	common := make([][]int, len(a)+1) // common[i][j]: the most that a[i:] and b[j:] share
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
	var out []Step
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && same(a[i], b[j]):
			out = append(out, Step{i, j})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, Step{i, -1})
			i++
		default:
			out = append(out, Step{-1, j})
			j++
		}
	}
	return out
}
