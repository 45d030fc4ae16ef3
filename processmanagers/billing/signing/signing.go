// Package signing takes issued documents to the tax gateway of their organization.
//
// Process "signature_queue", one instance for each organization while its gateway is on, so that the order of the log
// decides which documents are signed:
//
//	invoice or credit note issued, order paid ──► QueueSignature
//	invoice voided ──► VoidSignature ──► withdrawn, or cancellation due
//
// The two are of one instance, so that a document which waits here is queued before it is voided. A voided invoice of
// an organization without a gateway has no document, and the command changes nothing.
//
// Process "signing", one instance for each invoice that waits for its signature. A credit note and a cancellation name
// the signed invoice, so they wait here until that is signed, too:
//
//	                    ┌── retried ──┐
//	                    ▼             │
//	queued ──► SignDocument ──► refused (a person repairs it)
//	                    │
//	                    └──► signed ──► SignDocument for what has waited
//
//	cancellation due ──► QueueSignature of the cancellation
//
// The wait for the gateway is that of the job, which is tried until there is an outcome; that for a person is listed
// with the refused documents. Source: docs/rules/billing-tax.md#states.
package signing

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Organization is the state of a "signature_queue" instance; there is none while the gateway is off.
type Organization struct {
	On       bool `json:"on"`
	Messages bool `json:"messages,omitempty"` // customers are told of signed invoices
}

// QueueProcess queues what is issued while the gateway is on.
func QueueProcess() processmanagers.Process[Organization] {
	return processmanagers.Process[Organization]{
		Name: "signature_queue",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.TaxGatewayConfigured) string { return e.OrgID.String() }),
			processmanagers.Follow(func(e events.InvoiceIssued) string {
				if e.Order { // it is an invoice when it is paid
					return ""
				}
				return e.OrgID.String()
			}),
			processmanagers.Follow(func(e events.InvoicePaid) string { return e.OrgID.String() }),
			processmanagers.Follow(func(e events.CreditNoteIssued) string {
				if e.Order { // it is queued with its order
					return ""
				}
				return e.OrgID.String()
			}),
			{Type: events.InvoiceVoided{}.EventType(), Key: voidedOf, Follows: true},
		},
		Decide: decideQueue, Evolve: evolveQueue,
		Ended: func(s Organization) bool { return !s.On },
	}
}

// voidedOf is the organization of a voided invoice, which only the metadata name; "" for a voided draft.
func voidedOf(e events.Envelope) string {
	if v, _ := e.Event.(events.InvoiceVoided); !v.WasIssued {
		return ""
	}
	return e.Meta.OrgID.String()
}

// evolveQueue follows the settings.
func evolveQueue(s Organization, in processmanagers.Input) Organization {
	if in.Event == nil {
		return s
	}
	if e, ok := in.Event.Event.(events.TaxGatewayConfigured); ok {
		return Organization{On: e.On, Messages: e.On && e.Messages}
	}
	return s
}

// decideQueue queues a document when the gateway is on, and takes that of a voided invoice back: also when the gateway
// was turned off meanwhile.
func decideQueue(s Organization, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	if e, voided := in.Event.Event.(events.InvoiceVoided); voided {
		return processmanagers.Output{Commands: []commands.Command{
			commands.VoidSignature{SignatureID: id.As[id.Signature](e.InvoiceID)},
		}}, nil
	}
	if !s.On {
		return processmanagers.Output{}, nil
	}
	var out processmanagers.Output
	for _, queue := range queues(in.Event.Event) {
		queue.Messages = s.Messages && queue.Document == events.TaxInvoice
		out.Commands = append(out.Commands, queue)
	}
	return out, nil
}

// queues lists the documents that an event makes, in the order in which they are signed. An order that is paid makes an
// invoice and the notes that were issued over it.
func queues(e events.Event) []commands.QueueSignature {
	switch e := e.(type) {
	case events.InvoiceIssued:
		of := invoice(e.OrgID, e.SubscriberID, e.InvoiceID, e.Number)
		return []commands.QueueSignature{{SignatureSubject: of, Total: e.Total, IssuedAt: e.IssuedAt}}
	case events.InvoicePaid:
		if e.Ordered.Number == "" { // it was no order
			break
		}
		of := invoice(e.OrgID, e.SubscriberID, e.InvoiceID, e.Ordered.Number)
		list := []commands.QueueSignature{{SignatureSubject: of, Total: e.Ordered.Total, IssuedAt: e.At}}
		for _, n := range e.Ordered.Notes {
			list = append(list, commands.QueueSignature{
				SignatureSubject: note(of, n.CreditNoteID, n.Number), Total: n.Amount, IssuedAt: e.At,
			})
		}
		return list
	case events.CreditNoteIssued:
		of := note(invoice(e.OrgID, e.SubscriberID, e.InvoiceID, ""), e.CreditNoteID, e.Number)
		return []commands.QueueSignature{{SignatureSubject: of, Total: e.Amount, IssuedAt: e.IssuedAt}}
	}
	return nil
}

// invoice names an invoice, whose signature has its id.
func invoice(
	org id.Organization, subscriber id.Subscriber, which id.Invoice, number string,
) events.SignatureSubject {
	return events.SignatureSubject{
		SignatureID: id.As[id.Signature](which), OrgID: org, SubscriberID: subscriber, Document: events.TaxInvoice,
		InvoiceID: which, Number: number,
	}
}

// note names a credit note over an invoice.
func note(of events.SignatureSubject, which id.Receipt, number string) events.SignatureSubject {
	of.SignatureID, of.Document, of.Number = id.As[id.Signature](which), events.TaxCreditNote, number
	return of
}

// Invoice is the state of a "signing" instance.
type Invoice struct {
	Pending bool           `json:"pending"`           // the invoice waits for its signature
	Waiting []id.Signature `json:"waiting,omitempty"` // documents that wait for the invoice
}

// Process signs queued documents, those of one invoice after it.
func Process() processmanagers.Process[Invoice] {
	return processmanagers.Process[Invoice]{
		Name: "signing",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.SignatureQueued) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.DocumentSigned) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.SignatureRetried) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.SignatureWithdrawn) string { return e.InvoiceID.String() }),
			processmanagers.Follow(func(e events.CancellationDue) string { return e.InvoiceID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s Invoice) bool { return !s.Pending },
	}
}

// evolve remembers what waits for the invoice.
func evolve(s Invoice, in processmanagers.Input) Invoice {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.SignatureQueued:
		switch {
		case e.Document == events.TaxInvoice:
			s.Pending = true
		case s.Pending:
			s.Waiting = append(slices.Clip(s.Waiting), e.SignatureID)
		}
	case events.DocumentSigned:
		return s.after(e.SignatureSubject)
	case events.SignatureWithdrawn:
		return s.after(e.SignatureSubject)
	}
	return s
}

// after is the state when a document is signed or withdrawn.
func (s Invoice) after(done events.SignatureSubject) Invoice {
	if done.Document == events.TaxInvoice {
		return Invoice{}
	}
	s.Waiting = slices.DeleteFunc(slices.Clone(s.Waiting), func(w id.Signature) bool { return w == done.SignatureID })
	return s
}

// decide asks for the job of a document whose turn it is.
func decide(s Invoice, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	var out processmanagers.Output
	if in.Event == nil {
		return out, nil
	}
	sign := func(org id.Organization, which id.Signature, round int) {
		out.Jobs = append(out.Jobs, commands.SignDocument{
			OrgID: org, SignatureID: which, Round: round, Position: in.Event.Position,
		})
	}
	switch e := in.Event.Event.(type) {
	case events.SignatureQueued:
		if e.Document == events.TaxInvoice || !s.Pending {
			sign(e.OrgID, e.SignatureID, 0)
		}
	case events.SignatureRetried:
		sign(e.OrgID, e.SignatureID, e.Round)
	case events.DocumentSigned:
		if e.Document == events.TaxInvoice {
			for _, which := range s.Waiting {
				sign(e.OrgID, which, 0)
			}
		}
	case events.SignatureWithdrawn:
		if e.Document == events.TaxInvoice {
			for _, which := range s.Waiting {
				out.Commands = append(out.Commands, commands.WithdrawSignature{SignatureID: which})
			}
		}
	case events.CancellationDue:
		out.Commands = []commands.Command{cancel(e)}
	}
	return out, nil
}

// cancel queues the document that takes a voided invoice back.
func cancel(e events.CancellationDue) commands.QueueSignature {
	subject := e.SignatureSubject
	subject.SignatureID, subject.Document = e.CancellationID, events.TaxCancellation
	return commands.QueueSignature{SignatureSubject: subject, Total: e.Total, IssuedAt: e.At}
}
