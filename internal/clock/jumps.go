package clock

import (
	"slices"
	"sync"
	"time"
)

// leastJump is more than a clock that is being corrected slowly gains or loses between two looks.
const leastJump = 5 * time.Second

// mostJumps is how many jumps are remembered.
const mostJumps = 8

// Jumps notices that a clock jumps: that it moves by another time than has gone by. Safe for concurrent use.
type Jumps struct {
	clock Clock

	mu     sync.Mutex
	seen   time.Time // what the clock said at the last look
	steady time.Time // when that was, by the machine's count, which never jumps
	list   []time.Duration
}

// NewJumps watches a clock from now on. Jumps are noticed by Look alone.
func NewJumps(c Clock) *Jumps { return &Jumps{clock: c, seen: c.Now(), steady: time.Now()} }

// Look compares the clock with the time that has gone by since the last look.
func (j *Jumps) Look() {
	j.mu.Lock()
	defer j.mu.Unlock()
	seen, steady := j.clock.Now(), time.Now()
	jump := seen.Round(0).Sub(j.seen.Round(0)) - steady.Sub(j.steady)
	j.seen, j.steady = seen, steady
	if jump.Abs() < leastJump {
		return
	}
	if j.list = append(j.list, jump); len(j.list) > mostJumps {
		j.list = slices.Clone(j.list[1:])
	}
}

// Sums are by how much the clock can differ from what it would be without jumps, as seen from an earlier instant: by
// the latest jump, by the latest two together, and so on. Empty = there was none.
func (j *Jumps) Sums() []time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	var sums []time.Duration
	var sum time.Duration
	for _, jump := range slices.Backward(j.list) {
		sum += jump
		sums = append(sums, sum)
	}
	return sums
}
