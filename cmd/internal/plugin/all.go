package plugin

// All are the servers, in the order in which they are listed.
func All() []Plugin {
	return []Plugin{
		pencilPlugin(),
		askPlugin(),
		pixelsrcPlugin(),
		logicstampPlugin(),
		clippyPlugin(),
	}
}
