package telemetry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// noon is the instant at which stories begin.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// kit is a store with one organization, router and subscription.
type kit struct {
	*telemetry.Store
	db           *postgres.DB
	org          id.Organization
	device       id.Device
	subscriber   id.Subscriber
	subscription id.Subscription
	zone         *time.Location
}

// template has the tables of a store.
var template = pgtest.NewTemplate(func(ctx context.Context, db *postgres.DB) error {
	_, err := telemetry.Open(ctx, db)
	return err
})

// open makes a store in a database of its own.
func open(t testing.TB) *kit {
	t.Helper()
	return openOn(t, template.New(t))
}

// openOn makes a store in a database.
func openOn(t testing.TB, db *postgres.DB) *kit {
	t.Helper()
	s, err := telemetry.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return &kit{
		Store: s, db: db, org: id.New[id.Organization](), device: id.New[id.Device](),
		subscriber: id.New[id.Subscriber](), subscription: id.New[id.Subscription](), zone: time.UTC,
	}
}

// directory has the zone of the kit's organization.
func (k *kit) directory() telemetry.Directory {
	return telemetry.Directory{
		Resolve: k.resolve, Zone: func(id.Organization) *time.Location { return k.zone },
	}
}

// resolve knows one subscription for the kit's router and one for each other router of the organization.
func (k *kit) resolve(r telemetry.Report) telemetry.Given {
	if r.Org != k.org {
		return telemetry.Given{}
	}
	if r.Device != k.device {
		return telemetry.Given{Subscriber: k.subscriber, Subscription: id.As[id.Subscription](r.Device)}
	}
	return telemetry.Given{
		Subscriber: k.subscriber, Subscription: k.subscription, Access: "full", RateDown: 10_000, RateUp: 5_000,
	}
}

// commit commits reports as one group.
func (k *kit) commit(t testing.TB, reports ...telemetry.Report) {
	t.Helper()
	if _, err := k.Commit(t.Context(), k.directory(), reports); err != nil {
		t.Fatal(err)
	}
}

// at is a report of amina's session "81000001" so long after its start at noon.
func (k *kit) at(kind telemetry.Kind, after time.Duration, down, up uint64) telemetry.Report {
	return telemetry.Report{
		Kind: kind, Org: k.org, Device: k.device, Session: "81000001", User: "amina", Calling: "AA:BB:CC:00:11:22",
		MAC: "AA:BB:CC:00:11:22", Down: down, Up: up, Online: after, At: noon.Add(after),
	}
}

// row has the fields of a session that tests compare.
type row struct {
	Key, User      string
	Started, Ended time.Time
	Reason         string
	Down, Up       int64
	Seconds        int64
}

// rows are the sessions of a router, the oldest first.
func (k *kit) rows(ctx context.Context, t testing.TB, device id.Device) []row {
	t.Helper()
	found, err := k.db.Owner.Query(ctx, strings.ReplaceAll(`select session_key, username, started_at,
		coalesce(ended_at, '0001-01-01'), end_reason, bytes_down, bytes_up, seconds from {schema}.sessions
		where device_id = $1 order by started_at, session_key, username`, "{schema}", k.schema()), device.UUID())
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(found, pgx.RowToStructByPos[row])
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Started, list[i].Ended = list[i].Started.UTC(), list[i].Ended.UTC()
	}
	return list
}

// only is the one session of the kit's router.
func (k *kit) only(t testing.TB) row {
	t.Helper()
	list := k.rows(t.Context(), t, k.device)
	if len(list) != 1 {
		t.Fatalf("want one session, have %v", list)
	}
	return list[0]
}

// schema is the schema of telemetry.
func (k *kit) schema() string { return k.db.Namespace.Schema("telemetry") }
