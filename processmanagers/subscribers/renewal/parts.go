package renewal

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// partAhead is how long before the end of the paid time a part of the price buys days: what was paid by then leaves
// nobody without access in between.
const partAhead = 15 * time.Minute

// partReason stands on credit notes over the days that a part of the price does not pay.
const partReason = "days that are not paid"

// PartPaid is the open invoice of a period of which money has paid a part, or may have done so, under terms by which
// that buys days.
type PartPaid struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	InvoiceID    id.Invoice    `json:"invoiceId"`
}

// sellsDays reports whether a part of the price buys days under the terms.
func sellsDays(t events.PlanTerms) bool {
	return t.Mode == events.Prepaid && t.PartialPayment == events.PartIsDays && !t.Period.Short()
}

// partPaid remembers the open invoice of which a part was paid, unless it was paid whole before.
func (s State) partPaid(e events.InvoiceAllocated) State {
	for subscription, sub := range s.Subscriptions {
		if sub.buysDays(e.InvoiceID) {
			return s.change(subscription, func(sub *Subscription) {
				sub.Partly = PartPaid{SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID}
			})
		}
	}
	return s
}

// buysDays reports whether a part of the price of an open invoice buys days.
func (s Subscription) buysDays(invoice id.Invoice) bool {
	return s.SellsDays && s.waitsFor(invoice) && !slices.Contains(s.Reopened, invoice)
}

// sold lets a part that is paid buy days at once, or when the paid time is nearly over: the rest may come until then.
func (s State) sold(out processmanagers.Output, subscription id.Subscription, now time.Time) processmanagers.Output {
	sub := s.Subscriptions[subscription]
	at := sub.PaidUntil.Add(-partAhead)
	switch {
	case sub.Partly.InvoiceID.IsZero() || sub.Paused:
		return out
	case at.After(now):
		out.Timers = append(out.Timers, processmanagers.Timer{Name: parting(subscription), At: at})
		return out
	}
	out.Commands = append(out.Commands, commands.SellDays{
		SubscriberID: sub.Partly.SubscriberID, SubscriptionID: subscription, InvoiceID: sub.Partly.InvoiceID,
		Reason:       partReason,
		CreditNoteID: id.Derive[id.Receipt]("part", sub.Partly.InvoiceID.String()),
	})
	return out
}

// soldFor is sold for the subscription that waits for the invoice.
func (s State) soldFor(invoice id.Invoice, now time.Time) processmanagers.Output {
	for subscription, sub := range s.Subscriptions {
		if sub.Partly.InvoiceID == invoice {
			return s.sold(processmanagers.Output{}, subscription, now)
		}
	}
	return processmanagers.Output{}
}

// parting names the timer after which a part that is paid buys days.
func parting(subscription id.Subscription) string { return "part:" + subscription.String() }
