package pxl

// Animation is a list of frames, a set of keyframes, or a sprite whose colours cycle.
type Animation struct {
	Name        string
	Frames      []FrameRef
	Keyframes   []Keyframe
	Sprite      string // documented: what cycles
	Source      string
	Transform   []Op
	Duration    int // milliseconds; 0 when not given
	FPS         float64
	Timing      string
	Loop        bool
	Cycles      []Cycle
	Tags        []TagRange
	FrameMeta   [][]BoxMeta
	Attachments []Attachment
	Unknown     []string // effects of whole frames that have no definition
	pos         int32
	timingPos   int32
}

// FrameRef names the picture of one frame; Duration is 0 when the animation's holds.
type FrameRef struct {
	Name     string
	Duration int
	Pos      int32
}

// Keyframe is what holds at one point of the time, from 0 to 1.
type Keyframe struct {
	At        float64
	Sprite    string
	Transform string
	Opacity   *float64
	Offset    *[2]int
	Timing    string
	Pos       int32
}

// Cycle rotates the colours of tokens.
type Cycle struct {
	Tokens   []string
	Duration int // milliseconds of one step; 0 when not given
	FPS      float64
	Reverse  bool
}

// TagRange names the frames Start…End, both inclusive.
type TagRange struct {
	Name       string
	Start, End int
	Loop       *bool
	FPS        float64
}

// Attachment is a chain of sprites that hangs on an anchor of the frames.
type Attachment struct {
	Name      string
	Anchor    [2]int
	Chain     []string
	Delay     int
	Follow    string
	ZIndex    int
	Keyframes []AttachKey
	Pos       int32
}

// AttachKey overrides an attachment's offset at one frame.
type AttachKey struct {
	Frame  string
	Offset [2]int
}
