package processrunner

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// rota gives organizations their turns one after the other, whatever number of items each has waiting. Items of one
// organization keep their order. The zero value is empty. The owner's lock guards it.
type rota[T any] struct {
	waiting map[id.Organization][]T
	turns   []id.Organization // those with waiting items; the first is next
}

// add appends an item of an organization.
func (r *rota[T]) add(org id.Organization, item T) {
	if r.waiting == nil {
		r.waiting = map[id.Organization][]T{}
	}
	if len(r.waiting[org]) == 0 {
		r.turns = append(r.turns, org)
	}
	r.waiting[org] = append(r.waiting[org], item)
}

// next removes the item whose turn it is. Organizations that may refuses keep their places. ok is false when no
// organization has an item that may be taken.
func (r *rota[T]) next(may func(id.Organization) bool) (org id.Organization, item T, ok bool) {
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

// share is how much of a capacity one organization may have at the same time, so that its work cannot stop that of all
// others, whatever it waits for.
func share(capacity int) int { return capacity - capacity/4 }

// slots bound the work that is done at the same time. Free slots go to the organizations in turn. Safe for concurrent
// use.
type slots struct {
	mu    sync.Mutex
	free  int
	most  int // that one organization holds
	held  map[id.Organization]int
	queue rota[chan struct{}]
}

// newSlots makes n free slots.
func newSlots(n int) *slots { return &slots{free: n, most: share(n), held: map[id.Organization]int{}} }

// enter waits for a slot. The caller must leave it, unless enter failed because ctx ended.
func (s *slots) enter(ctx context.Context, org id.Organization) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	got := make(chan struct{})
	s.mu.Lock()
	s.queue.add(org, got)
	s.grant()
	s.mu.Unlock()
	select {
	case <-got:
		return nil
	case <-ctx.Done():
	}
	go func() { // the slot comes nevertheless, and is given back
		<-got
		s.leave(org)
	}()
	return ctx.Err()
}

// leave gives a slot back.
func (s *slots) leave(org id.Organization) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	if s.held[org]--; s.held[org] == 0 {
		delete(s.held, org)
	}
	s.grant()
}

// grant gives free slots to those whose turn it is. The caller holds the lock.
func (s *slots) grant() {
	for s.free > 0 {
		org, got, ok := s.queue.next(func(org id.Organization) bool { return s.held[org] < s.most })
		if !ok {
			return
		}
		s.free--
		s.held[org]++
		close(got)
	}
}

// fairQueue hands out items by organizations in turn. All waiting items of a key stay with the organization of the
// first of them, so that items of one key keep their order. Safe for concurrent use.
type fairQueue[T any] struct {
	mu    sync.Mutex
	most  int // items of one organization that are handed out and not done
	items rota[keyed[T]]
	homes map[string]home // by key
	out   map[id.Organization]int
	added chan struct{} // wakes one consumer
}

// keyed is an item with its key.
type keyed[T any] struct {
	key  string
	item T
}

// home is the organization with which the waiting items of a key stand, and their number.
type home struct {
	org   id.Organization
	count int
}

// newFairQueue makes an empty queue for as many items at the same time as consumers can have.
func newFairQueue[T any](capacity int) *fairQueue[T] {
	return &fairQueue[T]{
		most: share(capacity), homes: map[string]home{}, out: map[id.Organization]int{}, added: make(chan struct{}, 1),
	}
}

// push adds an item. It never blocks.
func (q *fairQueue[T]) push(org id.Organization, key string, item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	h, ok := q.homes[key]
	if !ok {
		h.org = org
	}
	h.count++
	q.homes[key] = h
	q.items.add(h.org, keyed[T]{key, item})
	loop.Wake(q.added)
}

// pop waits for an item. The consumer calls done when it is finished with it. ok is false when ctx has ended.
func (q *fairQueue[T]) pop(ctx context.Context) (item T, done func(), ok bool) {
	for ctx.Err() == nil {
		if item, done, ok = q.take(); ok {
			return item, done, true
		}
		loop.Wait(ctx, q.added)
	}
	return item, nil, false
}

// take removes the item whose turn it is.
func (q *fairQueue[T]) take() (item T, done func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	org, next, ok := q.items.next(func(org id.Organization) bool { return q.out[org] < q.most })
	if !ok {
		return item, nil, false
	}
	q.out[org]++
	if h := q.homes[next.key]; h.count > 1 {
		q.homes[next.key] = home{h.org, h.count - 1}
	} else {
		delete(q.homes, next.key)
	}
	if len(q.items.turns) > 0 {
		loop.Wake(q.added) // for another consumer
	}
	return next.item, func() { q.done(org) }, true
}

// done makes room for another item of an organization.
func (q *fairQueue[T]) done(org id.Organization) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.out[org]--; q.out[org] == 0 {
		delete(q.out, org)
	}
	loop.Wake(q.added)
}
