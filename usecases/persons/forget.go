// Package personscases has what a person may ask for: to be told what is kept of them, and to be forgotten. Source:
// docs/rules/subscribers.md#forgetting.
package personscases

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Forgetting forgets customers. Every field is required. Safe for concurrent use.
type Forgetting struct {
	Bus   *bus.Bus
	Views *runner.Views
}

// closing stands in the event that closes the account; what the administrator has written does not.
const closing = "the customer is to be forgotten"

// Forget closes the account, unless something is open, and then forgets the customer. From the event of the first step
// on a process goes on with it, whatever becomes of this request. A repeat changes nothing.
//
// Fails: subscriber_not_found, invalid_input where the reason names the person, account_closed for a customer whom the
// undo of an import is removing, and as commands.ErrMoneyOpen.
func (f Forgetting) Forget(
	ctx context.Context, asked usecases.Asked, of id.Subscriber, reason string,
) (bus.Result, error) {
	customer, err := f.owned(ctx, asked.Org(), of)
	if err != nil || customer.Forgotten {
		return bus.Result{}, err
	}
	if err := checkReason(customer, reason); err != nil {
		return bus.Result{}, err
	}
	open, err := f.Open(ctx, asked.Org(), of)
	switch {
	case err != nil:
		return bus.Result{}, err
	case len(open) > 0:
		return bus.Result{}, commands.ErrMoneyOpen(open[0])
	}
	_, err = f.Bus.Execute(ctx, commands.CloseAccount{
		SubscriberID: of, OrgID: asked.Org(), Currency: customer.Currency, Reason: closing, Forget: true,
	}, asked.Step("close the account"))
	if err != nil {
		return bus.Result{}, err
	}
	return f.Bus.Execute(ctx, commands.ForgetSubscriber{SubscriberID: of, Reason: reason}, asked.Meta)
}

// owned finds a customer of the organization, also one who is forgotten. Fails: subscriber_not_found.
func (f Forgetting) owned(
	ctx context.Context, org id.Organization, of id.Subscriber,
) (subscribers.Subscriber, error) {
	customer, _, err := bus.LoadUnchecked[subscribers.Subscriber](ctx, f.Bus, of)
	if err == nil && (customer.ID.IsZero() || customer.Owner != org) {
		err = commands.ErrNoSubscriber()
	}
	return customer, err
}

// shortestName is the length from which on a name counts that stands in a reason.
const shortestName = 3

// checkReason refuses a reason that names the person: it stays when the person is forgotten.
func checkReason(customer subscribers.Subscriber, reason string) error {
	d, named := customer.Details, false
	for _, word := range []string{
		d.FirstName.Reveal(), d.LastName.Reveal(), d.Email.Reveal(), d.ExternalRef.Reveal(), d.TaxPIN.Reveal(),
		d.Address.Reveal(),
	} {
		named = named || len(word) >= shortestName && strings.Contains(strings.ToLower(reason), strings.ToLower(word))
	}
	known := newTraces()
	known.phone(d.Phone)
	known.phone(d.SecondPhone)
	named = named || known.hasPhone(strings.ToLower(reason))
	var faults failure.Faults
	faults.Check(!named, "reason", "must not name the person, because it is kept")
	faults.Check(strings.TrimSpace(reason) != "", "reason", "is required")
	return faults.Err()
}

// Open lists what keeps a customer from being forgotten: the account and the services by the log, the receipts that are
// in doubt or not booked yet, and the acts that a second person has not decided about, or that are being done. Nothing
// does for one who is forgotten. Fails: subscriber_not_found, runner.ErrBehind.
func (f Forgetting) Open(ctx context.Context, org id.Organization, of id.Subscriber) ([]commands.MoneyOpen, error) {
	customer, err := f.owned(ctx, org, of)
	if err != nil || customer.Forgotten {
		return nil, err
	}
	account, _, err := bus.LoadUnchecked[billing.Account](ctx, f.Bus, of) // of the customer above
	if err != nil {
		return nil, err
	}
	list := account.Open()
	doubt, waits, err := f.readOpen(ctx, org, of)
	if err != nil {
		return nil, err
	}
	if doubt {
		list = append(list, commands.OpenReceipt)
	}
	if waits {
		list = append(list, commands.OpenApproval)
	}
	services, err := f.services(ctx, org, of)
	if err != nil {
		return nil, err
	}
	for _, service := range services {
		if service.State != subscribers.Ended {
			return append(list, commands.OpenService), nil
		}
	}
	return list, nil
}

// SQL of what is open beside the account.
const (
	inDoubtSQL = `
select exists (select from {schema}.receipts where subscriber_id = $1 and (disputed or state = 'recorded'
		or state = 'matched' and credited_to is null)
	or reason_of = $1 and state = 'suspense')`
	waitsSQL = `
select exists (select from {schema}.approvals where org_id = $2 and state in ('waiting', 'approved')
	and (subscriber_id = $1 or (act->>'toId')::uuid = $1))`
)

// readOpen looks for money of which it is not settled whose it is, or that is not booked yet, and for acts that wait
// for a second person. What was recorded a moment ago counts, so it waits until the read models show all of the log.
func (f Forgetting) readOpen(
	ctx context.Context, org id.Organization, of id.Subscriber,
) (doubt, waits bool, err error) {
	at := func(context.Context) (bool, error) { return true, nil }
	for _, model := range []string{
		paymentsviews.ReceiptsName, billingviews.ApprovalsName, subscribersviews.SubscriptionsName,
	} {
		whole, err := f.Views.WaitWhole(ctx, model, at)
		switch {
		case err != nil:
			return false, false, err
		case !whole:
			return false, false, runner.ErrBehind
		}
	}
	err = f.Views.Snapshot(ctx, org, func(tx pgx.Tx) error {
		return errors.Join(
			tx.QueryRow(ctx, f.Views.SQL(paymentsviews.ReceiptsName, inDoubtSQL), of).Scan(&doubt),
			tx.QueryRow(ctx, f.Views.SQL(billingviews.ApprovalsName, waitsSQL), of, org).Scan(&waits),
		)
	})
	return doubt, waits, err
}

// servicesPage is how many services are listed in one step.
const servicesPage = 100

// services reads the services of a customer from the log, those that have ended too.
func (f Forgetting) services(
	ctx context.Context, org id.Organization, of id.Subscriber,
) ([]subscribers.Subscription, error) {
	var list []subscribers.Subscription
	var after subscribersviews.SubscriptionKey
	for {
		rows, err := subscribersviews.SubscriptionsQuery{Views: f.Views}.List(
			ctx, org, subscribersviews.SubscriptionFilter{Subscriber: of}, after, servicesPage)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row.Key()
			state, _, err := bus.LoadUnchecked[subscribers.Subscription](ctx, f.Bus, row.ID) // of the customer
			if err != nil {
				return nil, err
			}
			list = append(list, state)
		}
		if len(rows) < servicesPage {
			return list, nil
		}
	}
}
