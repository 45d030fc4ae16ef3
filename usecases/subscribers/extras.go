package subscriberscases

import (
	"context"
	"strconv"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Extras adds charges, add-ons and discounts to subscriptions. Safe for concurrent use.
type Extras struct{ Bus *bus.Bus }

// ExtraInput describes an extra of a subscription (docs/rules/subscribers.md#extras).
type ExtraInput struct {
	SubscriptionID id.Subscription
	Kind           events.ExtraKind
	Description    string
	Amount         usecases.Figure // in the currency of the subscription's plan
	Percent        string          // a decimal number of percent, in the place of Amount; "" = none
	Periods        int             // 0 = no limit
	Until          calendar.Date   // zero = no end
	id             id.Extra
}

// Remove takes an extra of a kind off the next invoices. Fails: subscription_not_found, and as RemoveExtra.
func (u Extras) Remove(
	ctx context.Context, asked usecases.Asked, subscription id.Subscription, extra id.Extra, kind events.ExtraKind,
) (bus.Result, error) {
	if _, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, asked.Org(), subscription); err != nil {
		return bus.Result{}, err
	}
	return u.Bus.Execute(ctx, commands.RemoveExtra{SubscriptionID: subscription, ExtraID: extra, Kind: kind},
		asked.Meta)
}

// Add adds an extra. Under the same key a repeat gives that of the first try. Fails: subscription_not_found, and as
// AddExtra.
func (u Extras) Add(ctx context.Context, asked usecases.Asked, in ExtraInput) (id.Extra, bus.Result, error) {
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, asked.Org(), in.SubscriptionID)
	if err != nil {
		return id.Extra{}, bus.Result{}, err
	}
	in.id = usecases.NewID[id.Extra](asked, "extra")
	command, err := in.command(s.Terms.Price.Currency)
	if err != nil {
		return id.Extra{}, bus.Result{}, err
	}
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	return in.id, done, err
}

// command asks for the extra, with its amount in a currency.
func (in ExtraInput) command(currency money.Currency) (commands.AddExtra, error) {
	extra := events.Extra{ID: in.id, Kind: in.Kind, Periods: in.Periods, Until: in.Until}
	var faults failure.Faults
	if in.Percent != "" {
		extra.BasisPoints = usecases.BasisPoints(in.Percent, "percent", &faults)
		faults.Check(in.Amount == "", "amount", "must be absent beside percent")
	} else {
		extra.Amount = in.Amount.In(currency, "amount", &faults)
	}
	if extra.Kind == events.ChargeExtra {
		extra.Periods = 1
	}
	return commands.AddExtra{
		SubscriptionID: in.SubscriptionID, Extra: extra, Description: personal.Of(inputtext.Text(in.Description)),
	}, faults.Err()
}

// newExtras are those of a subscription that is made with them. Their ids follow from it, so that a repeat makes the
// same.
func newExtras(
	subscription id.Subscription, list []ExtraInput, currency money.Currency,
) (made []commands.AddExtra, err error) {
	for i, in := range list {
		in.SubscriptionID = subscription
		in.id = id.Derive[id.Extra]("first", subscription.String(), strconv.Itoa(i))
		command, fault := in.command(currency)
		err = failure.JoinFaults(err, fault)
		made = append(made, command)
	}
	return made, err
}
