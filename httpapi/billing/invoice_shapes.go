package billingapi

import (
	"encoding/json"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// invoiceState is one of billingviews.InvoiceStates.
type invoiceState string

// Texts implements httpapi.Enumerated.
func (invoiceState) Texts() []string { return billingviews.InvoiceStates }

// invoiceResponse is an invoice as the API shows it (docs/rules/billing.md#invoice-endpoints). Amounts are major units.
type invoiceResponse struct {
	ID             id.Invoice             `json:"id"`
	Number         *string                `json:"number"` // null for a draft
	State          invoiceState           `json:"state"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	SubscriptionID *id.Subscription       `json:"subscriptionId" doc:"null for a manual invoice"`
	Total          httpapi.Number         `json:"total"`
	Paid           httpapi.Number         `json:"paid" doc:"by payments"`
	Credited       httpapi.Number         `json:"credited" doc:"by credit notes"`
	WrittenOff     httpapi.Number         `json:"writtenOff"`
	Due            httpapi.Number         `json:"due"`
	Currency       money.Currency         `json:"currency"`
	CreatedAt      time.Time              `json:"createdAt"`
	IssuedAt       *time.Time             `json:"issuedAt"`
	DueDate        *string                `json:"dueDate"` // YYYY-MM-DD of the organization
	Overdue        bool                   `json:"overdue"`
	Order          bool                   `json:"order" doc:"an offer: nobody owes it until it is paid"`
	PeriodFrom     *time.Time             `json:"periodFrom"` // null for one that begins with its payment, until that
	PeriodTo       *time.Time             `json:"periodTo"`
	Lines          []invoiceLineResponse  `json:"lines"`
	Taxes          []taxResponse          `json:"taxes"`
	VoidedAt       *time.Time             `json:"voidedAt"`
	VoidReason     *string                `json:"voidReason"`
	TaxSignature   *taxSignature          `json:"taxSignature" doc:"of the tax authority; null: none is needed"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *invoiceResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// ForCustomer implements httpapi.StaffSees: why the tax authority refused a document is for who repairs it. The reason
// of a void stays, as it stands on the document.
func (r *invoiceResponse) ForCustomer() { r.TaxSignature.forCustomer() }

// invoiceDetailResponse is an invoice with the money that pays it and its credit notes.
type invoiceDetailResponse struct {
	invoiceResponse
	TaxPIN      *string              `json:"taxPin" doc:"of the organization, as its settings are now; null: none"`
	Allocations []allocationResponse `json:"allocations" doc:"the payments; they sum to paid"`
	CreditNotes []creditNoteResponse `json:"creditNotes"`
	Replaces    *invoiceRef          `json:"replaces" doc:"the wrong invoice, in whose place it is; null: none"`
	ReplacedBy  *invoiceRef          `json:"replacedBy" doc:"the corrected invoice in its place; null: none"`
}

// ForCustomer implements httpapi.StaffSees.
func (r *invoiceDetailResponse) ForCustomer() {
	r.invoiceResponse.ForCustomer()
	for i := range r.CreditNotes {
		r.CreditNotes[i].TaxSignature.forCustomer()
	}
}

// invoiceRef names an invoice.
type invoiceRef struct {
	ID     id.Invoice `json:"id"`
	Number *string    `json:"number"` // null for a draft
}

// invoiceLineResponse is one charge: net and taxes sum to gross.
type invoiceLineResponse struct {
	Description string         `json:"description"`
	Quantity    httpapi.Number `json:"quantity"`
	UnitPrice   httpapi.Number `json:"unitPrice"`
	Net         httpapi.Number `json:"net"`
	Taxes       []taxResponse  `json:"taxes"`
	Gross       httpapi.Number `json:"gross"`
	Once        bool           `json:"once" doc:"no day of the invoice's period has a share of it"`
}

// taxResponse is one tax with its amount in major units.
type taxResponse struct {
	Name   string         `json:"name"`
	Rate   httpapi.Number `json:"rate"` // percent
	Amount httpapi.Number `json:"amount"`
}

// allocationResponse is the money of one receipt that pays an invoice.
type allocationResponse struct {
	ReceiptID     id.Receipt     `json:"receiptId"`
	ReceiptNumber *string        `json:"receiptNumber" doc:"null while the provider has not told it"`
	Amount        httpapi.Number `json:"amount"`
	At            time.Time      `json:"at"`
}

// creditNoteResponse gives back a part of an invoice.
type creditNoteResponse struct {
	ID        id.Receipt     `json:"id"`
	Number    *string        `json:"number"` // null for a draft
	State     string         `json:"state" enum:"draft,issued,voided"`
	InvoiceID id.Invoice     `json:"invoiceId"`
	Amount    httpapi.Number `json:"amount"`
	Taxes     []taxResponse  `json:"taxes" doc:"in the amount: the same part of each tax of the invoice"`
	Currency  money.Currency `json:"currency"`
	Reason    string         `json:"reason"`
	CreatedAt time.Time      `json:"createdAt"`
	IssuedAt  *time.Time     `json:"issuedAt"`

	TaxSignature *taxSignature `json:"taxSignature" doc:"of the tax authority; null: none is needed"`
}

// showInvoice writes amounts in major units. The organization's date of today decides whether it is overdue.
func showInvoice(r signedInvoice) invoiceResponse {
	lines := make([]invoiceLineResponse, len(r.Lines))
	for i, l := range r.Lines {
		lines[i] = invoiceLineResponse{
			Description: l.Description, Quantity: json.Number(l.Quantity), UnitPrice: l.UnitPrice.Number(),
			Net: l.Net.Number(), Taxes: showTaxes(l.Taxes), Gross: l.Gross.Number(), Once: l.Once,
		}
	}
	return invoiceResponse{
		ID: r.ID, Number: null.Of(r.Number), State: invoiceState(r.State), SubscriberID: r.SubscriberID,
		SubscriptionID: null.Of(r.SubscriptionID), Total: r.Total().Number(), Paid: r.Paid().Number(),
		Credited: r.Credited().Number(), WrittenOff: r.WrittenOff().Number(), Due: r.Due().Number(),
		Currency: r.Currency, CreatedAt: r.DraftedAt, IssuedAt: r.IssuedAt, DueDate: null.Of(r.DueOn),
		Overdue: r.Overdue(r.today), Order: r.Ordered, PeriodFrom: r.PeriodFrom, PeriodTo: r.PeriodTo, Lines: lines,
		Taxes: showTaxes(r.Taxes), VoidedAt: r.VoidedAt, VoidReason: null.Of(r.Reason),
		TaxSignature: showSignature(r.signatures, id.As[id.Any](r.ID)),
	}
}

// showInvoiceDetail adds allocations and credit notes; neither list is null.
func showInvoiceDetail(d datedInvoice) invoiceDetailResponse {
	out := invoiceDetailResponse{
		invoiceResponse: showInvoice(signedInvoice{d.InvoiceRow, d.today, d.signatures}),
		TaxPIN:          null.Of(d.taxPIN),
		Allocations:     make([]allocationResponse, len(d.Allocations)),
		CreditNotes:     make([]creditNoteResponse, len(d.CreditNotes)),
	}
	out.Replaces, out.ReplacedBy = showRef(d.Replaces), showRef(d.ReplacedBy)
	for i, a := range d.Allocations {
		out.Allocations[i] = allocationResponse{
			ReceiptID: a.ReceiptID, ReceiptNumber: null.Of(d.numbers[a.ReceiptID]),
			Amount: money.Of(a.AmountMinor, d.Currency).Number(), At: a.At,
		}
	}
	for i, n := range d.CreditNotes {
		out.CreditNotes[i] = showCreditNote(n, d.InvoiceRow, d.signatures)
	}
	return out
}

// showRef names an invoice; nil for none.
func showRef(r *billingviews.InvoiceRef) *invoiceRef {
	if r == nil {
		return nil
	}
	return &invoiceRef{ID: r.ID, Number: null.Of(r.Number)}
}

// showCreditNote writes null for the number of a draft.
func showCreditNote(
	n billingviews.CreditNoteRow, of billingviews.InvoiceRow, signatures map[id.Signature]billingviews.SignatureRow,
) creditNoteResponse {
	return creditNoteResponse{
		ID: n.ID, Number: null.Of(n.Number), State: n.State, InvoiceID: n.InvoiceID, Amount: n.Amount().Number(),
		Taxes: showTaxes(of.TaxesOf(n.Amount())), Currency: n.Currency, Reason: n.Reason, CreatedAt: n.DraftedAt,
		IssuedAt:     n.IssuedAt,
		TaxSignature: showSignature(signatures, id.As[id.Any](n.ID)),
	}
}

// showTaxes gives an empty list, not null, when there is no tax.
func showTaxes(taxes []events.TaxCharge) []taxResponse {
	out := make([]taxResponse, len(taxes))
	for i, t := range taxes {
		out[i] = taxResponse{Name: t.Name, Rate: httpapi.Percent(t.BasisPoints), Amount: t.Amount.Number()}
	}
	return out
}
