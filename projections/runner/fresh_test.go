package runner_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// deaf is a log whose feed gets nothing after the start, as over a connection that hangs. Its history can be read.
type deaf struct{ *feedtest.Log }

// Follow implements feed.Log. Only the feed follows all types.
func (d deaf) Follow(ctx context.Context, after uint64, mark eventstore.Mark, types []string) feed.Cursor {
	if types == nil {
		return hangs{}
	}
	return d.Log.Follow(ctx, after, mark, types)
}

// hangs is its cursor.
type hangs struct{}

// Next implements feed.Cursor.
func (hangs) Next(ctx context.Context) (feed.Item, error) {
	<-ctx.Done()
	return feed.Item{}, ctx.Err()
}

// TestFresh_AModelThatTheLogDoesNotReachGrowsOld: one of a quiet log stays new, however the clock moves. One that lacks
// an event is old after half a minute, and so is one whose log cannot be asked.
func TestFresh_AModelThatTheLogDoesNotReachGrowsOld(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		deaf, away bool
		want       string
	}{
		"quiet": {}, "deaf": {deaf: true, want: "behind"}, "away": {away: true, want: "away"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := feedtest.New()
			log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
			var follow feed.Log = log
			if tc.deaf {
				follow = deaf{log}
			}
			m := runner.NewMemory(&till{}, runner.Config{Feed: feedtest.Start(t, follow)})
			if err := m.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.Stop)
			now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
			fresh := runner.NewFresh(m, now, slog.New(slog.DiscardHandler))
			if err := fresh.Check(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if tc.deaf {
				log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
			}
			log.SetAway(tc.away)
			now.Advance(30 * time.Second)
			if err := fresh.Current(t.Context()); err != nil || fresh.Age() != 30*time.Second {
				t.Errorf("after half a minute: %v, %v", err, fresh.Age())
			}
			now.Advance(time.Second)
			err := fresh.Current(t.Context())
			if tc.want == "" && (err != nil || fresh.Age() != 0) {
				t.Errorf("a quiet log: %v, %v", err, fresh.Age())
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), "since 31s ago")) {
				t.Errorf("%v, %v", err, fresh.Age())
			}
		})
	}
}

// TestFresh_AClockThatIsPutBackMakesNoModelNew: a model that gets nothing is old half a minute later, whatever the
// machine's clock was set to meanwhile.
func TestFresh_AClockThatIsPutBackMakesNoModelNew(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	m := runner.NewMemory(&till{}, runner.Config{Feed: feedtest.Start(t, deaf{log})})
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	now := clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	fresh := runner.NewFresh(m, now, slog.New(slog.DiscardHandler))
	if err := fresh.Check(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	now.Set(now.Now().Add(-3 * time.Hour))
	now.Advance(31 * time.Second)
	if err := fresh.Current(t.Context()); err == nil || fresh.Age() != 31*time.Second {
		t.Errorf("a model that lacks an event: %v, age %s", err, fresh.Age())
	}
}

// TestFresh_OnlyAModelThatTheLogDoesNotReachIsStuck: when the log has more at six looks, one after the other, of which
// each waits for the model. A log that is away has told nothing.
func TestFresh_OnlyAModelThatTheLogDoesNotReachIsStuck(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	m := runner.NewMemory(&till{}, runner.Config{Feed: feedtest.Start(t, deaf{log})})
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	fresh := runner.NewFresh(m, now, slog.New(slog.DiscardHandler))
	look := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		fresh.Look(ctx)
		return fresh.Stuck()
	}
	for range 8 {
		if look() {
			t.Fatal("a quiet log")
		}
	}
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	looks := 1
	for !look() && looks < 100 {
		looks++
	}
	if looks < 6 || looks == 100 {
		t.Errorf("stuck after %d looks", looks)
	}
	log.SetAway(true)
	if !look() {
		t.Error("the log is away, and what it had is not there yet")
	}
	other := runner.NewFresh(m, now, slog.New(slog.DiscardHandler))
	for range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		other.Look(ctx)
		cancel()
	}
	if other.Stuck() {
		t.Error("a log that is away")
	}
}

// TestFresh_LooksByItself, also after the clock was moved.
func TestFresh_LooksByItself(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	m, _ := memory(t, log)
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	fresh := runner.NewFresh(m, now, slog.New(slog.DiscardHandler))
	if err := fresh.Check(t.Context(), 0); err == nil {
		t.Error("a model that was never filled is new")
	}
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := fresh.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fresh.Stop)
	now.Advance(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for fresh.Age() >= time.Hour {
		now.Advance(time.Second)
		if !loop.Sleep(ctx, time.Millisecond) {
			t.Fatal("nobody looks")
		}
	}
}
