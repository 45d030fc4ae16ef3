// Package bills takes invoices to the bill manager of the provider, and follows what is paid.
//
// Process "bill_queue", one instance for each organization that uses the bill manager or has its documents signed by a
// tax authority, so that the order of the log decides which invoices go there, and that an invoice goes only signed:
//
//	invoice issued, or signed where that is needed ──► QueueBill
//	own shortcode configured, also while it is off ──► LeaveBillManager
//
// Process "bills", one instance for each bill until it has ended:
//
//	queued ──► (sent by the job TendBills) ──► cancelled
//	   │
//	   ├── invoice paid                      ──► SettleBill
//	   ├── invoice voided, credited whole, or written off with no money on it ──► RecallBill
//	   └── a part of it credited             ──► RecallBill, and sent again with what is due then
//
//	invoice due again                        ──► ReopenBill
//	payment reported by the bill manager     ──► ReportBill ──► PayBill
//
// What is to be done at the bill manager is found in the read model of bills, so the job needs no event: the wait for
// it is that of the read model. Source: docs/rules/payments-billmanager.md#states.
package bills

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Organization is the state of a "bill_queue" instance.
type Organization struct {
	On     bool `json:"on"`
	Signed bool `json:"signed,omitempty"` // its documents are signed by the tax authority
}

// QueueProcess queues what is issued while the bill manager is on.
func QueueProcess() processmanagers.Process[Organization] {
	return processmanagers.Process[Organization]{
		Name: "bill_queue",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.BillManagerConfigured) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.TaxGatewayConfigured) string { return e.OrgID.String() }),
			processmanagers.Follow(func(e events.GatewayConfigured) string { return e.OrgID.String() }),
			processmanagers.Follow(func(e events.InvoiceIssued) string { return e.OrgID.String() }),
			processmanagers.Follow(func(e events.DocumentSigned) string { return e.OrgID.String() }),
		},
		Decide: decideQueue, Evolve: evolveQueue,
		Ended: func(s Organization) bool { return !s.On && !s.Signed },
	}
}

// evolveQueue follows the settings.
func evolveQueue(s Organization, in processmanagers.Input) Organization {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.BillManagerConfigured:
		s.On = e.On
	case events.TaxGatewayConfigured:
		s.Signed = e.On
	}
	return s
}

// decideQueue queues an invoice when the bill manager is on. Who takes money on a shortcode of its own leaves it, also
// when it was turned off before: what was sent until then is there still. An order is no document for the tax authority
// before it is paid, so it goes at once.
func decideQueue(s Organization, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	var wanted commands.Command
	switch e := in.Event.Event.(type) {
	case events.GatewayConfigured:
		if e.Direct {
			wanted = commands.LeaveBillManager{OrgID: e.OrgID}
		}
	default:
		wanted = queues(s, e)
	}
	if wanted == nil {
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{Commands: []commands.Command{wanted}}, nil
}

// queues is the command that queues the invoice of an event; nil for none.
func queues(s Organization, event events.Event) commands.Command {
	if !s.On {
		return nil
	}
	switch e := event.(type) {
	case events.InvoiceIssued:
		if (!s.Signed || e.Order) && e.Total.Positive() {
			return commands.QueueBill{BillSubject: events.BillSubject{
				OrgID: e.OrgID, SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, Number: e.Number,
			}}
		}
	case events.DocumentSigned:
		if e.Document == events.TaxInvoice {
			return commands.QueueBill{BillSubject: events.BillSubject{
				OrgID: e.OrgID, SubscriberID: e.SubscriberID, InvoiceID: e.InvoiceID, Number: e.Number,
			}}
		}
	}
	return nil
}

// Bill is the state of a "bills" instance.
type Bill struct {
	Live         bool `json:"live"` // it is, or may be, at the bill manager, or waits to be
	Settled      bool `json:"settled,omitempty"`
	Acknowledged bool `json:"acknowledged,omitempty"`
}

// Process follows what becomes of the invoices of bills.
func Process() processmanagers.Process[Bill] {
	return processmanagers.Process[Bill]{
		Name: "bills",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.BillQueued) string { return e.InvoiceID.String() }),
			processmanagers.On(func(e events.BillReopened) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.BillCancelled) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.BillAcknowledged) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoicePaid) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoiceCancelled) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoiceWrittenOff) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.CreditNoteIssued) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoiceReopened) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.InvoiceVoided) string {
				if !e.WasIssued {
					return ""
				}
				return e.InvoiceID.String()
			}),
			processmanagers.Follow(func(e events.ReceiptRecorded) string { return e.ReceiptID.String() }),
			processmanagers.Follow(func(e events.ReceiptSighted) string { return e.ReceiptID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s Bill) bool { return !s.Live || s.Settled && s.Acknowledged },
	}
}

// evolve keeps an instance for as long as the bill manager may ask for the money.
func evolve(s Bill, in processmanagers.Input) Bill {
	if in.Event == nil {
		return s
	}
	switch in.Event.Event.(type) {
	case events.BillQueued:
		s = Bill{Live: true}
	case events.BillReopened: // of one that was paid, in part at the bill manager, the instance may be over
		s.Acknowledged = s.Acknowledged || !s.Live
		s.Live, s.Settled = true, false
	case events.BillCancelled:
		s.Live = false
	case events.BillAcknowledged:
		s.Acknowledged = true
	case events.InvoicePaid:
		s.Settled = true
	case events.InvoiceReopened:
		s.Settled = false
	}
	return s
}

// decide follows the invoice of a bill, and finds the bill of a payment.
func decide(s Bill, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	var out processmanagers.Output
	if in.Event == nil {
		return out, nil
	}
	switch e := in.Event.Event.(type) {
	case events.InvoicePaid:
		if s.Live {
			out.Commands = []commands.Command{commands.SettleBill{InvoiceID: e.InvoiceID}}
		}
	case events.InvoiceCancelled:
		if s.Live {
			out.Commands = []commands.Command{commands.RecallBill{InvoiceID: e.InvoiceID, Reason: events.BillVoided}}
		}
	case events.CreditNoteIssued:
		if s.Live && !s.Settled {
			out.Commands = []commands.Command{commands.RecallBill{InvoiceID: e.InvoiceID, Reason: events.BillChanged}}
		}
	case events.InvoiceVoided:
		if s.Live {
			out.Commands = []commands.Command{commands.RecallBill{InvoiceID: e.InvoiceID, Reason: events.BillVoided}}
		}
	case events.InvoiceWrittenOff:
		if s.Live {
			out.Commands = []commands.Command{commands.RecallBill{InvoiceID: e.InvoiceID, Reason: events.BillVoided}}
		}
	case events.InvoiceReopened:
		out.Commands = []commands.Command{commands.ReopenBill{InvoiceID: e.InvoiceID}}
	case events.ReceiptRecorded:
		if e.Sighting == commands.SightingBillManager {
			out.Jobs = []commands.Job{commands.ReportBill{ReceiptID: e.ReceiptID, At: e.RecordedAt}}
		}
	case events.ReceiptSighted:
		if e.Sighting == commands.SightingBillManager {
			out.Jobs = []commands.Job{commands.ReportBill{ReceiptID: e.ReceiptID, At: e.At}}
		}
	}
	return out, nil
}
