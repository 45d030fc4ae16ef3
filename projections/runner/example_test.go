package runner_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/exampletest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// signedIn is a read model of the sessions that have not ended.
type signedIn struct{}

func (signedIn) Name() string           { return "signed_in" } // keys checkpoint and schema: never rename it
func (signedIn) Version() int           { return 1 }           // raise it when tables or Apply change
func (signedIn) TenantTables() []string { return []string{"sessions"} }

// Handles lists the types of events that Apply gets; the runner passes no others.
func (signedIn) Handles() []string {
	return []string{events.SessionStarted{}.EventType(), events.SessionEnded{}.EventType()}
}

// DDL creates one table; the runner replaces {schema} by the schema being filled.
func (signedIn) DDL() string {
	return `create table {schema}.sessions (session_id uuid primary key, org_id uuid not null, method text not null)`
}

// Apply queues statements. Applying an event again in a replay must give the same rows.
func (signedIn) Apply(w *runner.Writes, e events.Envelope) error {
	switch e := e.Event.(type) {
	case events.SessionStarted:
		w.Exec(`insert into {schema}.sessions (session_id, org_id, method) values (@id, @org, @method)
			on conflict (session_id) do update set method = @method`,
			pgx.NamedArgs{"id": e.SessionID, "org": e.OrgID, "method": e.Method})
	case events.SessionEnded:
		w.Exec(`delete from {schema}.sessions where session_id = $1`, e.SessionID)
	}
	return nil
}

// countSignedIn is a query of the read model. Row-level security limits it to the organization, so the statement needs
// no condition on it.
func countSignedIn(ctx context.Context, v *runner.Views, org id.Organization) (n int, err error) {
	sql := v.SQL("signed_in", `select count(*) from {schema}.sessions`)
	err = v.Tenant(ctx, org, func(reads *postgres.Reads) { postgres.CollectOne(reads, &n, pgx.RowTo[int], sql) })
	return n, err
}

func Example() {
	t := exampletest.New()
	defer t.Done()
	ctx, kit := t.Context(), storetest.New(t) // a real event store node on a real PostgreSQL

	f := feed.New(feed.FromStore(kit.Store), nil) // one reader of the log for all consumers
	t.Must(f.Start(ctx))
	t.Cleanup(f.Stop)
	r := runner.New(runner.Config{Feed: f, DB: kit.DB, Clock: clock.System()})
	r.Register(signedIn{})
	t.Must(r.Start(ctx))
	t.Cleanup(r.Stop)

	// Three people sign in. In the product the bus appends the events and returns the position.
	ours, theirs := id.New[id.Organization](), id.New[id.Organization]()
	var last eventstore.Appended
	for _, org := range []id.Organization{ours, ours, theirs} {
		var err error
		e := events.SessionStarted{SessionID: id.New[id.Session](), OrgID: org, Method: "password"}
		last, err = kit.Store.Append(ctx, "session-"+e.SessionID.String(), eventstore.NoStream, []eventstore.New{
			{Event: e, Meta: events.Metadata{EventID: id.New[id.Event](), OrgID: org}},
		})
		t.Must(err)
	}

	// A reader that has written waits for the position of its event.
	t.Must(r.Views().WaitFor(ctx, "signed_in", last.Position))
	for _, org := range []id.Organization{ours, theirs} {
		n, err := countSignedIn(ctx, r.Views(), org)
		fmt.Println("signed in:", n, err)
	}

	// New tables are filled beside the old ones and replace them when they have caught up.
	t.Must(r.Rebuild(ctx, "signed_in", nil))
	n, err := countSignedIn(ctx, r.Views(), ours)
	fmt.Println("after the rebuild:", n, err)
	for _, s := range r.Status() {
		fmt.Println(s.Name, "version", s.Version, "lag", s.Lag(), "stopped", s.State == runner.StateStopped)
	}
	// Output:
	// signed in: 2 <nil>
	// signed in: 1 <nil>
	// after the rebuild: 2 <nil>
	// signed_in version 1 lag 0 stopped false
}
