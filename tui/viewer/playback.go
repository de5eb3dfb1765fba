package viewer

import "time"

// clock says which frame is due. It reckons from when playback began, so that late
// frames are dropped and no delay adds up.
type clock struct {
	playing bool
	began   time.Time     // when the position was start
	start   time.Duration // position at began
	speed   float64       // 0 counts as 1
	loop    Loop
}

// speeds are the steps of playback.
func speeds() []float64 { return []float64{0.25, 0.5, 1, 2, 4} }

func (c *clock) rate() float64 {
	if c.speed == 0 {
		return 1
	}
	return c.speed
}

// position is how far playback has come, in time of the animation, without end.
func (c *clock) position(now time.Time) time.Duration {
	if !c.playing || c.began.IsZero() {
		return c.start
	}
	return c.start + time.Duration(float64(now.Sub(c.began))*c.rate())
}

// at finds the frame that is due and how long it still is. 0 means for good.
func (c *clock) at(now time.Time, frames []Frame) (index int, left time.Duration) {
	total := length(frames)
	if len(frames) < 2 || total <= 0 {
		return 0, 0
	}
	pos := c.position(now)
	order := len(frames)
	switch c.loop {
	case Once:
		if pos >= total {
			return len(frames) - 1, 0
		}
	case PingPong:
		// There and back, without the two ends twice.
		back := total - frames[0].Duration - frames[len(frames)-1].Duration
		pos %= total + max(back, 0)
		order = 2*len(frames) - 2
	default:
		pos %= total
	}
	for i := range order {
		index = i
		if i >= len(frames) {
			index = 2*len(frames) - 2 - i
		}
		if d := frames[index].Duration; pos < d {
			if !c.playing {
				return index, 0
			}
			return index, max(time.Duration(float64(d-pos)/c.rate()), time.Millisecond)
		}
		pos -= frames[index].Duration
	}
	return index, time.Millisecond
}

// seek goes to the beginning of a frame.
func (c *clock) seek(index int, frames []Frame, now time.Time) {
	c.start, c.began = length(frames[:index]), now
}

// set plays or stops at now.
func (c *clock) set(playing bool, now time.Time) {
	c.start, c.began, c.playing = c.position(now), now, playing
}

func length(frames []Frame) time.Duration {
	var d time.Duration
	for _, f := range frames {
		d += f.Duration
	}
	return d
}
