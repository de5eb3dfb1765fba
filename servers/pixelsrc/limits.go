package pixelsrc

// maxSource is the largest source in bytes.
const maxSource = 1 << 20
