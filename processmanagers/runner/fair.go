package processrunner

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// fairQueue hands out items by organizations in turn. All waiting items of a key stay with the organization of the
// first of them, so that items of one key keep their order. Safe for concurrent use.
type fairQueue[T any] struct {
	mu    sync.Mutex
	most  int // items of one organization that are handed out and not done
	items fair.Rota[keyed[T]]
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
		most: fair.Share(capacity), homes: map[string]home{}, out: map[id.Organization]int{},
		added: make(chan struct{}, 1),
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
	q.items.Add(h.org, keyed[T]{key, item})
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
	org, next, ok := q.items.Next(func(org id.Organization) bool { return q.out[org] < q.most })
	if !ok {
		return item, nil, false
	}
	q.out[org]++
	if h := q.homes[next.key]; h.count > 1 {
		q.homes[next.key] = home{h.org, h.count - 1}
	} else {
		delete(q.homes, next.key)
	}
	if !q.items.Empty() {
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
