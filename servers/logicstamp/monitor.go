package logicstamp

type monitor struct{}
