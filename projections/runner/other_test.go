package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// replace restores the log to its first events and appends others, so that it ends beyond what it had.
func (b *bench) replace(keep, n int) (position uint64) {
	list := make([]events.Event, n)
	for i := range list {
		list[i] = sold{"router", 1}
	}
	return b.log.Replace(keep, events.Metadata{OrgID: orgA}, list...)
}

// TestLive_AnotherLogAtTheStartStopsTheReadModelVisibly: the log was restored to an older state and has grown beyond
// the checkpoint before anybody looked. Only new tables go on.
func TestLive_AnotherLogAtTheStartStopsTheReadModelVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	read := b.sell("router", 5)
	want(t, r, "sales", read, sold{"router", 5})
	r.Stop()
	had := b.log.Events()[4].ID
	last := b.replace(3, 20)

	follower := b.open(t, true, sales{})
	if err := follower.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(follower.Stop)
	again := b.start(t, sales{})
	for _, one := range []*runner.Runner{again, follower} {
		s := until(t, one, "stopped", astray)
		for _, part := range []string{
			"read model sales", fmt.Sprintf("position %d", read), had.String(), b.log.Events()[4].ID.String(),
			"projections rebuild sales",
		} {
			if !strings.Contains(s.Error, part) {
				t.Errorf("%q does not name %s", s.Error, part)
			}
		}
		if err := one.Views().WaitFor(t.Context(), "sales", read); !errors.Is(err, runner.ErrBehind) {
			t.Errorf("the wait for %d: %v; %s", read, err, describe(one))
		}
	}
	if err := again.Retry(t.Context(), "sales"); err != nil {
		t.Fatal(err)
	}
	if err := again.Views().WaitFor(t.Context(), "sales", last); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("the wait for %d: %v; %s", last, err, describe(again))
	}
	list, err := again.List(t.Context())
	if err != nil || !astray(list[0]) {
		t.Errorf("%+v, %v", list, err)
	}
	if report, err := again.Verify(t.Context(), "sales"); err != nil || report.Stopped == "" || report.Equal() {
		t.Errorf("%+v, %v", report, err)
	}
	if err := again.Rebuild(t.Context(), "sales", nil); err != nil {
		t.Fatal(err)
	}
	until(t, again, "live", func(s runner.Status) bool { return s.State == runner.StateLive })
	want(t, again, "sales", last, sold{"router", 23})
}

// TestLive_AnotherLogWhileItRunsStopsTheReadModelVisibly: nothing of the other log is applied.
func TestLive_AnotherLogWhileItRunsStopsTheReadModelVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 5), sold{"router", 5})
	last := b.replace(3, 20)
	until(t, r, "stopped", func(s runner.Status) bool { return s.State == runner.StateStopped && s.Error != "" })
	if err := r.Views().WaitFor(t.Context(), "sales", 10); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("it is said to show a position: %v", err)
	}
	if got := count(t, r, "sales", orgA, "router"); got != 5 {
		t.Errorf("it shows %d", got)
	}
	r.Stop()
	again := b.start(t, sales{})
	until(t, again, "stopped", astray)
	if err := again.Views().WaitFor(t.Context(), "sales", last); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("the wait for %d: %v; %s", last, err, describe(again))
	}
}

// TestLive_TheSameLogAgainGoesOn: also with events that the projection does not want at its checkpoint, and where the
// log was restored to a time after it.
func TestLive_TheSameLogAgainGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	b.sell("router", 5)
	want(t, r, "sales", b.log.Append(events.Metadata{OrgID: orgA}, noise{}, noise{}), sold{"router", 5})
	r.Stop()
	b.log.Append(events.Metadata{OrgID: orgA}, noise{})
	last := b.replace(7, 4)
	again := b.start(t, sales{})
	want(t, again, "sales", last, sold{"router", 9})
	again.Stop()
	b.log.Replace(9, events.Metadata{OrgID: orgA}, noise{}, noise{}, noise{})
	until(t, b.start(t, sales{}), "stopped", astray)
}

// TestRebuild_AnUnfinishedOneOfAnotherLogBeginsAnew: what was filled is not of this log.
func TestRebuild_AnUnfinishedOneOfAnotherLogBeginsAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 5), sold{"router", 5})
	r.Stop()
	if _, err := b.db.Owner.Exec(t.Context(), `update `+b.db.Namespace.Schema("runner")+
		`.projection_versions set state = 'building'`); err != nil {
		t.Fatal(err)
	}
	last := b.replace(3, 20)
	want(t, b.start(t, sales{}), "sales", last, sold{"router", 23})
}

// countedLog counts how often it is asked for the event at a position.
type countedLog struct {
	*feedtest.Log

	asked atomic.Int64
}

// EventAt asks the log, and counts that.
func (l *countedLog) EventAt(ctx context.Context, position uint64) (id.Event, error) {
	l.asked.Add(1)
	return l.Log.EventAt(ctx, position)
}

// TestLive_APageAsksTheLogForNothing: many read models take each event, most of them in a page of its own.
func TestLive_APageAsksTheLogForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	log := &countedLog{Log: b.log}
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: b.db, Clock: b.clock})
	r.Register(sales{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	want(t, r, "sales", b.sell("router", 1), sold{"router", 1})
	before := log.asked.Load()
	for n := range 20 {
		want(t, r, "sales", b.sell("router", 1), sold{"router", n + 2})
	}
	if n := log.asked.Load() - before; n > 3 { // a look of the feed that is due may be among them
		t.Errorf("the log was asked %d times in 20 pages", n)
	}
}
