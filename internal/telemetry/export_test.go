package telemetry

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Death ends the goroutines of recorders at a step, as a kill would: nothing of them runs afterwards.
type Death struct {
	At int // the number of the step, from 1 on

	mu    sync.Mutex
	steps int
	Dead  chan struct{}
	names []string
}

// Await lets the recorder die by d.
func (r *Recorder) Await(d *Death) { r.step = d.step }

// SmallFiles changes after how many bytes the spool begins another file.
func (r *Recorder) SmallFiles(bytes int64) { r.spoolFile = bytes }

// AlwaysSpool lets no group be committed without the spool.
func (r *Recorder) AlwaysSpool() { r.direct = 0 }

// SmallGroups changes how many reports of the spool the next transaction has.
func (r *Recorder) SmallGroups(n int) { r.spoolGroup = n }

// Watch calls step between the steps, and rest instead of giving way to answers.
func (r *Recorder) Watch(step func(name string), rest func(time.Duration)) {
	r.step = step
	r.rest = func(_ context.Context, _ <-chan struct{}, d time.Duration) bool {
		rest(d)
		return true
	}
}

// Hurry changes how long a commit of the spool may take.
func (r *Recorder) Hurry(patience time.Duration) { r.spoolPatience = patience }

// step counts, and ends the goroutine that calls it when its time has come.
func (d *Death) step(name string) {
	d.mu.Lock()
	d.steps++
	d.names = append(d.names, name)
	dead := d.steps >= d.At
	if d.steps == d.At {
		close(d.Dead)
	}
	d.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
}

// Names are the steps that were reached.
func (d *Death) Names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names
}

// Bound changes how many sessions of a router may be open.
func (s *Store) Bound(most int) { s.crowds.most.open = most }

// Counted reports whether it is known how many sessions of a router are open.
func (s *Store) Counted(device id.Device) bool {
	return len(s.crowds.uncounted([]Report{{Device: device}}, time.Time{})) == 0
}

// BoundDay changes how many sessions may begin in a day: of nobody at a router and in an organization, and of a
// subscription that are all kept. Half as many further ones stay as the newest, and half as many as the longest.
func (s *Store) BoundDay(strangersAtRouter, strangersOf, wholeDay int) {
	s.crowds.most = bounds{s.crowds.most.open, strangersAtRouter, strangersOf, wholeDay, wholeDay / 2}
}

// Known is how many sessions and awaited sign-ins of a subscription are known.
func (l *Live) Known(subscription id.Subscription) (sessions, awaited int) {
	at := l.shard(subscription)
	at.mu.Lock()
	defer at.mu.Unlock()
	if known := at.of[subscription]; known != nil {
		return len(known.sessions), len(known.awaited)
	}
	return 0, 0
}

// SmallEnds changes how many sessions end in one transaction without a report.
func (s *Store) SmallEnds(n int) { s.endSize = n }

// WatchRests calls rest instead of waiting, with what ends the wait before its time; nil = nothing does.
func (r *Recorder) WatchRests(rest func(ctx context.Context, more <-chan struct{})) {
	r.rest = func(ctx context.Context, more <-chan struct{}, _ time.Duration) bool {
		rest(ctx, more)
		return ctx.Err() == nil
	}
}
