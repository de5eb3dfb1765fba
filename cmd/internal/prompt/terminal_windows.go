package prompt

const (
	terminalIn  = "CONIN$"
	terminalOut = "CONOUT$"
)
