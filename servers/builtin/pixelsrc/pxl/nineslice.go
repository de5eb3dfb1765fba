package pxl

import "fmt"

// nineSlice stretches the middle of a picture to w by h; the borders keep their width.
func nineSlice(b *bitmap, n *NineSlice, w, h int) (*bitmap, error) {
	if n == nil {
		return nil, fmt.Errorf("it has no nine_slice; add left, right, top and bottom")
	}
	if n.Left+n.Right > b.w || n.Top+n.Bottom > b.h {
		return nil, fmt.Errorf("its borders are wider than its %d×%d pixels", b.w, b.h)
	}
	if w < n.Left+n.Right || h < n.Top+n.Bottom {
		return nil, fmt.Errorf("%d×%d is smaller than its borders of %d×%d", w, h, n.Left+n.Right, n.Top+n.Bottom)
	}
	if err := fits(w, h); err != nil {
		return nil, err
	}
	axis := func(size, lead, tail, target int) []int {
		middle, room := size-lead-tail, target-lead-tail
		return span(target, func(i int) int {
			switch {
			case i < lead:
				return i
			case i >= target-tail:
				return size - (target - i)
			case middle == 0:
				return -1
			}
			return lead + (i-lead)*middle/room
		})
	}
	return b.axes(axis(b.w, n.Left, n.Right, w), axis(b.h, n.Top, n.Bottom, h)), nil
}
