package processrunner

import (
	"context"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// How long the first event of a brief instance waits for the next one, and how often those that wait are looked at:
// whether their time is over, or they are settled (Config.Settled).
const (
	briefTime  = time.Second
	briefRound = briefTime / 4
)

// briefs are the first events of brief instances (processmanagers.Brief), each until the next event of its instance.
// The two are forgotten when nothing is left to be done after them, as after most of a billing run's, and so is one
// that is settled: a row, a timer, and the end of both are not written then. They are in the log, and the checkpoint
// waits for them: a program that begins anew reads them again. Safe for concurrent use.
type briefs struct {
	mu    sync.Mutex
	first map[string]*delivery // by key
	order []waitingBrief       // in the order in which they came, also those that are gone
	came  chan struct{}        // wakes who looks after them
}

// waitingBrief is an event that waits.
type waitingBrief struct {
	v     *delivery
	until time.Time // of the steady clock
}

// newBriefs makes an empty set.
func newBriefs() *briefs {
	return &briefs{first: map[string]*delivery{}, came: make(chan struct{}, 1)}
}

// admit queues an event for its instance. The first one of a brief instance waits; so it does not in what was read
// before a round began, of which a part may have been taken by an earlier one.
func (s *source) admit(v *delivery) {
	b := s.briefs
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.first[v.key]
	delete(b.first, v.key)
	switch {
	case first != nil && s.nothingLeft(first.event, v.event):
		s.forget(first)
		s.forget(v)
	case first != nil:
		s.push(first)
		s.push(v)
	case v.event.Position > s.caughtUp && s.def.Brief(*v.event):
		b.first[v.key] = v
		b.order = append(b.order, waitingBrief{v, steady.Now().Add(briefTime)})
		loop.Wake(b.came)
	default:
		s.push(v)
	}
}

// forget is the end of an event that leaves nothing to be done.
func (s *source) forget(v *delivery) {
	s.track.finish(v.mark)
	s.hold.give(v.cost)
}

// nothingLeft reports whether the second event of an instance ends it, and neither of them asks for more than timers.
func (d *round) nothingLeft(first, second *events.Envelope) bool {
	now := d.r.cfg.Clock.Now()
	begun, err := d.step(&processmanagers.Stored{}, processmanagers.Input{Event: first}, now)
	if err != nil || begun.Ended || begun.Output.Acts() {
		return false // also an error shows again when the event is taken
	}
	over, err := d.step(&processmanagers.Stored{JSON: begun.State}, processmanagers.Input{Event: second}, now)
	return err == nil && over.Ended && !over.Output.Acts()
}

// takeBriefs ends the waiting of events, until ctx ends.
func (s *source) takeBriefs(ctx context.Context) {
	for ctx.Err() == nil {
		if s.queueBriefs(steady.Now()) {
			loop.Sleep(ctx, briefRound)
		} else {
			loop.Wait(ctx, s.briefs.came)
		}
	}
}

// queueBriefs forgets those that are settled, queues the others whose time is over, and reports whether others wait.
func (s *source) queueBriefs(now time.Time) (others bool) {
	b := s.briefs
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.order[:0]
	for _, w := range b.order {
		switch {
		case b.first[w.v.key] != w.v: // it waits no more
			continue
		case s.settled(*w.v.event):
			s.forget(w.v)
		case now.Before(w.until):
			waiting = append(waiting, w)
			continue
		default:
			s.push(w.v)
		}
		delete(b.first, w.v.key)
	}
	clear(b.order[len(waiting):])
	b.order = waiting
	return len(waiting) > 0
}

// settled asks whether nothing is left to be done after an event.
func (s *source) settled(e events.Envelope) bool { return s.r.cfg.Settled != nil && s.r.cfg.Settled(e) }
