package billingviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// RunsName keys the projection's checkpoint and schemas, so it never changes.
const RunsName = "billing_runs"

// Runs lists billing runs with what each of them made (docs/rules/billing.md#billing-runs).
type Runs struct{}

// runsDDL is compiled in from runs.sql.
//
//go:embed runs.sql
var runsDDL string

// Name keys checkpoint and schemas.
func (Runs) Name() string { return RunsName }

// Version must grow with every change to the tables or to Apply.
func (Runs) Version() int { return 3 }

// DDL creates the tables of runs.sql.
func (Runs) DDL() string { return runsDDL }

// TenantTables are under row-level security.
func (Runs) TenantTables() []string { return []string{"runs", "made", "latest"} }

// Handles lists the events that change the tables.
func (Runs) Handles() []string {
	return []string{
		events.BillingRunRequested{}.EventType(), events.BillingRunBegan{}.EventType(),
		events.BillingRunHeld{}.EventType(), events.BillingRunReleased{}.EventType(),
		events.BillingRunFinished{}.EventType(), events.PeriodDue{}.EventType(), events.InvoiceDrafted{}.EventType(),
		events.PeriodCancelled{}.EventType(),
	}
}

// Statements of Apply. Each may be applied twice.
const (
	requestedRunSQL = `
insert into {schema}.runs (run_id, org_id, date, state, requested_at, requested_by)
values (@run, @org, @date, 'queued', @at, @by)
on conflict (run_id) do update set state = 'queued', requested_at = @at, requested_by = @by, finished_at = null`
	madeSQL = `
insert into {schema}.made (run_id, invoice_id, org_id, subscription_id, subscriber_id, made_at)
values (@run, @invoice, @org, @subscription, @subscriber, @at) on conflict (invoice_id) do nothing`
	draftedSQL = `
update {schema}.made set total_minor = $3, currency = $4,
	before_minor = (select total_minor from {schema}.latest where subscription_id = $1)
where invoice_id = $2 and total_minor is null`
	latestSQL = `
insert into {schema}.latest (subscription_id, invoice_id, total_minor, org_id) values ($1, $2, $3, $4)
on conflict (subscription_id) do update set invoice_id = excluded.invoice_id, total_minor = excluded.total_minor`
)

// Apply queues the statements for one event. An event applied again changes nothing.
func (Runs) Apply(w *runner.Writes, e events.Envelope) error {
	by := staffOf(e.Meta.Actor)
	change := func(run id.BillingRun, set string, values pgx.NamedArgs) {
		args := pgx.NamedArgs{"run": run}
		maps.Copy(args, values)
		w.Exec(`update {schema}.runs set `+set+` where run_id = @run`, args)
	}
	switch v := e.Event.(type) {
	case events.BillingRunRequested:
		w.Exec(requestedRunSQL, pgx.NamedArgs{
			"run": v.RunID, "org": v.OrgID, "date": v.Date.String(), "at": v.At, "by": by,
		})
	case events.BillingRunBegan:
		change(v.RunID, `state = 'running', due = @due, usual = @usual`,
			pgx.NamedArgs{"due": v.Due, "usual": v.Usual})
	case events.BillingRunHeld:
		change(v.RunID, `state = 'held', due = @due, usual = @usual, held_at = @at`,
			pgx.NamedArgs{"due": v.Due, "usual": v.Usual, "at": v.At})
	case events.BillingRunReleased:
		change(v.RunID, `state = 'queued', released_at = @at, released_by = @by, release_reason = @reason`,
			pgx.NamedArgs{"at": v.At, "by": by, "reason": v.Reason})
	case events.BillingRunFinished:
		failures, err := json.Marshal(append([]events.BillingFailure{}, v.Failures...))
		if err != nil {
			return fmt.Errorf("write failures of run %s: %w", v.RunID, err)
		}
		change(v.RunID, `state = 'finished', failed = @failed, failures = @failures, finished_at = @at`,
			pgx.NamedArgs{"failed": v.Failed, "failures": string(failures), "at": v.At})
	case events.PeriodDue:
		if !v.RunID.IsZero() {
			w.Exec(madeSQL, pgx.NamedArgs{
				"run": v.RunID, "invoice": v.InvoiceID, "org": v.OrgID, "subscription": v.SubscriptionID,
				"subscriber": v.SubscriberID, "at": v.At,
			})
		}
	case events.PeriodCancelled:
		if !v.UndoneRun.IsZero() {
			w.Exec(`update {schema}.made set undone = true where invoice_id = $1`, v.InvoiceID)
		}
	case events.InvoiceDrafted:
		if !v.SubscriptionID.IsZero() {
			w.Exec(draftedSQL, v.SubscriptionID, v.InvoiceID, v.Total.Minor, v.Total.Currency)
			w.Exec(latestSQL, v.SubscriptionID, v.InvoiceID, v.Total.Minor, v.OrgID)
		}
	}
	return nil
}

// staffOf is the member of staff who acted; zero for anybody else.
func staffOf(actor events.Actor) id.User {
	if actor.Kind != events.ActorUser || !events.Role(actor.Role).AtLeast(events.RoleSupport) {
		return id.User{}
	}
	user, err := id.Parse[id.User](actor.ID)
	if err != nil {
		return id.User{}
	}
	return user
}
