// Package arrange sorts like [slices.SortFunc], but with one algorithm in the program
// instead of a copy of it for each type.
//
// A copy weighs some 10 KB, and most lists here are short. Where sorting is what takes
// the time, [slices.SortFunc] is about twice as fast.
package arrange

import "sort"

// By sorts s by what compare says of two elements, as [slices.SortFunc] does.
func By[T any](s []T, compare func(a, b T) int) {
	sort.Slice(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}

// Stable is By that keeps the order of equal elements.
func Stable[T any](s []T, compare func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}
