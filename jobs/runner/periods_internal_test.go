package jobrunner

import (
	"context"
	"testing"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
)

// TestInsertInPeriod_OnceInAPeriodAndAgainInOneThatComesAgain; what was not asked for in a month is forgotten.
func TestInsertInPeriod_OnceInAPeriodAndAgainInOneThatComesAgain(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := New(Config{DB: db, InsertOnly: true})
	AddWorker(r, func(context.Context, errand, jobs.Cause) error { return nil }, Options{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, one := range []struct {
		name string
		hour time.Duration
		jobs int // so far
	}{{"a", 0, 1}, {"a", 0, 1}, {"b", 0, 2}, {"a", 1, 3}, {"a", 0, 4}, {"b", 0, 4}} {
		hour := noon.Add(one.hour * time.Hour)
		if err := r.InsertInPeriod(t.Context(), errand{}, one.name, hour, jobs.Cause{}); err != nil {
			t.Fatal(err)
		}
		if n := count(t, r, "river_job"); n != one.jobs {
			t.Errorf("after %+v %d jobs", one, n)
		}
	}
	if _, err := db.Owner.Exec(t.Context(), r.sql(
		`update {schema}.periods set noted_at = now() - interval '31 days' where name = 'a'`)); err != nil {
		t.Fatal(err)
	}
	if _, err := (turnsExecutor{riverpgxv5.New(db.Owner).GetExecutor(), r}).JobDeleteBefore(t.Context(),
		&riverdriver.JobDeleteBeforeParams{Max: 10, Schema: r.schema()}); err != nil {
		t.Fatal(err)
	}
	if n := count(t, r, "periods"); n != 1 {
		t.Errorf("%d periods are remembered", n)
	}
}

// count gives the number of rows of a table of the queue.
func count(t *testing.T, r *Runner, table string) (n int) {
	t.Helper()
	if err := r.cfg.DB.Owner.QueryRow(t.Context(), r.sql("select count(*) from {schema}."+table)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
