package paymentsviews

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// BillStates are the states of a bill, as the API names them.
var BillStates = []string{"queued", "sent", "failed", "cancelled", "paid", "acknowledged"}

// BillManagerRow has the settings of one organization.
type BillManagerRow struct {
	On        bool  `db:"turned_on"`
	Reminders bool  `db:"reminders"`
	Left      bool  `db:"has_left"`
	Revision  int64 `db:"revision"`
}

// BillRow is one invoice at the bill manager.
type BillRow struct {
	InvoiceID    id.Invoice      `db:"invoice_id"`
	OrgID        id.Organization `db:"org_id"`
	SubscriberID id.Subscriber   `db:"subscriber_id"`
	Number       string          `db:"number"`
	State        string          `db:"state"`
	Stage        string          `db:"stage"`
	Offered      bool            `db:"offered"`
	Doubts       int             `db:"doubts"`
	Recalled     string          `db:"recalled"`
	Code         string          `db:"code"`
	Message      string          `db:"message"`
	Forgotten    bool            `db:"forgotten"`
	WaitsFor     string          `db:"waits_for"` // why it is not sent yet; "" = nothing
	QueuedAt     time.Time       `db:"queued_at"`
	SentAt       *time.Time      `db:"sent_at"`
	Revision     int64           `db:"revision"`
}

// Leaves reports whether the bill manager still has the bill, or may have it, and is to give it up.
func (r BillRow) Leaves() bool { return r.Recalled != "" && (r.Stage == "sent" || r.Stage == "queued") }

// BillKey is a row's place in the list, newest first. The zero value starts at the newest row.
type BillKey struct {
	QueuedAt time.Time  `json:"q"`
	ID       id.Invoice `json:"i"`
}

// Key is the row's place in the list.
func (r BillRow) Key() BillKey { return BillKey{QueuedAt: r.QueuedAt, ID: r.InvoiceID} }

// BillsQuery serves bills and settings to their organization, and what is to be done to the platform.
type BillsQuery struct{ Views *runner.Views }

// billColumns fit BillRow.
const billColumns = `b.invoice_id, b.org_id, b.subscriber_id, b.number, b.state, b.stage, b.offered, b.doubts,
	b.recalled, b.code, b.message, b.forgotten, case when b.retry_at is null then '' else b.waits_for end as waits_for,
	b.queued_at, b.sent_at, b.revision`

// Settings are those of an organization; nil when it never made any.
func (q BillsQuery) Settings(ctx context.Context, org id.Organization) (row *BillManagerRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[BillManagerRow], q.Views.SQL(BillsName, `
			select turned_on, reminders, has_left, revision from {schema}.bill_managers where org_id = $1`), org)
	})
	return row, err
}

// Get returns one bill of an organization, nil when the invoice never went to the bill manager.
func (q BillsQuery) Get(ctx context.Context, org id.Organization, invoice id.Invoice) (row *BillRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[BillRow], q.Views.SQL(BillsName,
			`select `+billColumns+` from {schema}.bills b where b.invoice_id = $1 and b.org_id = $2`), invoice, org)
	})
	return row, err
}

// Some returns those of some invoices that went to the bill manager.
func (q BillsQuery) Some(
	ctx context.Context, org id.Organization, invoices []id.Invoice,
) (map[id.Invoice]BillRow, error) {
	var rows []BillRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BillRow], q.Views.SQL(BillsName,
			`select `+billColumns+` from {schema}.bills b where b.invoice_id = any($1) and b.org_id = $2`),
			invoices, org)
	})
	found := make(map[id.Invoice]BillRow, len(rows))
	for _, row := range rows {
		found[row.InvoiceID] = row
	}
	return found, err
}

// List returns up to max bills of an organization after a key, the newest first; state "" lists all.
func (q BillsQuery) List(
	ctx context.Context, org id.Organization, state string, after BillKey, max int,
) (rows []BillRow, err error) {
	args := []any{org, max}
	where := []string{`b.org_id = $1`}
	if !after.QueuedAt.IsZero() {
		args = append(args, after.QueuedAt, after.ID)
		where = append(where, `(b.queued_at, b.invoice_id) < ($3, $4)`)
	}
	if state != "" {
		args = append(args, state)
		where = append(where, fmt.Sprintf(`b.state = $%d`, len(args)))
	}
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BillRow], q.Views.SQL(BillsName, `
			select `+billColumns+` from {schema}.bills b where `+strings.Join(where, " and ")+`
			order by b.queued_at desc, b.invoice_id desc limit $2`), args...)
	})
	return rows, err
}

// BillsDue says what is to be done by now. What was recorded before the machine's clock was put back waits for none of
// its instants: they are later than any that is explained by now.
type BillsDue struct {
	Now           time.Time
	SettledBefore time.Time // before which an invoice must have been paid in another way for its bill to be taken back
	LastSettled   time.Time // at which an invoice can have been paid at the latest
	LastRetry     time.Time // until which a bill can rest at the latest
}

// args are those of the statements.
func (d BillsDue) args(more pgx.NamedArgs) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"now": d.Now, "settled": d.SettledBefore, "last_settled": d.LastSettled, "last_retry": d.LastRetry,
	}
	maps.Copy(args, more)
	return args
}

// awakeSQL says that a bill does not rest.
const awakeSQL = `(b.retry_at is null or b.retry_at <= @now or b.retry_at > @last_retry)`

// busySQL says that something is to be done about a bill by now. What was paid elsewhere is taken back after a while:
// the report of the bill manager may be on its way.
const busySQL = `b.busy and (b.stage = 'queued' or b.unacknowledged > 0 or b.forgotten or b.recalled <> ''
	or b.settled_at <= @settled or b.settled_at > @last_settled) and ` + awakeSQL

// leavesSQL says that a bill is, or may be, at the bill manager whose organization takes money on a shortcode of its
// own.
const leavesSQL = `(b.stage = 'sent' or b.stage = 'failed' and b.offered) and b.recalled = ''
	and not b.paid_whole and b.settled_at is null`

// BusyOrgs lists the organizations for which something is to be done. It is for the platform.
func (q BillsQuery) BusyOrgs(ctx context.Context, due BillsDue) (orgs []id.Organization, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &orgs, pgx.RowTo[id.Organization], q.Views.SQL(BillsName, `
			select distinct b.org_id from {schema}.bills b where `+busySQL+`
			union
			select m.org_id from {schema}.bill_managers m where m.has_left and exists (
				select from {schema}.bills b where b.org_id = m.org_id and `+leavesSQL+`)`), due.args(nil))
	})
	return orgs, err
}

// Busy returns up to max bills of an organization about which something is to be done one by one: all but those that
// wait to be sent for the first time in their round.
func (q BillsQuery) Busy(
	ctx context.Context, org id.Organization, due BillsDue, max int,
) (rows []BillRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BillRow], q.Views.SQL(BillsName, `
			select `+billColumns+` from {schema}.bills b where `+busySQL+` and b.org_id = @org
				and (b.stage <> 'queued' or b.offered or b.recalled <> '' or b.settled_at is not null
					or b.unacknowledged > 0)
			order by b.queued_at, b.invoice_id limit @max`), due.args(pgx.NamedArgs{"org": org, "max": max}))
	})
	return rows, err
}

// Waiting returns up to max bills of an organization that wait to be sent and for nothing else, those that were in
// doubt most often first.
func (q BillsQuery) Waiting(
	ctx context.Context, org id.Organization, due BillsDue, max int,
) (rows []BillRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BillRow], q.Views.SQL(BillsName, `
			select `+billColumns+` from {schema}.bills b
			where b.org_id = @org and b.busy and b.stage = 'queued' and not b.offered and b.recalled = ''
				and b.settled_at is null and (b.waits_for = '' or `+awakeSQL+`)
			order by b.doubts desc, b.queued_at, b.invoice_id limit @max`),
			due.args(pgx.NamedArgs{"org": org, "max": max}))
	})
	return rows, err
}

// Leaving returns up to max bills at the bill manager of an organization that has left it.
func (q BillsQuery) Leaving(ctx context.Context, org id.Organization, max int) (rows []BillRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[BillRow], q.Views.SQL(BillsName, `
			select `+billColumns+` from {schema}.bills b where b.org_id = $1 and `+leavesSQL+` limit $2`), org, max)
	})
	return rows, err
}
