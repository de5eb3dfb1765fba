package logicstamp

type searchCache struct{}
