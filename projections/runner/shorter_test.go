package runner_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// beyond moves the stored checkpoints to positions that the log does not have, as a log that was restored to an older
// state than its readers leaves them.
func (b *bench) beyond(t *testing.T, by int) {
	t.Helper()
	if _, err := b.db.Owner.Exec(t.Context(), `update `+b.db.Namespace.Schema("runner")+
		`.projection_versions set position = position + $1`, by); err != nil {
		t.Fatal(err)
	}
}

// astray reports that a projection has stopped for good.
func astray(s runner.Status) bool {
	return s.State == runner.StateStopped && s.Error != "" && !s.CaughtUp
}

// TestLive_ALogThatEndsBeforeTheCheckpointStopsTheReadModelVisibly: what it shows is not the log, and it would never
// show what the log gets at the positions in between. Also after the log has grown beyond the checkpoint only new
// tables go on.
func TestLive_ALogThatEndsBeforeTheCheckpointStopsTheReadModelVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 3), sold{"router", 3})
	r.Stop()
	b.beyond(t, 1000)

	again := b.start(t, sales{})
	last := b.sell("router", 4)
	until(t, again, "stopped", astray)
	follower := b.open(t, true, sales{})
	if err := follower.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(follower.Stop)
	until(t, follower, "stopped", astray)
	for _, one := range []*runner.Runner{again, follower} {
		if err := one.Views().WaitFor(t.Context(), "sales", last); !errors.Is(err, runner.ErrBehind) {
			t.Errorf("the wait for %d: %v; %s", last, err, describe(one))
		}
	}
	again.Stop()

	last = b.sell("router", 200) // the positions of lost events have others now
	third := b.start(t, sales{})
	until(t, third, "stopped", astray)
	if err := third.Retry(t.Context(), "sales"); err != nil {
		t.Fatal(err)
	}
	if err := third.Views().WaitFor(t.Context(), "sales", last); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("the wait for %d: %v; %s", last, err, describe(third))
	}
	if report, err := third.Verify(t.Context(), "sales"); err != nil || report.Stopped == "" || report.Equal() {
		t.Errorf("%+v, %v", report, err)
	}
	if err := third.Rebuild(t.Context(), "sales", nil); err != nil {
		t.Fatal(err)
	}
	until(t, third, "live", func(s runner.Status) bool { return s.State == runner.StateLive })
	want(t, third, "sales", last, sold{"router", 207})
}

// TestStart_NotesThatTheLogEndedBeforeTheTablesForLaterStarts: also when it was stopped before it filled any.
func TestStart_NotesThatTheLogEndedBeforeTheTablesForLaterStarts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 3), sold{"router", 3})
	r.Stop()
	b.beyond(t, 1000)
	short := b.open(t, true, sales{})
	if err := short.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	short.Stop()
	b.sell("router", 200) // the positions of lost events have others now
	until(t, b.start(t, sales{}), "stopped", astray)
}

// TestFollower_ShowsNothingBeyondTheEndOfTheLog: also while no program that fills the tables has found it yet.
func TestFollower_ShowsNothingBeyondTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	last := b.sell("router", 3)
	want(t, r, "sales", last, sold{"router", 3})
	r.Stop()
	b.beyond(t, 1000)
	follower := b.open(t, true, sales{})
	if err := follower.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(follower.Stop)
	if err := follower.FollowAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := follower.Views().WaitFor(t.Context(), "sales", last); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("the wait for %d: %v", last, err)
	}
	if !astray(follower.Status()[0]) {
		t.Error(describe(follower))
	}
}

// farLog is a log whose link can be lost: then nothing comes, and nobody says where it ends.
type farLog struct {
	*feedtest.Log
	away  atomic.Bool
	asked atomic.Int64
}

// Follow implements feed.Log.
func (l *farLog) Follow(ctx context.Context, after uint64, mark eventstore.Mark, types []string) feed.Cursor {
	return farCursor{l.Log.Follow(ctx, after, mark, types), l}
}

// Head implements feed.Log.
func (l *farLog) Head(ctx context.Context) (uint64, error) {
	if l.away.Load() {
		l.asked.Add(1)
		return 0, context.DeadlineExceeded
	}
	return l.Log.Head(ctx)
}

// farCursor is a cursor of a farLog.
type farCursor struct {
	feed.Cursor
	log *farLog
}

// Next implements feed.Cursor.
func (c farCursor) Next(ctx context.Context) (feed.Item, error) {
	item, err := c.Cursor.Next(ctx)
	if c.log.away.Load() {
		<-ctx.Done()
		return feed.Item{}, ctx.Err()
	}
	return item, err
}

// TestFollower_WithoutItsEventStoreAsksItOnceAndShowsWhatTheDatabaseHas: one question for all read models.
func TestFollower_WithoutItsEventStoreAsksItOnceAndShowsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	all := []runner.Projection{sales{}, sales{name: "more"}, sales{name: "most"}}
	leader := b.start(t, all...)
	far := &farLog{Log: b.log}
	follower := runner.New(runner.Config{Feed: feedtest.Start(t, far), DB: b.db, Clock: b.clock, FollowOnly: true})
	follower.Register(all...)
	far.away.Store(true)
	last := b.sell("router", 3)
	for _, p := range all {
		want(t, leader, p.Name(), last, sold{"router", 3})
	}
	if err := follower.FollowAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range follower.Status() {
		if s.State != runner.StateFollowing || s.Position < last {
			t.Errorf("%+v", s)
		}
	}
	if n := far.asked.Load(); n != 1 {
		t.Errorf("the log was asked %d times", n)
	}
}

// boundedLog is a farLog that notes who would wait for it without end.
type boundedLog struct {
	*farLog
	endless atomic.Int64
}

// Head implements feed.Log.
func (l *boundedLog) Head(ctx context.Context) (uint64, error) {
	if _, bounded := ctx.Deadline(); l.away.Load() && !bounded {
		l.endless.Add(1)
	}
	return l.farLog.Head(ctx)
}

// TestStart_WithoutItsEventStoreAsksItOnceAndNotForLong: other programs that start wait for its lock meanwhile.
func TestStart_WithoutItsEventStoreAsksItOnceAndNotForLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	all := []runner.Projection{sales{}, sales{name: "more"}, sales{name: "most"}}
	leader := b.start(t, all...)
	log := &boundedLog{farLog: &farLog{Log: b.log}}
	second := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: b.db, Clock: b.clock})
	second.Register(all...)
	log.away.Store(true)
	last := b.sell("router", 3)
	for _, p := range all {
		want(t, leader, p.Name(), last, sold{"router", 3})
	}
	if err := second.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked, endless := log.asked.Load(), log.endless.Load(); asked != 1 || endless != 0 {
		t.Errorf("the log was asked %d times, %d without a bound", asked, endless)
	}
}

// TestRebuild_OfAReadModelBeyondTheEndOfTheLogEnds: there is no position of the old tables to come up to.
func TestRebuild_OfAReadModelBeyondTheEndOfTheLogEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	last := b.sell("router", 3)
	want(t, r, "sales", last, sold{"router", 3})
	r.Stop()
	b.beyond(t, 1000)
	alone := b.open(t, false, sales{})
	if err := alone.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := alone.Rebuild(t.Context(), "sales", nil); err != nil {
		t.Fatal(err)
	}
	want(t, b.start(t, sales{}), "sales", last, sold{"router", 3})
}
