package billingviews

import (
	"context"
	_ "embed"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// DueName keys the projection's checkpoint and schemas, so it never changes.
const DueName = "billing_due"

// Due knows when the next period of each subscription becomes due. It finds what a billing run has to look at; whether
// a period is due decides the subscription (docs/rules/billing.md#billing-runs).
type Due struct{}

// dueDDL is compiled in from due.sql.
//
//go:embed due.sql
var dueDDL string

// Name keys checkpoint and schemas.
func (Due) Name() string { return DueName }

// Version must grow with every change to the table or to Apply.
func (Due) Version() int { return 6 }

// DDL creates the table of due.sql.
func (Due) DDL() string { return dueDDL }

// TenantTables are under row-level security.
func (Due) TenantTables() []string { return []string{"due"} }

// Handles lists the events that change the table.
func (Due) Handles() []string {
	return []string{
		events.SubscriptionCreated{}.EventType(), events.PeriodDue{}.EventType(),
		events.SubscriptionExtended{}.EventType(), events.PeriodWithdrawn{}.EventType(),
		events.PeriodCancelled{}.EventType(), events.SubscriptionPaused{}.EventType(),
		events.PeriodReissued{}.EventType(), events.UndoneWaitEnded{}.EventType(),
		events.SubscriptionResumed{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.BillingSuspended{}.EventType(), events.BillingResumed{}.EventType(),
		events.PaidTimeCarriedOver{}.EventType(), events.SubscriptionCompensated{}.EventType(),
		events.SubscriptionPlanChanged{}.EventType(), events.PlanChangePlanned{}.EventType(),
		events.PlanChangeDropped{}.EventType(),
		events.CompensationTakenBack{}.EventType(),
	}
}

// insertDueSQL inserts the row of a new subscription.
const insertDueSQL = `
insert into {schema}.due (subscription_id, org_id, prepaid, short, ahead, next_from)
values (@subscription, @org, @prepaid, @short, @ahead, @from)
on conflict (subscription_id) do nothing`

// Apply queues the statements for one event. An event applied again changes nothing.
func (Due) Apply(w *runner.Writes, e events.Envelope) error {
	change := func(subscription id.Subscription, set string, values pgx.NamedArgs) {
		args := pgx.NamedArgs{"subscription": subscription}
		maps.Copy(args, values)
		w.Exec(`update {schema}.due set `+set+` where subscription_id = @subscription`, args)
	}
	if of, next := nextTerms(e.Event); next.Told() {
		change(of, `short = @short, ahead = @ahead`, billedBy(next))
	}
	switch v := e.Event.(type) {
	case events.SubscriptionCreated:
		w.Exec(insertDueSQL, pgx.NamedArgs{
			"subscription": v.SubscriptionID, "org": v.OrgID, "prepaid": v.Terms.Mode == events.Prepaid,
			"short": v.Terms.Period.Short(), "ahead": events.InvoicedAhead(v.Terms.Period).Microseconds(),
			"from": v.StartsAt.UnixMicro(),
		})
	case events.PeriodDue:
		change(v.SubscriptionID, `dropped_at = null, undone_run = null, next_from = coalesce(@to, next_from),
			open = case when prepaid then array_append(array_remove(open, @invoice), @invoice) else open end`,
			pgx.NamedArgs{"invoice": v.InvoiceID, "to": micros(v.To)})
	case events.SubscriptionExtended:
		change(v.SubscriptionID, `dropped_at = null, paid_until = @until, open = array_remove(open, @invoice)`,
			pgx.NamedArgs{"until": micros(v.PaidUntil), "invoice": v.InvoiceID})
	case events.PaidTimeCarriedOver:
		change(v.SubscriptionID, `paid_until = @until, next_from = @until`,
			pgx.NamedArgs{"until": v.PaidUntil.UnixMicro()})
	case events.SubscriptionCompensated:
		change(v.SubscriptionID, `paid_until = @until`, pgx.NamedArgs{"until": micros(v.PaidUntil)})
	case events.CompensationTakenBack:
		change(v.SubscriptionID, `paid_until = @until`, pgx.NamedArgs{"until": micros(v.PaidUntil)})
	case events.PeriodWithdrawn:
		change(v.SubscriptionID, `dropped_at = null, paid_until = @until,
			open = case when prepaid then array_append(array_remove(open, @invoice), @invoice) else open end`,
			pgx.NamedArgs{"until": micros(v.PaidUntil), "invoice": v.InvoiceID})
	case events.PeriodCancelled:
		set, args := dropped(v)
		change(v.SubscriptionID, set, args)
	case events.PeriodReissued:
		change(v.SubscriptionID, `open = array_replace(open, @invoice::uuid, @corrected::uuid)`,
			pgx.NamedArgs{"invoice": v.InvoiceID, "corrected": v.CorrectedID})
	case events.UndoneWaitEnded:
		change(v.SubscriptionID, `dropped_at = null, undone_run = null`, nil)
	case events.SubscriptionPaused:
		change(v.SubscriptionID, `paused = true`, nil)
	case events.SubscriptionResumed:
		change(v.SubscriptionID, `paused = false, dropped_at = null, paid_until = @until,
			next_from = coalesce(@from, next_from)`,
			pgx.NamedArgs{"until": micros(v.PaidUntil), "from": micros(v.NextFrom)})
	case events.BillingSuspended:
		change(v.SubscriptionID, `unbilled = true`, nil)
	case events.BillingResumed:
		change(v.SubscriptionID, `unbilled = false, dropped_at = null, paid_until = @until, next_from = @from`,
			pgx.NamedArgs{"until": micros(v.PaidUntil), "from": micros(v.NextFrom)})
	case events.SubscriptionEnded:
		w.Exec(`delete from {schema}.due where subscription_id = $1`, v.SubscriptionID)
	}
	return nil
}

// nextTerms are those of the next period, where an event tells them: of a plan, or of another period.
func nextTerms(e events.Event) (id.Subscription, events.PlanTerms) {
	switch v := e.(type) {
	case events.SubscriptionPlanChanged:
		return v.SubscriptionID, v.Terms
	case events.PlanChangePlanned:
		return v.SubscriptionID, v.Terms
	case events.PlanChangeDropped:
		return v.SubscriptionID, v.Terms
	case events.PeriodDue:
		return v.SubscriptionID, v.NextTerms
	case events.PeriodCancelled:
		return v.SubscriptionID, v.NextTerms
	}
	return id.Subscription{}, events.PlanTerms{}
}

// dropped sets the columns that change with a cancelled period.
func dropped(v events.PeriodCancelled) (string, pgx.NamedArgs) {
	set := `dropped_at = @at, open = array_remove(open, @invoice)`
	if v.Ordinal > 0 { // otherwise it was recorded without the paid time
		set += `, paid_until = @until`
	}
	args := pgx.NamedArgs{"at": micros(v.At), "until": micros(v.PaidUntil), "invoice": v.InvoiceID}
	if !v.UndoneRun.IsZero() {
		set += `, undone_run = @run, next_from = coalesce(@next, next_from)`
		args["run"], args["next"] = v.UndoneRun, micros(v.NextFrom)
	}
	return set, args
}

// billedBy is when the next period becomes due under the terms that it has.
func billedBy(t events.PlanTerms) pgx.NamedArgs {
	return pgx.NamedArgs{"short": t.Period.Short(), "ahead": events.InvoicedAhead(t.Period).Microseconds()}
}

// micros is an instant for the table; the zero time is null.
func micros(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	us := at.UnixMicro()
	return &us
}

// DueQuery finds what becomes due.
type DueQuery struct{ Views *runner.Views }

// DueBy bounds what is asked for: whole local days, and for hours and days what is due now.
type DueBy struct {
	End time.Time // exclusive: the end of the last day
	Now time.Time // inclusive
}

// DueUntil asks for all that is due by the end of a day of a zone.
func DueUntil(day calendar.Date, zone *time.Location, now time.Time) DueBy {
	return DueBy{End: day.AddDays(1).Start(zone), Now: now}
}

// DueKey is a row's place in the list. The zero value stands before its first row.
type DueKey struct {
	Due            int64           `db:"due"` // microseconds since 1970
	SubscriptionID id.Subscription `db:"subscription_id"`
}

// DueRow is a subscription whose next period is due.
type DueRow struct {
	DueKey
	Prepaid bool `db:"prepaid"`
}

// dueWhere restricts to what is due in an organization.
const dueWhere = `org_id = @org and due < @end and (not short or due <= @now)`

// CountAgain counts the subscriptions of an organization that wait for an undone run and are due by then.
func (q DueQuery) CountAgain(ctx context.Context, org id.Organization, run id.BillingRun, by DueBy) (n int, err error) {
	args := by.args(org)
	args["run"] = run
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(DueName, `select count(*) from {schema}.due
			where org_id = @org and undone_run = @run and again < @end and (not short or again <= @now)`), args)
	})
	return n, err
}

// ListAgain returns up to max subscriptions of an organization that wait for an undone run, after the one of a key. It
// has those of which no period is due yet, too: whoever asks for the run again ends their wait. Their keys have no
// instant.
func (q DueQuery) ListAgain(
	ctx context.Context, org id.Organization, run id.BillingRun, after DueKey, max int,
) (rows []DueRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DueRow], q.Views.SQL(DueName, `
			select 0::bigint as due, subscription_id, prepaid from {schema}.due
			where org_id = $1 and undone_run = $2 and ($3::uuid is null or subscription_id > $3)
			order by subscription_id limit $4`), org, run, after.SubscriptionID, max)
	})
	return rows, err
}

// Waiting counts for each undone run of an organization the subscriptions that wait to be invoiced again.
func (q DueQuery) Waiting(ctx context.Context, org id.Organization) (map[id.BillingRun]int, error) {
	type waiting struct {
		Run id.BillingRun `db:"undone_run"`
		N   int           `db:"n"`
	}
	var rows []waiting
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[waiting], q.Views.SQL(DueName, `
			select undone_run, count(*)::int as n from {schema}.due
			where org_id = $1 and undone_run is not null group by undone_run`), org)
	})
	list := make(map[id.BillingRun]int, len(rows))
	for _, row := range rows {
		list[row.Run] = row.N
	}
	return list, err
}

// args are those of dueWhere.
func (b DueBy) args(org id.Organization) pgx.NamedArgs {
	return pgx.NamedArgs{"org": org, "end": b.End.UnixMicro(), "now": b.Now.UnixMicro()}
}

// Count counts the subscriptions of an organization whose next period is due.
func (q DueQuery) Count(ctx context.Context, org id.Organization, by DueBy) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int],
			q.Views.SQL(DueName, `select count(*) from {schema}.due where `+dueWhere), by.args(org))
	})
	return n, err
}

// List returns up to max of them after a key, what has been due longest first.
func (q DueQuery) List(
	ctx context.Context, org id.Organization, by DueBy, after DueKey, max int,
) (rows []DueRow, err error) {
	args := by.args(org)
	args["due"], args["after"], args["max"] = after.Due, after.SubscriptionID, max
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DueRow], q.Views.SQL(DueName, `
			select due, subscription_id, prepaid from {schema}.due
			where `+dueWhere+` and (due, subscription_id) > (@due, @after)
			order by due, subscription_id limit @max`), args)
	})
	return rows, err
}
