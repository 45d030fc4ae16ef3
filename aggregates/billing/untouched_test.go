package billing_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// comesLater is an event that no list knows yet.
type comesLater struct{}

// EventType is a name that is not in use.
func (comesLater) EventType() string { return "test.ComesLater.v1" }

// happened is an event of a history, in what a correlation names.
func happened(e events.Event, by events.ActorKind, in string) events.Envelope {
	return events.Envelope{Event: e, Meta: events.Metadata{Actor: events.Actor{Kind: by}, CorrelationID: in}}
}

// TestUntouched_ListsWhatMayHappenAfterAnImport: whatever else is there was done by a person, or is not known.
func TestUntouched_ListsWhatMayHappenAfterAnImport(t *testing.T) {
	t.Parallel()
	batch, run, other := id.New[id.Batch](), id.New[id.BillingRun](), id.New[id.Command]().String()
	line, payment := id.New[id.Subscription](), id.New[id.Payment]()
	period := events.InvoiceDrafted{SubscriptionID: line, RunID: run}
	corrected := period
	corrected.Replaces = id.New[id.Invoice]()
	reserved := happened(events.PromptReserved{PaymentID: payment}, events.ActorUser, other)
	// of makes the history of one event.
	of := func(e events.Event, by events.ActorKind) []events.Envelope {
		return []events.Envelope{happened(e, by, other)}
	}
	for _, c := range []struct {
		name string
		list []events.Envelope
		want string
	}{
		{"nothing", nil, ""},
		{"an invoice of a period", of(period, events.ActorUser), ""},
		{"its number", of(events.InvoiceIssued{}, events.ActorProcess), ""},
		{"credit of the import pays it", of(events.InvoiceAllocated{}, events.ActorProcess), ""},
		{"whole", of(events.InvoicePaid{}, events.ActorProcess), ""},
		{"credit that is left", of(events.CreditLeft{}, events.ActorProcess), ""},
		{"voided as the service expired", of(events.InvoiceVoided{}, events.ActorProcess), ""},
		{"voided with its run", []events.Envelope{
			happened(period, events.ActorProcess, run.String()),
			happened(events.AllocationWithdrawn{}, events.ActorUser, run.String()),
			happened(events.InvoiceVoided{}, events.ActorUser, run.String()),
		}, ""},
		{"a payment that came to nothing", []events.Envelope{
			reserved, happened(events.PromptReleased{PaymentID: payment}, events.ActorProvider, other),
		}, ""},

		{"a payment on its way", []events.Envelope{reserved}, "paid_since"},
		{"money", of(events.ReceiptCredited{}, events.ActorProvider), "paid_since"},
		{"an invoice by hand, or a top-up", of(events.InvoiceDrafted{}, events.ActorUser), "corrected_since"},
		{"a corrected invoice", of(corrected, events.ActorUser), "corrected_since"},
		{"voided by hand", of(events.InvoiceVoided{}, events.ActorUser), "corrected_since"},
		{"credit is freed by hand", of(events.AllocationWithdrawn{}, events.ActorUser), "corrected_since"},
		{"a credit note", of(events.CreditNoteDrafted{}, events.ActorUser), "corrected_since"},
		{"a number of it", of(events.CreditNoteIssued{}, events.ActorProcess), "corrected_since"},
		{"a write-off", of(events.DebtWrittenOff{}, events.ActorUser), "corrected_since"},
		{"a refund", of(events.CreditSetAside{}, events.ActorUser), "corrected_since"},
		{"credit is taken away", of(events.ReceiptWithdrawn{}, events.ActorUser), "corrected_since"},
		{"a balance of another import", of(events.BalanceCarriedOver{}, events.ActorUser), "corrected_since"},
		{"an account of years", of(events.AccountPeriodClosed{}, events.ActorProcess), "corrected_since"},
		{"an event that is new", of(comesLater{}, events.ActorProcess), "corrected_since"},
	} {
		err := billing.Untouched(c.list, batch)
		if failure.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		for i := range c.list {
			c.list[i].Meta.CorrelationID = batch.String() // the import has made it, or its undo
		}
		if err := billing.Untouched(c.list, batch); err != nil {
			t.Errorf("%s, in the import: %v", c.name, err)
		}
	}
}
