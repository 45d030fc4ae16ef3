package accesscases

import (
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Board tells what the rows of the board mean at the present instant. Safe for concurrent use.
type Board struct {
	Settings usecases.SettingsOf
	Clock    clock.Clock
}

// Present is an instant in an organization, at which rows of the board are read.
type Present struct {
	Now      time.Time
	Zone     *time.Location
	Currency money.Currency
}

// Present reads the zone and the currency. Fails: organization_not_found.
func (b Board) Present(ctx context.Context, org id.Organization) (Present, error) {
	return presentOf(ctx, b.Settings, org, b.Clock.Now())
}

// presentOf is an instant in an organization with its present zone and currency. Fails: organization_not_found.
func presentOf(ctx context.Context, of usecases.SettingsOf, org id.Organization, now time.Time) (Present, error) {
	settings, err := of(ctx, org)
	if err != nil {
		return Present{}, err
	}
	zone, err := usecases.Zone(settings)
	return Present{Now: now, Zone: zone, Currency: settings.Currency}, err
}

// Overdue is the overdue amount, which is compared with the minimum, and the number of calendar days since the due date
// of the oldest part of it; 0 when nothing is overdue. Prepaid is overdue when the paid time is over, by all that is
// not paid.
func (p Present) Overdue(r accessviews.DunningRow) (money.Amount, int) {
	due, since := money.Of(0, p.Currency), calendar.Date{}
	if r.PaidUntil != nil && !p.Now.Before(*r.PaidUntil) {
		since = calendar.On(r.PaidUntil.Add(-1), p.Zone)
	}
	for _, d := range r.Owed().Overdue(p.Now, p.Zone) {
		if since.IsZero() {
			since = d.DueOn
		}
		due = due.Add(d.Amount)
	}
	if since.IsZero() {
		return due, 0
	}
	today := calendar.On(p.Now, p.Zone)
	return due, int(today.Start(time.UTC).Sub(since.Start(time.UTC)) / (24 * time.Hour))
}

// WrittenOff is the part of the overdue amount that was given up: it counts for access, and nobody asks for it.
func (p Present) WrittenOff(r accessviews.DunningRow) money.Amount {
	lost := money.Of(0, p.Currency)
	for _, d := range r.Owed().Overdue(p.Now, p.Zone) {
		lost = lost.Add(d.GivenUp)
	}
	return lost
}

// Hold is a time in which the clock of dunning stands still, because a person said so.
type Hold struct {
	From, Until time.Time
	Reason      string // "" when the subscriber was forgotten
}

// Hold is the hold of a row that has not ended; nil when there is none.
func (p Present) Hold(r accessviews.DunningRow) *Hold {
	if r.HoldFrom == nil || r.HoldUntil == nil || !p.Now.Before(*r.HoldUntil) {
		return nil
	}
	return &Hold{*r.HoldFrom, *r.HoldUntil, r.HoldReason}
}

// Stopped says why the clock of dunning stands still by itself.
type Stopped struct {
	Cause string // a code, such as "no_line"
	Since time.Time
}

// StoppedClock is the cause that stops the clock of a row for longest; nil when none does. What follows a colon in the
// cause of an event tells faults apart.
func StoppedClock(r accessviews.DunningRow) *Stopped {
	if r.StoppedFrom == nil {
		return nil
	}
	cause, _, _ := strings.Cut(r.StoppedCause, ":")
	return &Stopped{cause, *r.StoppedFrom}
}
