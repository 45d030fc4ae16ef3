package jobrunner_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// TestWake_JobsThatWaitRunAndThoseThatNeverRanDoNot: nor do those of another organization.
func TestWake_JobsThatWaitRunAndThoseThatNeverRanDoNot(t *testing.T) {
	t.Parallel()
	var free atomic.Bool
	d := newDesk(func(context.Context, attempt) error {
		if free.Load() {
			return nil
		}
		return jobrunner.Snooze(time.Hour)
	})
	db, other := pgtest.New(t), cause
	other.OrgID = id.New[id.Organization]()
	r := startAt(t, db, clock.NewManual(noon), d, fast)
	enqueue(t, r, 1, 0)
	d.next(t)
	if err := r.Insert(t.Context(), call{2}, id.New[id.Any](), other, 0); err != nil {
		t.Fatal(err)
	}
	d.next(t)
	enqueue(t, r, 3, 10*time.Minute)
	for _, number := range []string{"1", "2"} {
		eventually(t, db, `state = 'scheduled' and attempted_at is not null
			and args #>> '{args,Number}' = '`+number+`'`)
	}
	free.Store(true)
	if err := jobrunner.Wake[call](t.Context(), r, cause.OrgID); err != nil {
		t.Fatal(err)
	}
	if got := d.next(t).Args.Number; got != 1 {
		t.Errorf("job %d runs", got)
	}
	enqueue(t, r, 4, 0)
	if got := d.next(t).Args.Number; got != 4 {
		t.Errorf("job %d runs, too", got)
	}
}
