package billingcases

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// WriteOffs gives up debts. Safe for concurrent use.
type WriteOffs struct {
	Bus *bus.Bus
}

// WriteOffInput says how much of whose debt is given up.
type WriteOffInput struct {
	SubscriberID id.Subscriber
	Amount       *usecases.Figure // in the account's currency; nil = all that is due
	Reason       string           // kept with the write-off, and in the audit log
}

// WriteOff gives up what a subscriber owes, beginning with the invoice due first. It is one command, in which the
// account decides whether that is due. Under the same key a repeat gives up nothing more. More than one person may give
// away waits for a second one. Fails: subscriber_not_found, write_off_too_large, currency_mismatch, invalid_input.
func (u WriteOffs) WriteOff(ctx context.Context, asked usecases.Asked, in WriteOffInput) (bus.Result, error) {
	if _, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, asked.Org(), in.SubscriberID); err != nil {
		return bus.Result{}, err
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, u.Bus, asked.Org(), in.SubscriberID)
	if errors.Is(err, commands.ErrNoAccount()) {
		return bus.Result{}, commands.ErrNotDue() // who was never charged owes nothing
	}
	if err != nil {
		return bus.Result{}, err
	}
	amount, err := partOf(account, in.Amount)
	if err != nil {
		return bus.Result{}, err
	}
	if amount.IsZero() {
		amount = leastOf(account, account.Losable(u.Bus.Now()))
	}
	meta := asked.Meta
	meta.Reason = in.Reason
	command := commands.WriteOffDebt{
		SubscriberID: in.SubscriberID, WriteOffID: usecases.NewID[id.Receipt](asked, "write_off"), Amount: amount,
		Reason: in.Reason,
	}
	var done bus.Result
	err = usecases.Alone(ctx, u.Bus, asked, usecases.Act{
		Kind: events.ActWriteOff, SubscriberID: in.SubscriberID, Amount: amount, Reason: in.Reason,
		Command: command,
	}, func() (err error) {
		done, err = u.Bus.Execute(ctx, command, meta)
		return err
	})
	return done, err
}
