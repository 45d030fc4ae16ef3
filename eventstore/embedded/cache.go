package embedded

import (
	"math"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// weighedCache remembers what was used last, up to a number of bytes. Not safe for concurrent use.
type weighedCache[K comparable, V any] struct {
	*simplelru.LRU[K, V]
	weigh func(K, V) int
	bytes int
	most  int
}

// newWeighedCache makes an empty cache. What an entry weighs does not change while it is there.
func newWeighedCache[K comparable, V any](most int, weigh func(K, V) int) *weighedCache[K, V] {
	c := &weighedCache[K, V]{weigh: weigh, most: most}
	lru, err := simplelru.NewLRU[K, V](math.MaxInt, func(key K, value V) { c.bytes -= weigh(key, value) })
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	c.LRU = lru
	return c
}

// put remembers an entry, and forgets those that were not used for longest, as far as there is no room.
func (c *weighedCache[K, V]) put(key K, value V) {
	if before, ok := c.Peek(key); ok {
		c.bytes -= c.weigh(key, before)
	}
	c.Add(key, value)
	for c.bytes += c.weigh(key, value); c.bytes > c.most; {
		c.RemoveOldest()
	}
}
