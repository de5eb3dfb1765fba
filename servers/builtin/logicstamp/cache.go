package logicstamp

import (
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

// maxContexts is how many read contexts stay in memory: the two sides of a
// comparison.
const maxContexts = 2

// contextCache keeps the contexts used last, by their folder.
type contextCache struct {
	mu   sync.Mutex
	list []cached
}

type cached struct {
	dir string
	c   *contract.Context
}

func (cc *contextCache) get(dir string) *contract.Context {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	for i, one := range cc.list {
		if one.dir == dir {
			cc.list = append(slices.Delete(cc.list, i, i+1), one)
			return one.c
		}
	}
	return nil
}

func (cc *contextCache) put(dir string, c *contract.Context) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	cc.list = slices.DeleteFunc(cc.list, func(one cached) bool { return one.dir == dir })
	cc.list = append(cc.list, cached{dir, c})
	if len(cc.list) > maxContexts {
		cc.list = slices.Delete(cc.list, 0, len(cc.list)-maxContexts)
	}
}
