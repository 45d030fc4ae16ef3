package billingviews

import (
	"slices"

	"github.com/lastmile-isp/lastmile/events"
)

// placing names the events that tell where the periods of invoices lie.
func placing() []string { return append(events.MovingTypes(), events.PeriodReissued{}.EventType()) }

// places lists where the periods of invoices lie since an event of their subscription; nil when it tells none. The
// period that the event is about comes first. A withdrawn or cancelled one has no place, unless one that follows in the
// list gives it one.
func places(e events.Event) []events.PeriodPlace {
	_, moved := events.Moved(e)
	switch v := e.(type) {
	case events.SubscriptionExtended:
		return slices.Insert(slices.Clone(moved), 0,
			events.PeriodPlace{InvoiceID: v.InvoiceID, From: v.From, To: v.To})
	case events.PeriodWithdrawn:
		return slices.Insert(slices.Clone(moved), 0, events.PeriodPlace{InvoiceID: v.InvoiceID})
	case events.PeriodCancelled:
		return slices.Insert(slices.Clone(moved), 0, events.PeriodPlace{InvoiceID: v.InvoiceID})
	case events.PeriodReissued:
		return []events.PeriodPlace{{InvoiceID: v.InvoiceID}, {InvoiceID: v.CorrectedID, From: v.From, To: v.To}}
	}
	return moved
}
