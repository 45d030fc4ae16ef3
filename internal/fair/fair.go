// Package fair shares out what is scarce between organizations: turns come one after the other, and one organization
// never holds all of it.
package fair

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Rota gives organizations their turns one after the other, whatever number of items each has waiting. Items of one
// organization keep their order. The zero value is empty. The owner's lock guards it.
type Rota[T any] struct {
	waiting map[id.Organization][]T
	turns   []id.Organization // those with waiting items; the first is next
}

// Add appends an item of an organization.
func (r *Rota[T]) Add(org id.Organization, item T) {
	if r.waiting == nil {
		r.waiting = map[id.Organization][]T{}
	}
	if len(r.waiting[org]) == 0 {
		r.turns = append(r.turns, org)
	}
	r.waiting[org] = append(r.waiting[org], item)
}

// Next removes the item whose turn it is. Organizations that may refuses keep their places. ok is false when no
// organization has an item that may be taken.
func (r *Rota[T]) Next(may func(id.Organization) bool) (org id.Organization, item T, ok bool) {
	for i, org := range r.turns {
		if may != nil && !may(org) {
			continue
		}
		list := r.waiting[org]
		item, list = list[0], list[1:]
		r.turns = append(r.turns[:i], r.turns[i+1:]...)
		if len(list) == 0 {
			delete(r.waiting, org)
		} else {
			r.waiting[org] = list
			r.turns = append(r.turns, org)
		}
		return org, item, true
	}
	return org, item, false
}

// Turn gives the turn to an organization that may allows, as Next does, and leaves its item waiting.
func (r *Rota[T]) Turn(may func(id.Organization) bool) (org id.Organization, ok bool) {
	i := slices.IndexFunc(r.turns, may)
	if i < 0 {
		return org, false
	}
	org = r.turns[i]
	r.turns = append(slices.Delete(r.turns, i, i+1), org)
	return org, true
}

// Return puts items of an organization, which were taken, before those that wait.
func (r *Rota[T]) Return(org id.Organization, items ...T) {
	if len(items) == 0 {
		return
	}
	later := r.waiting[org]
	delete(r.waiting, org)
	if len(later) > 0 {
		r.turns = slices.DeleteFunc(r.turns, func(one id.Organization) bool { return one == org })
	}
	for _, item := range slices.Concat(items, later) {
		r.Add(org, item)
	}
}

// First is the oldest item of an organization, which the owner may change; nil when none waits.
func (r *Rota[T]) First(org id.Organization) *T {
	list := r.waiting[org]
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// Last is the newest item of an organization, which the owner may change; nil when none waits.
func (r *Rota[T]) Last(org id.Organization) *T {
	list := r.waiting[org]
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// Heads calls look with the oldest item of each organization.
func (r *Rota[T]) Heads(look func(T)) {
	for _, list := range r.waiting {
		look(list[0])
	}
}

// All calls look with each item, which the owner may change.
func (r *Rota[T]) All(look func(*T)) {
	for _, list := range r.waiting {
		for i := range list {
			look(&list[i])
		}
	}
}

// Empty reports whether nothing is waiting.
func (r *Rota[T]) Empty() bool { return len(r.turns) == 0 }

// Share is how much of a capacity one organization may have at the same time, so that its work cannot stop that of all
// others, whatever it waits for.
func Share(capacity int) int { return capacity - capacity/4 }

// ErrFull reports that as many wait for a slot of an organization as may wait.
var ErrFull = errors.New("too many wait for a slot")

// Slots bound the work that is done at the same time. Free slots go to the organizations in turn. Safe for concurrent
// use.
type Slots struct {
	line  int // that wait for one organization; 0 = no limit
	mu    sync.Mutex
	free  int
	most  int // that one organization holds
	held  map[id.Organization]int
	queue Rota[chan struct{}]
}

// NewSlots makes n free slots, for which any number can wait.
func NewSlots(n int) *Slots { return NewBoundedSlots(n, 0) }

// NewBoundedSlots makes n free slots. At most line can wait for one organization; 0 is no limit.
func NewBoundedSlots(n, line int) *Slots {
	return &Slots{line: line, free: n, most: Share(n), held: map[id.Organization]int{}}
}

// Enter waits for a slot. The zero organization is one like the others. The caller must Leave the slot, unless Enter
// failed: with ErrFull at once, or because ctx ended.
func (s *Slots) Enter(ctx context.Context, org id.Organization) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	got := make(chan struct{})
	if !s.join(org, got) {
		return ErrFull
	}
	select {
	case <-got:
		return nil
	case <-ctx.Done():
	}
	go func() { // the slot comes nevertheless, and is given back
		<-got
		s.Leave(org)
	}()
	return ctx.Err()
}

// join adds somebody who waits, unless the line of the organization is full. got is closed with the slot.
func (s *Slots) join(org id.Organization, got chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line > 0 && len(s.queue.waiting[org]) >= s.line {
		return false
	}
	s.queue.Add(org, got)
	s.grant()
	return true
}

// Waiting is the number of those who wait for a slot of an organization.
func (s *Slots) Waiting(org id.Organization) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue.waiting[org])
}

// Leave gives a slot back.
func (s *Slots) Leave(org id.Organization) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if s.held[org]--; s.held[org] == 0 {
		delete(s.held, org)
	}
	s.grant()
}

// grant gives free slots to those whose turn it is. The caller holds the lock.
func (s *Slots) grant() {
	for s.free > 0 {
		org, got, ok := s.queue.Next(func(org id.Organization) bool { return s.held[org] < s.most })
		if !ok {
			return
		}
		s.free--
		s.held[org]++
		close(got)
	}
}
