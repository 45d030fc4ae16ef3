package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// TaxGatewayEvent is an event of "taxgateway-<organization id>": whether and how the documents of an organization are
// signed by the tax authority. Source: docs/rules/billing-tax.md#tax-gateway.
//
//sumtype:decl
type TaxGatewayEvent interface {
	Event
	taxGatewayEvent()
}

// TaxGatewayConfigured records all settings that apply from now on. Documents that are issued after it, and before the
// next one, are signed when it is on. One that is off keeps the device, with which what still waits is signed.
type TaxGatewayConfigured struct {
	OrgID     id.Organization `json:"orgId"`
	On        bool            `json:"on"`
	Address   string          `json:"address"`
	Serial    string          `json:"serial"` // of the device that the tax authority has registered
	Branch    string          `json:"branch"`
	SecretRef id.Secret       `json:"secretRef"` // in the vault
	Messages  bool            `json:"messages"`  // customers are told of each signed invoice
	At        time.Time       `json:"at"`
}

func (TaxGatewayConfigured) EventType() string { return "billing.TaxGatewayConfigured.v1" }
func (TaxGatewayConfigured) taxGatewayEvent()  {}

// TaxContactEvent is an event of "taxcontact-<organization id>": whether the gateway of an organization takes
// documents. Source: docs/rules/billing-tax.md#late.
//
//sumtype:decl
type TaxContactEvent interface {
	Event
	taxContactEvent()
}

// TaxGatewayFailed records that the gateway takes no documents from now on, or that the cause is another one now.
type TaxGatewayFailed struct {
	OrgID id.Organization `json:"orgId"`
	Code  string          `json:"code"` // of the failure, as docs/errors.md has it
	At    time.Time       `json:"at"`
}

// TaxGatewayAnswered records that the gateway takes documents again.
type TaxGatewayAnswered struct {
	OrgID id.Organization `json:"orgId"`
	At    time.Time       `json:"at"`
}

func (TaxGatewayFailed) EventType() string   { return "billing.TaxGatewayFailed.v1" }
func (TaxGatewayAnswered) EventType() string { return "billing.TaxGatewayAnswered.v1" }
func (TaxGatewayFailed) taxContactEvent()    {}
func (TaxGatewayAnswered) taxContactEvent()  {}

// SignatureEvent is an event of "signature-<document id>": one document on its way to its signature by the tax
// authority. Source: docs/rules/billing-tax.md#states.
//
//sumtype:decl
type SignatureEvent interface {
	Event
	signatureEvent()
}

// Kinds of documents that are signed. A cancellation takes back an invoice that was voided after it was handed over.
const (
	TaxInvoice      = "invoice"
	TaxCreditNote   = "credit_note"
	TaxCancellation = "cancellation"
)

// SignatureSubject names the document of a signature.
type SignatureSubject struct {
	SignatureID  id.Signature    `json:"signatureId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Document     string          `json:"document"`  // TaxInvoice, TaxCreditNote or TaxCancellation
	InvoiceID    id.Invoice      `json:"invoiceId"` // the invoice itself, or the one that the document is about
	Number       string          `json:"number"`    // of the document; a cancellation has that of its invoice
}

// SignatureQueued records that a document waits for its signature.
type SignatureQueued struct {
	SignatureSubject
	Total    money.Amount `json:"total"`
	IssuedAt time.Time    `json:"issuedAt"`
	Messages bool         `json:"messages"` // the customer is told when it is signed
	At       time.Time    `json:"at"`
}

// SigningBegan records that the document may reach the gateway from now on. It comes before the first call, and again
// before the first one after each retry.
type SigningBegan struct {
	SignatureSubject
	Round int       `json:"round"` // number of retries before it
	At    time.Time `json:"at"`
}

// DocumentSigned records the tax authority's signature. A document has one, for ever.
type DocumentSigned struct {
	SignatureSubject
	ControlNumber string    `json:"controlNumber"`
	Verification  string    `json:"verification"` // what the square code on the paper holds
	SignedAt      time.Time `json:"signedAt"`     // as the gateway told it
	Messages      bool      `json:"messages"`
	At            time.Time `json:"at"`
}

// SignatureRefused records that the gateway refused the document, in its own words. A person repairs the cause and
// tries again.
type SignatureRefused struct {
	SignatureSubject
	Round   int           `json:"round"`
	Code    string        `json:"code"` // the gateway's own
	Message personal.Text `json:"message"`
	At      time.Time     `json:"at"`
}

// SignatureRetried records that a person has repaired the cause of a refusal: the document waits again.
type SignatureRetried struct {
	SignatureSubject
	Round  int           `json:"round"` // number of retries, this one included
	Reason personal.Text `json:"reason"`
	At     time.Time     `json:"at"`
}

// SignatureWithdrawn records that the document needs no signature any more: it was voided before it was handed over.
type SignatureWithdrawn struct {
	SignatureSubject
	At time.Time `json:"at"`
}

// CancellationDue records that an invoice was voided that the gateway has, or may have: a document of its own takes it
// back there.
type CancellationDue struct {
	SignatureSubject
	CancellationID id.Signature `json:"cancellationId"`
	Total          money.Amount `json:"total"`
	At             time.Time    `json:"at"`
}

func (SignatureQueued) EventType() string    { return "billing.SignatureQueued.v1" }
func (SigningBegan) EventType() string       { return "billing.SigningBegan.v1" }
func (DocumentSigned) EventType() string     { return "billing.DocumentSigned.v1" }
func (SignatureRefused) EventType() string   { return "billing.SignatureRefused.v1" }
func (SignatureRetried) EventType() string   { return "billing.SignatureRetried.v1" }
func (SignatureWithdrawn) EventType() string { return "billing.SignatureWithdrawn.v1" }
func (CancellationDue) EventType() string    { return "billing.CancellationDue.v1" }
func (SignatureQueued) signatureEvent()      {}
func (SigningBegan) signatureEvent()         {}
func (DocumentSigned) signatureEvent()       {}
func (SignatureRefused) signatureEvent()     {}
func (SignatureRetried) signatureEvent()     {}
func (SignatureWithdrawn) signatureEvent()   {}
func (CancellationDue) signatureEvent()      {}

// PersonalSubject is the customer: a gateway's words may name him.
func (e SignatureRefused) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

// PersonalSubject is the customer.
func (e SignatureRetried) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

func (SignatureRefused) remark() {}
func (SignatureRetried) remark() {}
