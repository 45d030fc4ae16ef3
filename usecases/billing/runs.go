package billingcases

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases"
)

// BillingRuns asks for billing runs, and tells what they would make. Safe for concurrent use.
type BillingRuns struct {
	Bus      *bus.Bus
	Settings usecases.SettingsOf // of previews
	Due      billingviews.DueQuery
	Clock    clock.Clock
}

// Request asks for the run of a date, today when it is zero. Fails: organization_not_found, invalid_input for a date
// that has not begun, batch_undo_runs.
func (u BillingRuns) Request(
	ctx context.Context, asked usecases.Asked, date calendar.Date,
) (id.BillingRun, bus.Result, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, asked.Org())
	if err != nil {
		return id.BillingRun{}, bus.Result{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return id.BillingRun{}, bus.Result{}, err
	}
	today := calendar.On(u.Clock.Now(), zone)
	if date.IsZero() {
		date = today
	}
	if today.Before(date) {
		var f failure.Faults
		f.Add("date", "must not be in the future; the preview tells what is due then")
		return id.BillingRun{}, bus.Result{}, f.Err()
	}
	run := commands.BillingRunOf(asked.Org(), date)
	undo, _, err := bus.LoadOwned[billing.BatchUndo](ctx, u.Bus, asked.Org(), id.As[id.Batch](run))
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return run, bus.Result{}, err
	}
	if undo.Running {
		return run, bus.Result{}, commands.ErrBatchUndoRuns()
	}
	done, err := u.Bus.Execute(ctx, commands.RequestBillingRun{
		RunID: run, OrgID: asked.Org(), Date: date, Again: true,
	}, asked.Meta)
	return run, done, err
}

// ComingPeriods are the invoices of one subscription that runs would make.
type ComingPeriods struct {
	billingviews.DueRow
	Invoices []ComingInvoice
	Refused  string // code of the failure by which no invoice is made; "" = none
}

// Key makes the next page begin after this subscription.
func (c ComingPeriods) Key() billingviews.DueKey { return c.DueKey }

// mostComing is how many postpaid periods of one subscription a preview shows.
const mostComing = 6

// until is the date, today when it is zero, and what is due by its end: hours and days, too.
func (u BillingRuns) until(
	ctx context.Context, org id.Organization, date calendar.Date,
) (calendar.Date, billingviews.DueBy, error) {
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return date, billingviews.DueBy{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return date, billingviews.DueBy{}, err
	}
	now := u.Clock.Now()
	if date.IsZero() {
		date = calendar.On(now, zone)
	}
	by := billingviews.DueUntil(date, zone, now)
	if by.End.After(now) {
		by.Now = by.End.Add(-time.Microsecond)
	}
	return date, by, nil
}

// Coming counts the subscriptions of which the runs up to a date, today when it is zero, would make invoices. It gives
// the date. Fails: organization_not_found.
func (u BillingRuns) Coming(
	ctx context.Context, org id.Organization, date calendar.Date,
) (calendar.Date, int, error) {
	date, by, err := u.until(ctx, org, date)
	if err != nil {
		return date, 0, err
	}
	n, err := u.Due.Count(ctx, org, by)
	return date, n, err
}

// Preview lists what the runs up to a date, today when it is zero, would make, when nothing changes and each prepaid
// period is paid in time: up to max subscriptions after a key. Each subscription and each account decides its part as
// it will decide it then. Fails: organization_not_found.
func (u BillingRuns) Preview(
	ctx context.Context, org id.Organization, date calendar.Date, after billingviews.DueKey, max int,
) ([]ComingPeriods, error) {
	_, by, err := u.until(ctx, org, date)
	if err != nil {
		return nil, err
	}
	rows, err := u.Due.List(ctx, org, by, after, max)
	if err != nil {
		return nil, err
	}
	list := make([]ComingPeriods, len(rows))
	for i, row := range rows {
		coming, err := Upcoming{Bus: u.Bus, Clock: u.Clock}.Of(ctx, org, row.SubscriptionID, mostComing)
		var refused *failure.Error
		if err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		list[i] = ComingPeriods{DueRow: row, Refused: failure.CodeOf(err)}
		for _, next := range coming {
			if next.At.Before(by.End) && (!row.Prepaid || len(list[i].Invoices) == 0) {
				list[i].Invoices = append(list[i].Invoices, next)
			}
		}
	}
	return list, nil
}
