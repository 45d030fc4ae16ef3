package accessviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// DifferenceRow is one open difference.
type DifferenceRow struct {
	ID             id.Difference               `db:"difference_id"`
	DeviceID       id.Device                   `db:"device_id"`
	SubscriberID   id.Subscriber               `db:"subscriber_id"`   // zero = not known
	SubscriptionID id.Subscription             `db:"subscription_id"` // zero = not known
	Kind           events.AccessDifferenceKind `db:"kind"`
	Expected       string                      `db:"expected"`
	Actual         string                      `db:"actual"`
	Walled         bool                        `db:"walled"` // the router has the session's address in the garden
	Since          time.Time                   `db:"since"`
}

// DifferenceKey is a row's place in the list, newest first. The zero value starts at the newest row.
type DifferenceKey struct {
	Since time.Time     `json:"s"`
	ID    id.Difference `json:"i"`
}

// Key makes the next page begin after this row.
func (r DifferenceRow) Key() DifferenceKey { return DifferenceKey{Since: r.Since, ID: r.ID} }

// DifferenceFilter limits a list. Zero fields limit nothing.
type DifferenceFilter struct {
	Device     id.Device
	Subscriber id.Subscriber
	Kind       string
}

// DifferencesQuery serves an organization's open differences.
type DifferencesQuery struct{ Views *runner.Views }

// differenceSelect fits DifferenceRow; the condition follows.
const differenceSelect = `select difference_id, device_id, subscriber_id, subscription_id, kind, expected, actual,
	walled, since
	from {schema}.differences `

// List returns up to max differences after a key, the newest first.
func (q DifferencesQuery) List(
	ctx context.Context, org id.Organization, f DifferenceFilter, after DifferenceKey, max int,
) ([]DifferenceRow, error) {
	var rows []DifferenceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DifferenceRow], q.Views.SQL(DifferencesName, differenceSelect+`
			where org_id = @org and (@device::uuid is null or device_id = @device) and (@kind = '' or kind = @kind)
				and (@subscriber::uuid is null or subscriber_id = @subscriber)
				and (@since::timestamptz is null or (since, difference_id) < (@since, @id))
			order by since desc, difference_id desc limit @max`), pgx.NamedArgs{
			"org": org, "device": f.Device, "subscriber": f.Subscriber, "kind": f.Kind,
			"since": null.Time(after.Since), "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// OfDevice returns all differences of a router.
func (q DifferencesQuery) OfDevice(
	ctx context.Context, org id.Organization, device id.Device,
) ([]DifferenceRow, error) {
	var rows []DifferenceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DifferenceRow],
			q.Views.SQL(DifferencesName, differenceSelect+`where org_id = $1 and device_id = $2`), org, device)
	})
	return rows, err
}

// ShownAt lists the routers that show a session of a subscriber which may not be reported to us.
func (q DifferencesQuery) ShownAt(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) ([]id.Device, error) {
	var devices []id.Device
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &devices, pgx.RowTo[id.Device], q.Views.SQL(DifferencesName, `select distinct device_id
			from {schema}.differences where org_id = $1 and subscriber_id = $2 and kind = any($3)`),
			org, subscriber, events.SessionKinds())
	})
	return devices, err
}

// Elsewhere returns the differences of other routers than one that are about sessions of some subscriptions.
func (q DifferencesQuery) Elsewhere(
	ctx context.Context, org id.Organization, router id.Device, of []id.Subscription,
) ([]DifferenceRow, error) {
	var rows []DifferenceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DifferenceRow], q.Views.SQL(DifferencesName, differenceSelect+`
			where org_id = $1 and device_id <> $2 and subscription_id = any($3) and kind = any($4)`),
			org, router, of, events.SessionKinds())
	})
	return rows, err
}

// Counts counts an organization's open differences by kind. A kind without any has no entry.
func (q DifferencesQuery) Counts(
	ctx context.Context, org id.Organization,
) (map[events.AccessDifferenceKind]int, error) {
	var out map[events.AccessDifferenceKind]int
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &out, q.Views.SQL(DifferencesName,
			`select kind, count(*)::int as count from {schema}.differences where org_id = $1 group by kind`), org)
	})
	return out, err
}
