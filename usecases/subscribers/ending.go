package subscriberscases

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Ending says what becomes of the unpaid invoices of a subscription when it ends, those first that are due first.
type Ending struct {
	StaysDue []EndingInvoice // for periods that have begun, and for what was sold to it
	Voided   []EndingInvoice // for time that never began, and orders; also those given back by a credit note
	Credited []EndingCredit  // for days that will not be used
	Charged  []EndingCharge  // on invoices that the end makes: used days of late periods, and charges of no period
}

// EndingCharge is a charge of the invoice that an end makes.
type EndingCharge struct {
	Description string
	Amount      money.Amount // by the organization's tax rule
}

// EndingCredit is the part of an invoice that an end gives back. What of it was paid pays what else is owed, or becomes
// credit.
type EndingCredit struct {
	ID     id.Invoice
	Number string // "" for a draft
	Days   int    // from today on
	Of     int    // days of the period
	Amount money.Amount
}

// EndingInvoice is an invoice that is not paid, or not whole.
type EndingInvoice struct {
	ID     id.Invoice
	Number string // "" for a draft
	Total  money.Amount
	Due    money.Amount // of a draft its total; less what drafted credit notes cover or pay, where it stays due
	Paid   money.Amount // by receipts; pays what else is owed, or becomes credit, when it is voided
	DueOn  calendar.Date
	seq    int
}

// Ending tells what an end at this moment would do, and changes nothing. Which periods an end drops is asked of the
// subscription itself; all is read from the log, so that it holds for what was written just before. Fails:
// subscription_not_found.
func (u Subscriptions) Ending(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (*Ending, error) {
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, u.Bus, org, subscription)
	if err != nil {
		return nil, err
	}
	account, _, err := bus.LoadOwned[billing.Account](ctx, u.Bus, org, s.SubscriberID)
	if err != nil && !errors.Is(err, commands.ErrNoAccount()) { // who was never charged owes nothing
		return nil, err
	}
	dropped, unused, charges, late := s.Ending(u.Clock.Now())
	for _, wrong := range dropped { // its credit note may wait for a number
		dropped = append(dropped, account.InPlaceOf(wrong))
	}
	out := Ending{Credited: credited(account, unused)}
	for _, p := range late {
		out.Charged = append(out.Charged, EndingCharge{Description: p.PlanName, Amount: p.Amount})
	}
	for _, x := range charges {
		out.Charged = append(out.Charged, EndingCharge{Description: s.ExtraCalled(x.ID), Amount: x.Amount})
	}
	voided := func(invoice id.Invoice, i billing.Invoice) bool {
		return i.Order && s.State != subscribers.Ended || slices.Contains(dropped, invoice)
	}
	for _, one := range unpaid(account, subscription) {
		if voided(one.ID, account.Invoices[one.ID]) {
			out.Voided = append(out.Voided, one)
		}
	}
	later := account.Numbered(u.Clock.Now()) // a wrong invoice and the corrected one are not both owed
	for _, one := range unpaid(later, subscription) {
		if voided(one.ID, later.Invoices[one.ID]) {
			continue
		}
		one.Number = account.NumberOf(one.ID)
		for _, c := range out.Credited {
			if c.ID == one.ID {
				one.Due = one.Due.Sub(c.Amount.Min(one.Due))
			}
		}
		if one.Due.Positive() {
			out.StaysDue = append(out.StaysDue, one)
		}
	}
	slices.SortFunc(out.StaysDue, dueFirst)
	slices.SortFunc(out.Voided, dueFirst)
	return &out, nil
}

// unpaid lists the invoices of a subscription of which something is due, in any order.
func unpaid(account billing.Account, subscription id.Subscription) (list []EndingInvoice) {
	for invoice, i := range account.Invoices {
		if i.SubscriptionID != subscription && i.SoldTo != subscription {
			continue
		}
		one := EndingInvoice{
			ID: invoice, Number: i.Number, Total: i.Total, Due: i.Due, Paid: account.PaidOn(invoice), DueOn: i.DueOn,
			seq: i.Seq,
		}
		if i.Seq == 0 {
			one.Due = i.Total
		}
		list = append(list, one)
	}
	return list
}

// credited tells what the days would give back, without invoices of which nothing is left.
func credited(account billing.Account, unused []events.DaysCredit) []EndingCredit {
	var list []EndingCredit
	for _, c := range unused {
		if amount := account.Share(c); amount.Positive() {
			of := account.InPlaceOf(c.InvoiceID)
			list = append(list, EndingCredit{
				ID: of, Number: account.NumberOf(of), Days: c.Days, Of: c.Of, Amount: amount,
			})
		}
	}
	return list
}

// dueFirst orders invoices as they are paid: by due date, then as they were issued.
func dueFirst(a, b EndingInvoice) int {
	return cmp.Or(cmp.Compare(a.DueOn.String(), b.DueOn.String()), cmp.Compare(a.seq, b.seq))
}
