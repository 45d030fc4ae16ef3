package main

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// BenchmarkDunningRules measures what a change of rules costs in the running program: from the request to the review of
// the last of BENCH_DUNNING customers who owe, with every process and read model at work.
func BenchmarkDunningRules(b *testing.B) {
	k := newBenchKit(b)
	org := k.organizationID("acme")
	n := benchtest.Size(b, "DUNNING", 2000)
	next, grace := k.owing(b, org, n), 5
	for b.Loop() {
		benchtest.Compare(b, "followed/s", benchtest.NoAim, func() float64 {
			grace++
			began := time.Now()
			k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
				"graceDays": grace, "noCutDays": []string{}, "noCutAfter": map[string]string{},
			}})
			next = k.reviewed(b, n, next)
			return float64(n) / time.Since(began).Seconds()
		}, func() float64 { return appendRate(b, k.app.storage.store) })
	}
}

// organizationID is the id behind a slug.
func (k *kit) organizationID(slug string) id.Organization {
	for _, org := range k.must(k.root, "GET", "/orgs?limit=100", nil).list("data") {
		if org.text("slug") == slug {
			return id.Must[id.Organization](org.text("id"))
		}
	}
	k.t.Fatal("there is no organization " + slug)
	return id.Organization{}
}

// owing makes subscriptions whose paid time has just ended, waits until each was reviewed, and gives the instant of
// their next step.
func (k *kit) owing(b *testing.B, org id.Organization, n int) time.Time {
	b.Helper()
	k.billedMonthly(b, org, n, k.app.clock.Now().Add(-time.Hour))
	return k.reviewed(b, n, time.Time{})
}

// append records events at the beginning of a stream.
func (k *kit) append(b *testing.B, stream string, org id.Organization, list ...events.Event) error {
	b.Helper()
	var batch []eventstore.New
	for _, e := range list {
		batch = append(batch, eventstore.New{Event: e, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "bench",
			At: k.app.clock.Now().UTC(), Actor: events.Actor{Kind: events.ActorOperator},
		}})
	}
	_, err := k.app.storage.store.Append(b.Context(), stream, eventstore.NoStream, batch)
	return err
}

// reviewed waits until so many subscriptions have the same next step, at another instant than before, and gives it.
func (k *kit) reviewed(b *testing.B, n int, before time.Time) time.Time {
	b.Helper()
	type row struct {
		Rows  int        `db:"rows"`
		First *time.Time `db:"first"`
		Last  *time.Time `db:"last"`
	}
	var r row
	views := k.app.engines.views
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		err := views.Platform(b.Context(), func(reads *postgres.Reads) {
			postgres.CollectOne(reads, &r, pgx.RowToStructByName[row], views.SQL(accessviews.DunningName,
				`select count(*) as rows, min(next_at) as first, max(next_at) as last from {schema}.dunning`))
		})
		if err != nil {
			b.Fatal(err)
		}
		if r.Rows == n && r.First != nil && r.First.Equal(*r.Last) && !r.First.Equal(before) {
			return *r.First
		}
	}
	b.Fatalf("not all were reviewed: %+v", r)
	return time.Time{}
}
