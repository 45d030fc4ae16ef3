// Package reportscases answers how an organization does at this moment, from the read models of all areas.
package reportscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/reports"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Sessions tells who is online. Implementations are safe for concurrent use.
type Sessions interface {
	Online(ctx context.Context, org id.Organization) (telemetry.OnlineCounts, error)
	Unheard(ctx context.Context, org id.Organization, since map[id.Device]time.Time) (map[id.Device]int, error)
	UnheardAt(ctx context.Context, org id.Organization, device id.Device, since time.Time) ([]id.Subscriber, error)
	UnheardAmong(
		ctx context.Context, org id.Organization, among []id.Subscriber, since map[id.Device]time.Time,
	) ([]telemetry.OffBehind, error)
	OnlineUnheard(ctx context.Context, org id.Organization, since map[id.Device]time.Time) (int, error)
}

// Polls has the last answers of routers. Implementations are safe for concurrent use.
type Polls interface {
	// Latest gives those of all routers of an organization for nil.
	Latest(ctx context.Context, org id.Organization, devices []id.Device) (map[id.Device]networkviews.Poll, error)
}

// Today answers how an organization does. All fields are required. Safe for concurrent use.
type Today struct {
	Settings usecases.SettingsOf
	Views    *runner.Views
	Sessions Sessions
	Polls    Polls
	// ProviderAway is since when an organization's provider of mobile money cannot be reached; zero = it can.
	ProviderAway func(ctx context.Context, org id.Organization) (time.Time, error)
	// Saves fails while nothing can be saved, because the event store or the database takes nothing.
	Saves func(ctx context.Context) error
	// Hit counts the customers of an outage of the network.
	Hit func(ctx context.Context, row outagesviews.OutageRow) (int, error)
	// Shared and SharedGone have readings that go on: whoever asks for the same meanwhile shares one.
	Shared     *joined.Reads[id.Organization, Report]
	SharedGone *joined.Reads[id.Organization, Gone]
	// Unreachable has the routers whose breakers have opened.
	Unreachable *runner.Kept[id.Organization, []networkviews.DeviceHealth]
	Clock       clock.Clock
}

// Asked chooses the parts of a report.
type Asked struct {
	Since time.Time // zero = the report tells nothing about what changed
	// Network asks for the figures of routers and services, and for their words. Without it a fault names its router
	// and says no more.
	Network bool
}

// Report is how an organization does at an instant.
type Report struct {
	Date          calendar.Date // in the organization's zone
	Zone          *time.Location
	Currency      money.Currency
	AsOf          time.Time
	Month         calendar.Date // the first day of the present month
	Money         Takings
	Overdue       billingviews.Overdue
	Suspense      []paymentsviews.CurrencySuspense
	SuspenseDays  int // after so many days money in suspense is an alarm
	Refunds       paymentsviews.OpenRefunds
	Customers     subscribersviews.Counted
	Active        int // subscriptions
	Dunning       map[events.DunningState]int
	Online        telemetry.OnlineCounts
	Unheard       int // customers of Online behind routers that do not answer
	Differences   map[events.AccessDifferenceKind]int
	Waiting       int // prompts whose outcome is not known
	Support       int // requests whose customers wait for an answer
	Approvals     int // acts that wait for a second person
	PaymentsLost  int // that failed today
	MessagesLost  int // that failed today
	Compensations Compensations
	Network       Network
	Since         Since
	Faults        []Fault // the worst first
}

// Compensations counts compensations that need a look.
type Compensations struct {
	Applying   int           // begun, and not at their end
	Failed     int           // of which some customers got nothing although the preview said otherwise
	FailedFrom calendar.Date // the day from which Failed counts, by their preview
}

// Network counts routers and services.
type Network struct {
	Up, Down, Unknown int
	Drifted           int // routers of which the setup or a service differs
	ServicesDrifted   int
	ServicesFailed    int
}

// Since counts changes after an instant. The zero value is nothing.
type Since struct {
	At    time.Time
	Money billingviews.SpanSum
	Kinds map[string]int
}

// Of reads the report of an organization. Those who ask at once share what is the same for all of them: when a payment
// comes in, every open page asks. Fails: organization_not_found.
func (u Today) Of(ctx context.Context, org id.Organization, asked Asked) (out Report, err error) {
	var since Since
	parts := []func() error{func() (err error) {
		out, err = u.Shared.Of(ctx, org, func(ctx context.Context) (Report, error) { return u.present(ctx, org) })
		return err
	}}
	if !asked.Since.IsZero() {
		parts = append(parts, func() (err error) {
			since, err = u.since(ctx, org, asked.Since)
			return err
		})
	}
	if err := loop.Each(ctx, len(parts), len(parts), func(i int) error { return parts[i]() }); err != nil {
		return Report{}, err
	}
	out.Since = since
	if !asked.Network {
		out = out.withoutNetwork()
	}
	return out, nil
}

// begin makes a report at this instant, of which nothing is read yet.
func (u Today) begin(ctx context.Context, org id.Organization) (reading, error) {
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return reading{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return reading{}, err
	}
	out := &Report{AsOf: u.Clock.Now(), Zone: zone, Currency: settings.Currency,
		SuspenseDays: usecases.SuspenseDays(settings)}
	out.Date = calendar.On(out.AsOf, zone)
	days := spansOf(out.AsOf, zone)
	out.Month = calendar.On(days.month.From, zone)
	return reading{Today: u, org: org, out: out, days: days}, nil
}

// present reads what is the same for all who ask.
func (u Today) present(ctx context.Context, org id.Organization) (Report, error) {
	r, err := u.begin(ctx, org)
	if err != nil {
		return Report{}, err
	}
	err = r.all(ctx)
	return *r.out, err
}

// since counts what changed since somebody looked.
func (u Today) since(ctx context.Context, org id.Organization, at time.Time) (Since, error) {
	r, err := u.begin(ctx, org)
	if err != nil {
		return Since{}, err
	}
	out := Since{At: within(at, r.days.lastMonth.From, r.out.AsOf)}
	sums, err := billingviews.CollectionsQuery{Views: u.Views}.Sums(ctx, org, []billingviews.Span{
		{From: out.At, Until: r.days.today.Until},
	})
	if err != nil {
		return Since{}, err
	}
	out.Money = sums[0]
	out.Kinds, err = reportsviews.ChangesQuery{Views: u.Views}.Counts(ctx, org, out.At)
	return out, err
}

// all reads everything, in two halves at once that take about as long, since each waits for the database most of the
// time. No half writes what the other one reads: the network needs the payments that wait, which money counts.
func (r reading) all(ctx context.Context) error {
	halves := [][]func(context.Context) error{
		{r.money, r.failures, r.compensations, r.network}, {r.customers, r.access},
	}
	return loop.Each(ctx, len(halves), len(halves), func(i int) error {
		for _, read := range halves[i] {
			if err := read(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// within is an instant, or the end of a time that it lies outside of.
func within(at, first, last time.Time) time.Time {
	switch {
	case at.Before(first):
		return first
	case at.After(last):
		return last
	}
	return at
}

// reading is one report while it is read.
type reading struct {
	Today
	org  id.Organization
	out  *Report
	days spans
}

// money reads what was taken, what is owed, and what waits for a person.
func (r reading) money(ctx context.Context) (err error) {
	if err := r.takings(ctx); err != nil {
		return err
	}
	r.out.Overdue, err = billingviews.InvoicesQuery{Views: r.Views}.Overdue(ctx, r.org, r.out.Date)
	if err != nil {
		return err
	}
	r.out.Suspense, err = paymentsviews.ReceiptsQuery{Views: r.Views}.SuspenseByCurrency(ctx, r.org,
		r.out.AsOf.AddDate(0, 0, -r.out.SuspenseDays))
	if err != nil {
		return err
	}
	r.out.Refunds, err = paymentsviews.RefundsQuery{Views: r.Views}.Open(ctx, r.org)
	if err != nil {
		return err
	}
	r.out.Approvals, err = billingviews.ApprovalsQuery{Views: r.Views}.Waiting(ctx, r.org)
	if err != nil {
		return err
	}
	r.out.Waiting, err = paymentsviews.PaymentsQuery{Views: r.Views}.Waiting(ctx, r.org)
	if err != nil {
		return err
	}
	return r.held(ctx)
}

// customers counts them, their subscriptions, and what they wait for.
func (r reading) customers(ctx context.Context) (err error) {
	r.out.Customers, err = subscribersviews.SubscribersQuery{Views: r.Views}.Count(ctx, r.org, r.days.month.From)
	if err != nil {
		return err
	}
	r.out.Active, err = subscribersviews.SubscriptionsQuery{Views: r.Views}.CountIn(ctx, r.org, "active")
	if err != nil {
		return err
	}
	r.out.Support, err = messagingviews.SupportQuery{Views: r.Views}.Waiting(ctx, r.org)
	return err
}

// access counts who is cut, who is online, and what differs from it.
func (r reading) access(ctx context.Context) (err error) {
	if r.out.Dunning, err = (accessviews.DunningQuery{Views: r.Views}).Counts(ctx, r.org); err != nil {
		return err
	}
	if r.out.Online, err = r.Sessions.Online(ctx, r.org); err != nil {
		return err
	}
	r.out.Differences, err = accessviews.DifferencesQuery{Views: r.Views}.Counts(ctx, r.org)
	return err
}

// failures counts what failed today.
func (r reading) failures(ctx context.Context) (err error) {
	today := r.days.today.From
	r.out.PaymentsLost, err = paymentsviews.PaymentsQuery{Views: r.Views}.FailedSince(ctx, r.org, today)
	if err != nil {
		return err
	}
	r.out.MessagesLost, err = messagingviews.MessagesQuery{Views: r.Views}.FailedSince(ctx, r.org, today)
	return err
}
