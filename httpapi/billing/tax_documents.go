package billingapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// TaxDocuments serves what the tax authority signs (docs/rules/billing-tax.md#refused).
type TaxDocuments struct {
	Bus        *bus.Bus
	Signatures billingviews.SignaturesQuery
	Clock      clock.Clock
}

// Routes lists the endpoints of documents for the tax authority.
func (a TaxDocuments) Routes() []httpapi.Route {
	on := httpapi.OnOrganization
	return []httpapi.Route{
		{
			Method: "GET", Path: "/tax-documents", Hosts: on, Access: httpapi.AccessSupport, Row: taxDocumentResponse{},
			Summary: "List the documents that the tax authority signs, the newest first", Handle: a.list,
			Query: []httpapi.Param{
				{Name: "state", Type: "string", Enum: billingviews.SignatureStates},
				{Name: "subscriberId", Type: "uuid"},
				{Name: "invoiceId", Type: "uuid", Doc: "the invoice itself, and what is about it"},
				{Name: "late", Type: "boolean", Doc: "true: those alone that have waited for an hour or longer"},
			},
		},
		{
			Method: "GET", Path: "/tax-documents/:id", Hosts: on, Access: httpapi.AccessSupport,
			Response: taxDocumentResponse{}, Summary: "Read what became of a document at the tax authority",
			Handle: func(ctx context.Context, c *httpapi.Call) error { return httpapi.ReadOne(ctx, c, a.one()) },
		},
		{
			Method: "POST", Path: "/tax-documents/:id/retry", Hosts: on, Access: httpapi.AccessAdmin,
			Request: httpapi.ReasonRequest{}, Response: taxDocumentResponse{}, Handle: a.retry,
			Summary: "Send a document again that the tax authority refused",
		},
	}
}

// signatureState is one of billingviews.SignatureStates.
type signatureState string

// Texts implements httpapi.Enumerated.
func (signatureState) Texts() []string { return billingviews.SignatureStates }

// taxDocumentKind is one of the kinds of documents that are signed.
type taxDocumentKind string

// Texts implements httpapi.Enumerated.
func (taxDocumentKind) Texts() []string {
	return []string{events.TaxInvoice, events.TaxCreditNote, events.TaxCancellation}
}

// taxFault is the code of a failure of the gateway.
type taxFault string

// Texts implements httpapi.Enumerated.
func (taxFault) Texts() []string { return billingviews.TaxFaults }

// taxDocumentResponse is a document that the tax authority signs.
type taxDocumentResponse struct {
	ID            id.Signature           `json:"id"`
	Document      taxDocumentKind        `json:"document" doc:"a cancellation takes back a voided invoice"`
	Number        string                 `json:"number"`
	State         signatureState         `json:"state"`
	InvoiceID     id.Invoice             `json:"invoiceId" doc:"itself, or the one that it is about"`
	SubscriberID  id.Subscriber          `json:"subscriberId"`
	Subscriber    *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	Total         httpapi.Number         `json:"total"`
	Currency      money.Currency         `json:"currency"`
	IssuedAt      time.Time              `json:"issuedAt"`
	QueuedAt      time.Time              `json:"queuedAt" doc:"again at each retry"`
	Late          bool                   `json:"late" doc:"it has waited for an hour or longer"`
	Waits         bool                   `json:"waits" doc:"for its invoice, which is not signed yet"`
	Fault         *taxFault              `json:"fault" doc:"why the gateway takes no queued document at the moment"`
	FaultSince    *time.Time             `json:"faultSince"`
	Retries       int                    `json:"retries"`
	Code          *string                `json:"code" doc:"of the last refusal, in the gateway's words"`
	Message       *string                `json:"message" doc:"of the last refusal, in the gateway's words"`
	RefusedAt     *time.Time             `json:"refusedAt"`
	ControlNumber *string                `json:"controlNumber"`
	Verification  *string                `json:"verification" doc:"where everybody can look the document up"`
	SignedAt      *time.Time             `json:"signedAt"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *taxDocumentResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// show writes null for what is not known.
func (a TaxDocuments) show(r billingviews.SignatureRow) taxDocumentResponse {
	return taxDocumentResponse{
		ID: r.ID, Document: taxDocumentKind(r.Document), Number: r.Number, State: signatureState(r.State),
		InvoiceID: r.InvoiceID, SubscriberID: r.SubscriberID, Total: r.Total().Number(), Currency: r.Currency,
		IssuedAt: r.IssuedAt, QueuedAt: r.QueuedAt, Late: r.Late(a.Clock.Now()), Waits: r.Waits, Retries: r.Retries,
		Code: null.Of(r.Code), Message: null.Of(r.Message), RefusedAt: r.RefusedAt,
		Fault: null.Of(taxFault(r.Fault)), FaultSince: r.FaultSince,
		ControlNumber: null.Of(r.ControlNumber), Verification: null.Of(r.Verification), SignedAt: r.SignedAt,
	}
}

// one describes how a document is read and shown.
func (a TaxDocuments) one() httpapi.One[id.Signature, billingviews.SignatureRow, taxDocumentResponse] {
	return httpapi.One[id.Signature, billingviews.SignatureRow, taxDocumentResponse]{
		Model: billingviews.SignaturesName, Missing: commands.ErrNoSignature, Read: a.Signatures.Get, Show: a.show,
	}
}

// list answers with a page of documents.
func (a TaxDocuments) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := billingviews.SignatureFilter{
		State:        f.OneOf("state", billingviews.SignatureStates...),
		SubscriberID: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
		InvoiceID:    httpapi.FilterID[id.Invoice](f, "invoiceId"),
	}
	if null.Zero(f.Bool("late")) {
		filter.LateAt = a.Clock.Now()
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, a.show, func(
		ctx context.Context, after billingviews.SignatureKey, max int,
	) ([]billingviews.SignatureRow, error) {
		return a.Signatures.List(ctx, c.Org.ID, filter, after, max)
	})
}

// retry has a refused document wait for its signature again.
func (a TaxDocuments) retry(ctx context.Context, c *httpapi.Call) error {
	which, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoSignature,
		func(which id.Signature, reason string) commands.Command {
			return commands.RetrySignature{SignatureID: which, Reason: reason}
		})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), which, done)
}

// taxSignature tells how an invoice or a credit note fared at the tax authority.
type taxSignature struct {
	State         signatureState `json:"state"`
	Message       *string        `json:"message" doc:"why it was refused, in the gateway's words"`
	ControlNumber *string        `json:"controlNumber"`
	Verification  *string        `json:"verification" doc:"where everybody can look the document up"`
	SignedAt      *time.Time     `json:"signedAt"`
}

// forCustomer takes the words of the gateway out.
func (s *taxSignature) forCustomer() {
	if s != nil {
		s.Message = nil
	}
}

// showSignature is nil for a document that needs no signature.
func showSignature(found map[id.Signature]billingviews.SignatureRow, document id.Any) *taxSignature {
	r, needed := found[id.As[id.Signature](document)]
	if !needed {
		return nil
	}
	out := &taxSignature{
		State: signatureState(r.State), ControlNumber: null.Of(r.ControlNumber),
		Verification: null.Of(r.Verification), SignedAt: r.SignedAt,
	}
	if r.State == "refused" {
		out.Message = null.Of(r.Message)
	}
	return out
}
