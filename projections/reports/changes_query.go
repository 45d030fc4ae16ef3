package reportsviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ChangeRow is one change. Ids that it has nothing to do with are nil.
type ChangeRow struct {
	Position       int64            `db:"position"`
	At             time.Time        `db:"at"`
	Kind           string           `db:"kind"`
	SubscriberID   *id.Subscriber   `db:"subscriber_id"`
	SubscriptionID *id.Subscription `db:"subscription_id"`
	PaymentID      *id.Payment      `db:"payment_id"`
	MessageID      *id.Message      `db:"message_id"`
	DeviceID       *id.Device       `db:"device_id"`
	ServiceID      *id.Service      `db:"service_id"`
}

// ChangeKey is a row's place in the list, newest first. The zero value starts at the newest row.
type ChangeKey struct {
	At       time.Time `json:"a"`
	Position int64     `json:"p"`
}

// Key makes the next page begin after this row.
func (r ChangeRow) Key() ChangeKey { return ChangeKey{At: r.At, Position: r.Position} }

// ChangeFilter narrows a list to changes of some kinds in a time. Zero instants do not restrict it.
type ChangeFilter struct {
	Kinds    []string
	From, To time.Time // To is not in it
}

// ChangesQuery serves an organization's changes.
type ChangesQuery struct{ Views *runner.Views }

// List returns up to max changes after a key, newest first.
func (q ChangesQuery) List(
	ctx context.Context, org id.Organization, f ChangeFilter, after ChangeKey, max int,
) ([]ChangeRow, error) {
	var rows []ChangeRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ChangeRow], q.Views.SQL(ChangesName, `
			select position, at, kind, subscriber_id, subscription_id, payment_id, message_id, device_id, service_id
			from {schema}.changes where org_id = @org and kind = any(@kinds)
				and (@from::timestamptz is null or at >= @from) and (@to::timestamptz is null or at < @to)
				and (@at::timestamptz is null or (at, position) < (@at, @position))
			order by at desc, position desc limit @max`), pgx.NamedArgs{
			"org": org, "kinds": f.Kinds, "from": null.Time(f.From), "to": null.Time(f.To),
			"at": null.Time(after.At), "position": after.Position, "max": max,
		})
	})
	return rows, err
}

// Counts counts the changes since an instant by kind. A kind without any has no entry.
func (q ChangesQuery) Counts(ctx context.Context, org id.Organization, since time.Time) (map[string]int, error) {
	var out map[string]int
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &out, q.Views.SQL(ChangesName, `
			select k.kind, c.count from unnest($2::text[]) as k (kind) cross join lateral (
				select count(*)::int as count from {schema}.changes
				where org_id = $1 and kind = k.kind and at >= $3) c where c.count > 0`), org,
			append(append([]string{}, CustomerKinds...), NetworkKinds...), since)
	})
	return out, err
}
