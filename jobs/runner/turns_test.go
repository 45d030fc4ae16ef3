package jobrunner_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// burst enqueues many jobs of an organization in one transaction.
func burst(t *testing.T, db *postgres.DB, q *jobrunner.Runner, name string, n int, why jobs.Cause) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), db.Owner, func(tx pgx.Tx) error {
		for i := range n {
			job := visit{router(fmt.Sprint(name, i))}
			if err := q.InsertTx(t.Context(), tx, job, jobNamed(name, fmt.Sprint(i)), why); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// countJobs counts the rows of a queue for which a condition holds.
func countJobs(t *testing.T, db *postgres.DB, condition string) (n int) {
	t.Helper()
	if err := db.Owner.QueryRow(t.Context(), `select count(*) from `+db.Namespace.Schema("river")+
		`.river_job where `+condition).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBurst_OfOneOrganizationLetsTheJobsOfOthersThroughAndIsNotRewritten: jobs that wait for their turn are not taken
// and put back, which cost a writing for each of them and the time of all that were behind.
func TestBurst_OfOneOrganizationLetsTheJobsOfOthersThroughAndIsNotRewritten(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	hanging, began, met := make(chan struct{}), make(chan struct{}, 4), make(chan id.Device, 3)
	q := jobrunner.New(jobrunner.Config{DB: db, Workers: 4})
	jobrunner.AddWorker(q, func(ctx context.Context, v visit, c jobs.Cause) error {
		if c.OrgID == otherOrg() {
			met <- v.Router
			return nil
		}
		began <- struct{}{}
		select {
		case <-hanging:
		case <-ctx.Done():
		}
		return ctx.Err()
	}, fast)
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	t.Cleanup(func() { close(hanging) })
	burst(t, db, q, "burst", 1000, cause)
	for range 3 { // three quarters of the places
		<-began
	}
	burst(t, db, q, "one", 3, byOther())
	for range 3 {
		<-met
	}
	// One that was taken just before the places were full may have been put back.
	if n := countJobs(t, db, `metadata ? 'snoozes'`); n > 4 {
		t.Errorf("%d waiting jobs were written again", n)
	}
	if n := countJobs(t, db, `state = 'running' or attempt > 0`); n > 3+3+4 {
		t.Errorf("%d jobs were taken", n)
	}
}

// TestBurst_OfOneOrganizationAloneIsWorkedOff: a place that it gives back is taken again by announcement, because the
// next poll alone would work off three jobs in a tenth of a second.
func TestBurst_OfOneOrganizationAloneIsWorkedOff(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	met := make(chan id.Device, 300)
	q := jobrunner.New(jobrunner.Config{DB: db, Workers: 4})
	jobrunner.AddWorker(q, func(_ context.Context, v visit, _ jobs.Cause) error {
		met <- v.Router
		return nil
	}, fast)
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	burst(t, db, q, "burst", 300, cause)
	for range 300 {
		<-met
	}
}

// TestTurns_ThePlatformsOwnWorkHasItsTurn: work without an organization counts as that of one.
func TestTurns_ThePlatformsOwnWorkHasItsTurn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	met := make(chan id.Device, 3)
	q := jobrunner.New(jobrunner.Config{DB: db, Workers: 1})
	jobrunner.AddWorker(q, func(_ context.Context, v visit, _ jobs.Cause) error {
		met <- v.Router
		return nil
	}, fast)
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	burst(t, db, q, "platform", 1, jobs.Cause{})
	burst(t, db, q, "one", 1, cause)
	burst(t, db, q, "other", 1, byOther())
	seen := map[id.Device]bool{}
	for range 3 {
		seen[<-met] = true
	}
	if len(seen) != 3 {
		t.Errorf("met %v", seen)
	}
}
