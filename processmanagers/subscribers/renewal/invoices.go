package renewal

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// invoice lets a period follow its invoice; s is the state before the event.
func (s State) invoice(e events.Event) processmanagers.Output {
	switch e := e.(type) {
	case events.InvoicePaid:
		if e.SubscriptionID.IsZero() {
			return processmanagers.Output{}
		}
		return command(commands.ExtendSubscription{
			SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, PaidAt: e.At,
			Late: s.Subscriptions[e.SubscriptionID].Late, Part: e.Part,
		})
	case events.InvoiceReopened:
		if e.SubscriptionID.IsZero() {
			return processmanagers.Output{}
		}
		return command(commands.WithdrawPeriod{
			SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, Reason: withdrawnReason,
		})
	case events.InvoiceVoided:
		return cancel(e.SubscriptionID, e.InvoiceID)
	case events.InvoiceCancelled:
		return s.invoiceCancelled(e)
	case events.InvoiceWrittenOff:
		return cancel(e.SubscriptionID, e.InvoiceID)
	case events.InvoiceDrafted:
		return s.drafted(e.InvoiceID)
	}
	return processmanagers.Output{}
}

// cancelled lets the next period become due after one was dropped, unless it would be due at once (due): the same
// invoice, which was not wanted, would be made again. Credit on the account still makes one (renewedBy). The invoice of
// a period that never began is voided, unless it is already, and money on it becomes credit.
func (s State) cancelled(e events.PeriodCancelled, now time.Time) processmanagers.Output {
	out := s.next(e.SubscriptionID, now)
	if e.NeverBegan {
		reason := endedReason
		if _, goesOn := s.Subscriptions[e.SubscriptionID]; goesOn {
			reason = neverBeganReason
		}
		out.Commands = append(out.Commands, commands.VoidInvoice{
			SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, Reason: reason, ReleaseMoney: true,
		})
	}
	for _, c := range e.Credits { // periods of one invoice are cancelled at the same instant
		out.Commands = append(out.Commands, commands.CreditDays{
			SubscriberID: e.SubscriberID, DaysCredit: c, Reason: droppedReason,
			CreditNoteID: id.Derive[id.Receipt]("days", c.InvoiceID.String(), e.InvoiceID.String()),
		})
	}
	return out
}

// endedReason is the reason on invoices that are voided, and on credit notes over days, because their subscription
// ended.
const endedReason = "subscription ended"

// neverBeganReason is the reason on those that are voided, or whose rest is given back, while their subscription goes
// on: another plan takes their place, or nobody asks for the money any more.
const neverBeganReason = "the period never began"

// droppedReason is the reason on credit notes over the days of an upgrade in a period that never began.
const droppedReason = "days that never began"

// withdrawnReason is the reason on periods whose payment was taken back. What a person wrote about it is in the event
// of the receipt, since stored commands hold no personal text.
const withdrawnReason = "the payment was taken back"

// cancel drops the period of an invoice; the invoice of no subscription has none.
func cancel(subscription id.Subscription, invoice id.Invoice) processmanagers.Output {
	if subscription.IsZero() {
		return processmanagers.Output{}
	}
	return command(commands.CancelPeriod{SubscriptionID: subscription, InvoiceID: invoice})
}

// invoiceCancelled drops the period of an invoice, or names the corrected one as its invoice: the period is paid when
// that needs no more money, and else not.
func (s State) invoiceCancelled(e events.InvoiceCancelled) processmanagers.Output {
	if e.ReplacedBy.IsZero() || e.SubscriptionID.IsZero() {
		return cancel(e.SubscriptionID, e.InvoiceID)
	}
	out := command(commands.ReissuePeriod{
		SubscriptionID: e.SubscriptionID, InvoiceID: e.InvoiceID, CorrectedID: e.ReplacedBy,
	})
	if !e.Covered {
		out.Commands = append(out.Commands, commands.WithdrawPeriod{
			SubscriptionID: e.SubscriptionID, InvoiceID: e.ReplacedBy, Reason: withdrawnReason,
		})
		return out
	}
	out.Commands = append(out.Commands, commands.ExtendSubscription{
		SubscriptionID: e.SubscriptionID, InvoiceID: e.ReplacedBy, PaidAt: e.At,
		Late: s.Subscriptions[e.SubscriptionID].Late,
	})
	return out
}
