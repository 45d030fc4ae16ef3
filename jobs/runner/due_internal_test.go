package jobrunner

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
)

// call is a job in a queue of its own.
type call struct{}

func (call) Kind() string { return "test.call" }

// TestDue_NamesTheQueuesWhereAJobCouldBegin: those of jobs that run, are over or wait for later are not looked at.
func TestDue_NamesTheQueuesWhereAJobCouldBegin(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := New(Config{DB: db, InsertOnly: true})
	AddWorker(r, func(context.Context, errand, jobs.Cause) error { return nil }, Options{Queue: "errands"})
	AddWorker(r, func(context.Context, call, jobs.Cause) error { return nil }, Options{Queue: "calls"})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	cases := []struct {
		name, sql string
		want      []string
	}{
		{"no job", `select`, []string{}},
		{"one waits", `update {schema}.river_job set state = 'available'`, []string{"errands"}},
		{"a retry waits for later", `update {schema}.river_job set scheduled_at = now() + interval '4s'`, []string{}},
		{"its time has come", `update {schema}.river_job set scheduled_at = now()`, []string{"errands"}},
		{"it runs", `update {schema}.river_job set state = 'running'`, []string{}},
		{"it is over", `update {schema}.river_job set state = 'completed', finalized_at = now()`, []string{}},
	}
	for i, c := range cases {
		if _, err := db.Owner.Exec(t.Context(), r.sql(c.sql)); err != nil {
			t.Fatal(c.name, err)
		}
		got, err := r.due(t.Context(), slices.Collect(maps.Keys(r.places))...)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if i > 0 {
			continue
		}
		if err := r.Insert(t.Context(), errand{}, id.New[id.Any](), jobs.Cause{}, 0); err != nil {
			t.Fatal(err)
		}
	}
}
