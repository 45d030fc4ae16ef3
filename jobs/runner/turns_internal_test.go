package jobrunner

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
)

// errand is the job of these tests.
type errand struct{}

func (errand) Kind() string { return "test.errand" }

// cut is a connection that breaks after the first statement of a fetch.
type cut struct{ riverdriver.Executor }

// JobGetByIDMany fails like a statement on a connection that has ended.
func (cut) JobGetByIDMany(context.Context, *riverdriver.JobGetByIDManyParams) ([]*rivertype.JobRow, error) {
	return nil, errors.New("terminating connection due to unexpected postmaster exit")
}

// TestTurns_JobsAreTakenAndReadInOneStatement: jobs that were taken and could not be read would be running with nobody
// at work on them, until they are rescued. The rows are those that River itself reads.
func TestTurns_JobsAreTakenAndReadInOneStatement(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := New(Config{DB: db, InsertOnly: true})
	AddWorker(r, func(context.Context, errand, jobs.Cause) error { return nil }, Options{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if err := r.Insert(t.Context(), errand{}, id.New[id.Any](), jobs.Cause{}, 0); err != nil {
		t.Fatal(err)
	}
	_, err := db.Owner.Exec(t.Context(), r.sql(`update {schema}.river_job set attempt = 1, attempted_by = '{before}',
		errors = array['{"at": "2026-03-02T12:00:00Z", "attempt": 1, "error": "no answer"}'::jsonb]`))
	if err != nil {
		t.Fatal(err)
	}
	rivers := riverpgxv5.New(db.Owner).GetExecutor()
	taken, err := turnsExecutor{cut{rivers}, r}.JobGetAvailable(t.Context(), &riverdriver.JobGetAvailableParams{
		ClientID: "program", MaxAttemptedBy: 100, MaxToLock: 10, Queue: "default", Schema: r.schema(),
	})
	if err != nil || len(taken.Jobs) != 1 {
		t.Fatalf("took %+v, %v", taken, err)
	}
	want, err := rivers.JobGetByIDMany(t.Context(), &riverdriver.JobGetByIDManyParams{
		ID: []int64{taken.Jobs[0].ID}, Schema: r.schema(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, taken.Jobs, cmpopts.IgnoreFields(rivertype.JobRow{}, "UniqueStates")); diff != "" {
		t.Error(diff)
	}
	if j := taken.Jobs[0]; j.State != rivertype.JobStateRunning || j.Attempt != 2 || len(j.AttemptedBy) != 2 {
		t.Errorf("took %+v", j)
	}
}
