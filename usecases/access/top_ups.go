package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/usecases"
)

// TopUps adds traffic to what a plan includes. Safe for concurrent use.
type TopUps struct {
	Bus   *bus.Bus
	Store *telemetry.Store
	Clock clock.Clock
}

// TopUpInput describes traffic to add.
type TopUpInput struct {
	Bytes  int64
	Reason string          // "" = none
	Price  usecases.Figure // in the organization's currency; "" = it costs nothing
}

// MayList answers a subscription of another organization as absent, also when it has ended. Fails:
// subscription_not_found.
func (u TopUps) MayList(ctx context.Context, org id.Organization, subscription id.Subscription) error {
	_, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, org, subscription)
	return err
}

// Add lets a subscription use more bytes until its cap resets. A cap that is reached ends at once when more is allowed
// now than was used. What a prepaid customer has to pay for is only ordered, and added when it is paid. A price is
// invoiced by a process, also after a crash. Under the same key it adds and is invoiced once. Fails:
// subscription_not_found, subscription_ended, no_cap, currency_mismatch, invalid_input.
func (u TopUps) Add(
	ctx context.Context, asked usecases.Asked, subscription id.Subscription, in TopUpInput,
) (id.TopUp, bus.Result, error) {
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, asked.Org(), subscription)
	if err != nil {
		return id.TopUp{}, bus.Result{}, err
	}
	switch {
	case s.State == subscribers.Ended:
		return id.TopUp{}, bus.Result{}, failure.NewConflict("subscription_ended", "This subscription has ended.")
	case s.Terms.Access.Cap.Bytes == 0:
		return id.TopUp{}, bus.Result{}, commands.ErrNoCap()
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, asked.Org())
	if err != nil {
		return id.TopUp{}, bus.Result{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return id.TopUp{}, bus.Result{}, err
	}
	price, err := u.price(ctx, in.Price, settings.Currency, s.SubscriberID)
	if err != nil {
		return id.TopUp{}, bus.Result{}, err
	}
	c := commands.AddTopUp{
		Subject: events.UsageSubject{SubscriptionID: subscription, OrgID: s.Owner, SubscriberID: s.SubscriberID},
		TopUpID: usecases.NewID[id.TopUp](asked, "top-up"), Bytes: in.Bytes, Reason: in.Reason, Price: price,
		WhenPaid: s.Terms.Mode == events.Prepaid,
		Terms:    commands.CapTerms{Cap: s.Terms.Access.Cap, Timezone: zone.String()},
	}
	period := c.Terms.Cap.PeriodAt(u.Clock.Now(), zone)
	if c.Starts, c.Used, err = usedIn(ctx, u.Store, c.Subject, period); err != nil {
		return id.TopUp{}, bus.Result{}, err
	}
	meta := asked.Meta
	meta.Reason = in.Reason
	done, err := u.Bus.Execute(ctx, c, meta)
	return c.TopUpID, done, err
}

// Pay adds the bytes of an order whose invoice is paid, to the period that runs now. When the subscription has ended
// meanwhile, nobody can use them, and the money becomes credit.
func (u TopUps) Pay(ctx context.Context, order commands.AddPaidTopUp, meta commands.Meta) error {
	// the order was recorded for the subscription
	s, _, err := bus.LoadUnchecked[subscribers.Subscription](ctx, u.Bus, order.Subject.SubscriptionID)
	if err != nil {
		return err
	}
	if s.State == subscribers.Ended {
		return u.giveBack(ctx, order, meta)
	}
	zone, err := usecases.RecordedSettings(u.Bus).Zone(ctx, order.Subject.OrgID)
	if err != nil {
		return err
	}
	c := commands.GrantTopUp{
		Subject: order.Subject, TopUpID: order.TopUpID, Bytes: order.Bytes, Price: order.Price,
		InvoiceID: order.InvoiceID, Terms: commands.CapTerms{Cap: s.Terms.Access.Cap, Timezone: zone.String()},
	}
	period := c.Terms.Cap.PeriodAt(u.Clock.Now(), zone)
	if c.Starts, c.Used, err = usedIn(ctx, u.Store, c.Subject, period); err != nil {
		return err
	}
	_, err = u.Bus.Execute(ctx, c, meta)
	return err
}

// giveBack makes the money of a paid order credit. What was given back before, by a credit note or by a repeat, is not
// given again.
func (u TopUps) giveBack(ctx context.Context, order commands.AddPaidTopUp, meta commands.Meta) error {
	prefix, err := usecases.NotePrefix(ctx, u.Bus, order.Subject.OrgID)
	if err != nil {
		return err
	}
	_, err = u.Bus.Execute(ctx, commands.VoidInvoice{
		SubscriberID: order.Subject.SubscriberID, InvoiceID: order.InvoiceID, Reason: "subscription ended",
		ReleaseMoney: true, NotePrefix: prefix,
	}, meta)
	return err
}

// price reads a price. It must be in the currency of the customer's account, or its invoice could not be drafted.
func (u TopUps) price(
	ctx context.Context, in usecases.Figure, currency money.Currency, subscriber id.Subscriber,
) (money.Amount, error) {
	if in == "" {
		return money.Amount{}, nil
	}
	var f failure.Faults
	price := in.In(currency, "price", &f)
	if err := f.Err(); err != nil {
		return price, err
	}
	// the subscription is the organization's
	account, _, err := bus.LoadUnchecked[billing.Account](ctx, u.Bus, subscriber)
	if err == nil && account.Exists() && account.Currency != currency && price.Positive() {
		err = failure.NewConflict("currency_mismatch", "Accounts of this organization are kept in %s.",
			string(account.Currency))
	}
	return price, err
}
