package processrunner

import "sync"

// crew counts the workers of an outbox. There is always one that waits, up to the most: a process that has little to do
// has few workers, since each costs memory, and a program has dozens of processes. Safe for concurrent use.
type crew struct {
	mu    sync.Mutex
	most  int
	hired int // workers that have been started; they never end before the round
	idle  int // of them, those that wait for work
}

// hires notes that a worker has found work, and reports whether another one is to be started, since none is left that
// waits.
func (c *crew) hires() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle--; c.idle > 0 || c.hired >= c.most {
		return false
	}
	c.hired++
	c.idle++
	return true
}

// waits notes that a worker waits for work again.
func (c *crew) waits() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle++
}
