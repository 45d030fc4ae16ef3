package handset

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// entry is work for an instant. Work that is no longer wanted finds that out by itself when it runs.
type entry struct {
	at    time.Time
	order uint64 // of two entries of one instant the earlier one comes first
	do    func()
}

// entries is a heap of work by time, for container/heap.
type entries []entry

func (e entries) Len() int { return len(e) }

// Less puts the earlier instant first.
func (e entries) Less(i, j int) bool {
	if e[i].at.Equal(e[j].at) {
		return e[i].order < e[j].order
	}
	return e[i].at.Before(e[j].at)
}

func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

func (e *entries) Push(x any) { *e = append(*e, x.(entry)) }

// Pop takes the last entry, which container/heap has put there.
func (e *entries) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = entry{}
	*e = (*e)[:last]
	return x
}

// agenda runs work at instants of a clock, one after the other in one goroutine. Safe for concurrent use.
type agenda struct {
	clock clock.Clock
	wake  chan struct{} // signalled when an entry became the first one

	mu      sync.Mutex
	entries entries
	order   uint64
}

// newAgenda makes an empty agenda, which does its work during run.
func newAgenda(c clock.Clock) *agenda { return &agenda{clock: c, wake: make(chan struct{}, 1)} }

// at adds work for an instant; it must not block.
func (a *agenda) at(at time.Time, do func()) {
	a.mu.Lock()
	a.order++
	mine := a.order
	heap.Push(&a.entries, entry{at: at, order: mine, do: do})
	first := a.entries[0].order == mine
	a.mu.Unlock()
	if first {
		loop.Wake(a.wake)
	}
}

// next takes the first entry when it is due. Otherwise it gives the instant to wait for, which is far away for an empty
// agenda.
func (a *agenda) next() (do func(), wait time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if len(a.entries) == 0 {
		return nil, now.Add(time.Hour)
	}
	if first := a.entries[0]; first.at.After(now) {
		return nil, first.at
	}
	return heap.Pop(&a.entries).(entry).do, now
}

// run does the work until ctx ends.
func (a *agenda) run(ctx context.Context) {
	for ctx.Err() == nil {
		do, wait := a.next()
		if do == nil {
			loop.WaitUntil(ctx, a.wake, a.clock, wait)
			continue
		}
		do()
	}
}
