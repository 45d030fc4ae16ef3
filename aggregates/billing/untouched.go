package billing

import (
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Untouched refuses an account that is not as an import has left it, by its history: beside what the import and its
// undo do there are only invoices of periods, and what credit of the import pays. It lists what may be there, so that
// an event that is new, or that a person causes, keeps the customer. Source: docs/rules/billing.md#undo. Fails:
// paid_since, corrected_since.
func Untouched(history []events.Envelope, batch id.Batch) error {
	open := map[id.Payment]bool{}
	runs := map[string]bool{}
	for _, e := range history {
		if e.Meta.CorrelationID == batch.String() {
			continue
		}
		switch of := e.Event.(type) {
		case events.AccountOpened, events.InvoiceIssued, events.InvoiceAllocated, events.InvoicePaid, events.CreditLeft:
		case events.InvoiceDrafted:
			if of.SubscriptionID.IsZero() || !of.Replaces.IsZero() {
				return commands.ErrCorrectedSince()
			}
			runs[of.RunID.String()] = !of.RunID.IsZero()
		case events.InvoiceVoided, events.AllocationWithdrawn: // with a service that expired, or with a billing run
			if e.Meta.Actor.Answers() && !runs[e.Meta.CorrelationID] {
				return commands.ErrCorrectedSince()
			}
		case events.PromptReserved:
			open[of.PaymentID] = true
		case events.PromptReleased:
			delete(open, of.PaymentID)
		case events.ReceiptCredited:
			return errPaidSince()
		default:
			return commands.ErrCorrectedSince()
		}
	}
	if len(open) > 0 {
		return errPaidSince()
	}
	return nil
}

// errPaidSince refuses a customer who has paid, or pays now.
func errPaidSince() error {
	return failure.NewConflict("paid_since", "The customer has paid since, or is paying now.")
}
