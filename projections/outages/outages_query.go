package outagesviews

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

// OutageRow tells where and when customers had no service. Zero and nil mean none.
type OutageRow struct {
	ID        id.Outage       `db:"outage_id"`
	OrgID     id.Organization `db:"org_id"`
	DeviceID  id.Device       `db:"device_id"` // zero = not of a router
	ServiceID id.Service      `db:"service_id"`
	Tag       string          `db:"tag"`
	Devices   []id.Device     `db:"devices"`
	// Downs are the times of those routers that were not down in all of it.
	Downs       events.RouterDowns `db:"downs"`
	Title       string             `db:"title"`
	Message     string             `db:"message"`
	Detected    bool               `db:"detected"`
	StartedAt   time.Time          `db:"started_at"`
	ExpectedEnd *time.Time         `db:"expected_end"`
	EndedAt     *time.Time         `db:"ended_at"`
	MergedInto  id.Outage          `db:"merged_into"`
	TellAfter   *time.Time         `db:"tell_after"`
	BegunBy     id.User            `db:"begun_by"`
	Revision    int64              `db:"revision"`
}

// Place is where it is.
func (r OutageRow) Place() events.NetworkPlace {
	return events.NetworkPlace{DeviceID: r.DeviceID, ServiceID: r.ServiceID, Tag: r.Tag}
}

// OutageKey is a row's place in the list: those that last first, each kind newest first. The zero value starts at the
// first row.
type OutageKey struct {
	Over      bool      `json:"o"`
	StartedAt time.Time `json:"s"`
	ID        id.Outage `json:"i"`
}

// Key makes the next page begin after this row.
func (r OutageRow) Key() OutageKey {
	return OutageKey{Over: r.EndedAt != nil, StartedAt: r.StartedAt, ID: r.ID}
}

// OutagesQuery serves outages.
type OutagesQuery struct{ Views *runner.Views }

// outageSelect fits OutageRow; a condition follows.
const outageSelect = `select outage_id, org_id, device_id, service_id, tag, devices, downs, title, message,
	detected, started_at, expected_end, ended_at, merged_into, tell_after, begun_by, revision
	from {schema}.outages where `

// Get returns an outage of an organization; nil when it has none with this id.
func (q OutagesQuery) Get(ctx context.Context, org id.Organization, outage id.Outage) (*OutageRow, error) {
	var row *OutageRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[OutageRow],
			q.Views.SQL(OutagesName, outageSelect+`org_id = $1 and outage_id = $2`), org, outage)
	})
	return row, err
}

// OutageFilter chooses outages; nil and zero choose all.
type OutageFilter struct {
	Lasting *bool
	Since   time.Time // those that ended before are left out
	Until   time.Time // those that began then or later are left out
	Device  id.Device // that was down in it
}

// List returns up to max outages of an organization after a key: those that last, then those that are over, each newest
// first. Those that became a part of another one are left out.
func (q OutagesQuery) List(
	ctx context.Context, org id.Organization, f OutageFilter, after OutageKey, max int,
) ([]OutageRow, error) {
	var rows []OutageRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[OutageRow], q.Views.SQL(OutagesName,
			outageSelect+`org_id = @org and merged_into is null
			and (@lasting::boolean is null or (ended_at is null) = @lasting::boolean)
			and (@since::timestamptz is null or ended_at is null or ended_at >= @since::timestamptz)
			and (@until::timestamptz is null or started_at < @until::timestamptz)
			and (@device::uuid is null or device_id = @device::uuid or @device::uuid = any(devices))
			and (@at::timestamptz is null or (ended_at is not null) > @over::boolean
				or (ended_at is not null) = @over::boolean
				and (started_at, outage_id) < (@at::timestamptz, @id::uuid))
			order by ended_at is not null, started_at desc, outage_id desc limit @max`), pgx.NamedArgs{
			"org": org, "lasting": f.Lasting, "since": null.Time(f.Since), "until": null.Time(f.Until),
			"device": f.Device, "at": null.Time(after.StartedAt), "over": after.Over, "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// Rules are those that an organization has chosen; nil = it never did. revision is that of the choice, -1 without one.
func (q OutagesQuery) Rules(
	ctx context.Context, org id.Organization,
) (rules *events.OutageRules, revision int64, err error) {
	type row struct {
		Rules    events.OutageRules `db:"rules"`
		Revision int64              `db:"revision"`
	}
	var found *row
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &found, pgx.RowToStructByName[row],
			q.Views.SQL(OutagesName, `select rules, revision from {schema}.rules where org_id = $1`), org)
	})
	if err != nil || found == nil {
		return nil, -1, err
	}
	return &found.Rules, found.Revision, nil
}
