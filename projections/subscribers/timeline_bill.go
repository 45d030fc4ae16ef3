package subscribersviews

import "github.com/lastmile-isp/lastmile/events"

// ofBill describes what becomes of an invoice at the provider's bill manager. What only leads there is on its own page.
func ofBill(e events.BillEvent) happening {
	of := events.BillOf(e)
	switch v := e.(type) {
	case events.BillSent:
		return ofInvoice(of.SubscriberID, of.InvoiceID, "", says("bill_sent", Facts{}))
	case events.BillFailed:
		return ofInvoice(of.SubscriberID, of.InvoiceID, v.Message.Reveal(), says("bill_failed", Facts{}))
	case events.BillCancelled:
		return ofInvoice(of.SubscriberID, of.InvoiceID, "", says("bill_cancelled", Facts{}))
	case events.BillAcknowledged:
		told := says("bill_acknowledged", sum(v.Amount))
		if v.Refused != "" {
			told = says("bill_not_acknowledged", sum(v.Amount))
		}
		return ofInvoice(of.SubscriberID, of.InvoiceID, "", told)
	case events.BillQueued, events.BillOffered, events.BillFreed, events.BillDelayed, events.BillRecalled,
		events.BillSettled, events.BillReopened, events.BillPaid:
	}
	return happening{}
}
