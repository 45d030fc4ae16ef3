package billingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// RunStates are the values of RunRow.State.
var RunStates = []string{"queued", "running", "held", "finished"}

// RunRow is a billing run.
type RunRow struct {
	ID            id.BillingRun           `db:"run_id"`
	OrgID         id.Organization         `db:"org_id"`
	Date          time.Time               `db:"date"` // midnight in UTC of the local day
	State         string                  `db:"state"`
	Due           *int                    `db:"due"`
	Usual         *int                    `db:"usual"`
	Made          int                     `db:"made"`   // invoices so far, without undone ones
	Undone        int                     `db:"undone"` // invoices that an undo took back
	TotalMinor    int64                   `db:"total_minor"`
	Currency      money.Currency          `db:"currency"` // "" without an invoice
	Failed        int                     `db:"failed"`
	Failures      []events.BillingFailure `db:"failures"`
	RequestedAt   time.Time               `db:"requested_at"`
	RequestedBy   id.User                 `db:"requested_by"` // zero = the clock
	HeldAt        *time.Time              `db:"held_at"`
	ReleasedAt    *time.Time              `db:"released_at"`
	ReleasedBy    id.User                 `db:"released_by"`
	ReleaseReason string                  `db:"release_reason"`
	FinishedAt    *time.Time              `db:"finished_at"`
}

// Day is the run's local date.
func (r RunRow) Day() calendar.Date { return calendar.On(r.Date, time.UTC) }

// RunsQuery serves billing runs to their organization.
type RunsQuery struct{ Views *runner.Views }

// runSQL reads runs; its columns fit RunRow.
const runSQL = `
select run_id, org_id, date, state, due, usual, m.made, m.undone, m.total_minor, m.currency, failed, failures,
	requested_at, requested_by, held_at, released_at, released_by, release_reason, finished_at
from {schema}.runs r cross join lateral (
	select count(*) filter (where not undone) as made, count(*) filter (where undone) as undone,
		coalesce(sum(total_minor) filter (where not undone), 0)::bigint as total_minor,
		coalesce(max(currency), '') as currency
	from {schema}.made where run_id = r.run_id) m
where r.org_id = @org and `

// Get returns one run of an organization, nil when it has none with this id.
func (q RunsQuery) Get(ctx context.Context, org id.Organization, run id.BillingRun) (row *RunRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[RunRow], q.Views.SQL(RunsName, runSQL+`run_id = @run`),
			pgx.NamedArgs{"org": org, "run": run})
	})
	return row, err
}

// RunKey is a run's place in the list. The zero value stands before its first row.
type RunKey struct {
	Date calendar.Date `json:"d"`
}

// Key makes the next page begin after this row.
func (r RunRow) Key() RunKey { return RunKey{Date: r.Day()} }

// List returns up to max runs of an organization before a date, the newest first; those in a state only, unless it is
// "".
func (q RunsQuery) List(
	ctx context.Context, org id.Organization, state string, after RunKey, max int,
) (rows []RunRow, err error) {
	args := pgx.NamedArgs{"org": org, "max": max, "state": state, "before": nil}
	if !after.Date.IsZero() {
		args["before"] = after.Date.String()
	}
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[RunRow], q.Views.SQL(RunsName, runSQL+`
			(@state = '' or state = @state) and (@before::date is null or date < @before::date)
			order by date desc limit @max`), args)
	})
	return rows, err
}

// Usual is the most that a run of an organization has made within events.UsualDays before a date.
func (q RunsQuery) Usual(ctx context.Context, org id.Organization, date calendar.Date) (most int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &most, pgx.RowTo[int], q.Views.SQL(RunsName, `
			select coalesce(max(m.made), 0) from {schema}.runs r cross join lateral (
				select count(*) as made from {schema}.made where run_id = r.run_id and not undone) m
			where r.org_id = $1 and r.date < $2::date and r.date >= $3::date`),
			org, date.String(), date.AddDays(-events.UsualDays).String())
	})
	return most, err
}

// MadeRow is an invoice that a run made.
type MadeRow struct {
	InvoiceID      id.Invoice      `db:"invoice_id"`
	SubscriptionID id.Subscription `db:"subscription_id"`
	SubscriberID   id.Subscriber   `db:"subscriber_id"`
	TotalMinor     *int64          `db:"total_minor"` // nil before it is drafted
	Currency       money.Currency  `db:"currency"`
	BeforeMinor    *int64          `db:"before_minor"` // of the invoice before; nil when it is the first
	OffMinor       int64           `db:"off_minor"`    // how far the two are apart
	Undone         bool            `db:"undone"`       // it was taken back with the run
}

// MadeKey is an invoice's place in the list. The zero value stands before its first row.
type MadeKey struct {
	Off       int64      `json:"o"`
	InvoiceID id.Invoice `json:"i"`
}

// Key makes the next page begin after this row.
func (r MadeRow) Key() MadeKey { return MadeKey{Off: r.OffMinor, InvoiceID: r.InvoiceID} }

// madeRowsSQL reads the invoices of a run.
const madeRowsSQL = `
select invoice_id, subscription_id, subscriber_id, total_minor, currency, before_minor,
	coalesce(off_minor, -1) as off_minor, undone
from {schema}.made where org_id = @org and run_id = @run`

// Made returns up to max invoices of a run after a key, those first that differ most from the invoice before.
func (q RunsQuery) Made(
	ctx context.Context, org id.Organization, run id.BillingRun, after MadeKey, max int,
) (rows []MadeRow, err error) {
	args := pgx.NamedArgs{"org": org, "run": run, "max": max, "off": after.Off, "after": after.InvoiceID}
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[MadeRow], q.Views.SQL(RunsName, madeRowsSQL+`
			and (@after::uuid is null or coalesce(off_minor, -1) < @off
				or coalesce(off_minor, -1) = @off and invoice_id > @after)
			order by coalesce(off_minor, -1) desc, invoice_id limit @max`), args)
	})
	return rows, err
}

// MadePart is a part of the invoices of a run.
type MadePart struct {
	RunID id.BillingRun
	Since time.Time  // when they were made
	After id.Invoice // zero = from the first one on
	Max   int
}

// MadeFrom returns a part of the invoices of a run, in the order of their ids, which never change: whoever reads the
// parts one after the other misses none, also of those that are drafted meanwhile.
func (q RunsQuery) MadeFrom(ctx context.Context, org id.Organization, of MadePart) (rows []MadeRow, err error) {
	args := pgx.NamedArgs{"org": org, "run": of.RunID, "since": of.Since, "after": of.After, "max": of.Max}
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[MadeRow], q.Views.SQL(RunsName, madeRowsSQL+`
			and made_at >= @since and (@after::uuid is null or invoice_id > @after)
			order by invoice_id limit @max`), args)
	})
	return rows, err
}
