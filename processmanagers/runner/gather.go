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
	eventBatch = 256                   // events in one transaction at most
	gatherTime = 15 * time.Millisecond // after a batch: a small one costs nearly as much as a large one
)

// linger lets work come together after a batch that shows that there is much. What is alone never waits, nor does what
// comes one after the other, as the events of one instance.
func linger(ctx context.Context, last int) {
	if last > 1 {
		loop.Sleep(ctx, gatherTime)
	}
}

// gatherer lets events of one organization share transactions: one transaction is under way, and the next one takes all
// events that have come meanwhile and just after it. Safe for concurrent use.
type gatherer struct {
	round   *round
	mu      sync.Mutex
	waiting map[id.Organization][]gathered // a key for each organization at work
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
	if g.add(own) {
		g.round.loops.Go("process events", func(ctx context.Context) { g.work(ctx, in.cause.OrgID) })
	}
	select {
	case err := <-own.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// work takes the events of an organization until none waits.
func (g *gatherer) work(ctx context.Context, org id.Organization) {
	for list := g.next(org); len(list) > 0; list = g.next(org) {
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
		linger(ctx, len(list))
	}
}

// add makes an event wait. It reports whether the caller must start the work for the organization.
func (g *gatherer) add(w gathered) (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == nil {
		g.waiting = map[id.Organization][]gathered{}
	}
	org := w.in.cause.OrgID
	list, busy := g.waiting[org]
	g.waiting[org] = append(list, w)
	return !busy
}

// next removes the events that have waited longest, at most eventBatch. Without any the work ends.
func (g *gatherer) next(org id.Organization) []gathered {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.waiting[org]
	n := min(len(list), eventBatch)
	if g.waiting[org] = list[n:]; n == 0 {
		delete(g.waiting, org)
	}
	return list[:n]
}
