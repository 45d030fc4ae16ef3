package jobrunner

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
)

// TestRescue_OfAProgramThatDiedWhileTheClockWasAhead: its job counts as one that began when the clock was right again.
func TestRescue_OfAProgramThatDiedWhileTheClockWasAhead(t *testing.T) {
	t.Parallel()
	db, c := pgtest.New(t), clock.NewManual(clock.System().Now())
	r := New(Config{DB: db, Clock: c, InsertOnly: true})
	AddWorker(r, func(context.Context, errand, jobs.Cause) error { return nil }, Options{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if err := r.Insert(t.Context(), errand{}, id.New[id.Any](), jobs.Cause{}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Owner.Exec(t.Context(), r.sql(`update {schema}.river_job set
		state = 'running', attempt = 1, attempted_at = $1`), c.Now().Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	stuck := func() int {
		list, err := turnsExecutor{riverpgxv5.New(db.Owner).GetExecutor(), r}.JobGetStuck(t.Context(),
			&riverdriver.JobGetStuckParams{
				Max: 10, Schema: r.schema(), StuckHorizon: clock.System().Now().Add(-rescueAfter),
			})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if stuck() > 0 {
		t.Error("it may be worked still, and is rescued")
	}
	c.Advance(2 * rescueAfter)
	if stuck() != 1 {
		t.Error("it waits until the time that the clock had")
	}
}
