package jobrunner_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// TestDiscarded_ReportsThatAlwaysFailDoNotHoldUpTheOthers: more of them than fit into one page, and older ones.
func TestDiscarded_ReportsThatAlwaysFailDoNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	const hopeless = 120
	d := newDesk(func(context.Context, attempt) error { return jobrunner.GiveUp(errors.New("hopeless")) })
	reported := make(chan int, 1)
	q := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Workers: 4})
	jobrunner.AddWorker(q, d.work, fast)
	jobrunner.OnDiscarded(q, func(_ context.Context, args call, _ jobs.Cause, _ string) error {
		if args.Number < hopeless {
			return errors.New("the program has a mistake")
		}
		reported <- args.Number
		return nil
	})
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	for n := range hopeless + 1 {
		if err := q.Insert(t.Context(), call{n}, jobNamed("call", fmt.Sprint(n)), cause, 0); err != nil {
			t.Fatal(err)
		}
	}
	<-reported
}
