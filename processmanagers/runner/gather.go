package processrunner

import (
	"context"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// How work is gathered for a transaction or a statement.
const (
	gatherMost = 256                   // events in one transaction at most
	gatherTime = 15 * time.Millisecond // the rest after one: a small one costs nearly as much as a large one
)

// pile is work of many keys that waits for a transaction, and the rest after a transaction, in which more comes
// together. What comes one after the other, as the events of one instance, never rests: a rest ends as soon as all keys
// that were taken before it are here again. Not safe for concurrent use, except for rest.
type pile[T any] struct {
	list []T
	away map[string]struct{} // keys that were taken last and have not come again
	back chan struct{}       // ends the rest
}

// init comes before every use.
func (p *pile[T]) init() { p.back = make(chan struct{}, 1) }

// add makes the work of a key wait.
func (p *pile[T]) add(key string, work T) {
	p.list = append(p.list, work)
	delete(p.away, key)
	if len(p.away) == 0 || len(p.list) >= gatherMost {
		loop.Wake(p.back)
	}
}

// take removes what has waited longest, at most so much.
func (p *pile[T]) take(most int, key func(T) string) []T {
	n := min(len(p.list), most)
	taken := p.list[:n:n]
	if p.list = p.list[n:]; len(p.list) == 0 {
		p.list = nil
	}
	p.away = make(map[string]struct{}, n)
	for _, work := range taken {
		p.away[key(work)] = struct{}{}
	}
	select {
	case <-p.back:
	default:
	}
	if len(p.list) >= gatherMost {
		loop.Wake(p.back)
	}
	return taken
}

// rest lets work come together for the next transaction.
func (p *pile[T]) rest(ctx context.Context) { loop.WaitFor(ctx, p.back, gatherTime) }

// gatherer lets events of one organization share transactions: one transaction is under way, and the next one takes all
// events that have come meanwhile and in the rest after it. Safe for concurrent use.
type gatherer struct {
	round   *round
	mu      sync.Mutex
	waiting map[id.Organization]*pile[gathered] // a key for each organization at work
}

// gathered is an event that waits; the channel has room for its answer.
type gathered struct {
	in   input
	done chan error
}

// take is round.take for an event. The turns of the instances keep two events of one instance from being here at the
// same time.
func (g *gatherer) take(ctx context.Context, in input) error {
	own := gathered{in, make(chan error, 1)}
	if p, first := g.add(own); first {
		g.round.loops.Go("process events", func(ctx context.Context) { g.work(ctx, in.cause.OrgID, p) })
	}
	select {
	case err := <-own.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work takes the events of an organization until none waits.
func (g *gatherer) work(ctx context.Context, org id.Organization, p *pile[gathered]) {
	for list := g.next(org, p); len(list) > 0; list = g.next(org, p) {
		inputs := make([]input, len(list))
		for i, w := range list {
			inputs[i] = w.in
		}
		var errs []error
		err := g.round.inSlot(ctx, org, func() error {
			errs = g.round.takeTogether(ctx, inputs)
			return nil
		})
		for i, w := range list {
			if err == nil {
				w.done <- errs[i]
			} else {
				w.done <- err
			}
		}
		p.rest(ctx)
	}
}

// add makes an event wait with those of its organization. First, the caller must start the work for the organization.
func (g *gatherer) add(w gathered) (p *pile[gathered], first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == nil {
		g.waiting = map[id.Organization]*pile[gathered]{}
	}
	org := w.in.cause.OrgID
	p, busy := g.waiting[org]
	if !busy {
		p = &pile[gathered]{}
		p.init()
		g.waiting[org] = p
	}
	p.add(w.in.key, w)
	return p, !busy
}

// next removes the events that have waited longest. Without any the work ends.
func (g *gatherer) next(org id.Organization, p *pile[gathered]) []gathered {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := p.take(gatherMost, func(w gathered) string { return w.in.key })
	if len(list) == 0 {
		delete(g.waiting, org)
	}
	return list
}
