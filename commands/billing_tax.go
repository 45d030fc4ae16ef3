package commands

import (
	"regexp"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Categories of the settings of the tax gateway and of the contact with it, whose ids are the organization's, and of
// signatures, whose id is that of their document.
const (
	TaxGatewayCategory = "taxgateway"
	TaxContactCategory = "taxcontact"
	SignatureCategory  = "signature"
)

// TaxSecretPurpose is the purpose under which the vault seals the secret of a device.
const TaxSecretPurpose = "tax_gateway_secret"

// TaxGatewayCommand is a command to the settings of the tax gateway of an organization.
//
//sumtype:decl
type TaxGatewayCommand interface {
	Command
	taxGatewayCommand()
}

// ConfigureTaxGateway replaces all settings. The vault has the secret already.
type ConfigureTaxGateway struct {
	OrgID     id.Organization
	On        bool
	Address   string
	Serial    string
	Branch    string
	SecretRef id.Secret
	Messages  bool
}

// TaxContactCommand is a command to the contact with the tax gateway of an organization.
//
//sumtype:decl
type TaxContactCommand interface {
	Command
	taxContactCommand()
}

// TellTaxContact reports whether the gateway takes documents. What is known already changes nothing.
type TellTaxContact struct {
	OrgID id.Organization
	Code  string // of the failure; "" = it takes them
}

// SignatureCommand is a command to the signature of one document.
//
//sumtype:decl
type SignatureCommand interface {
	Command
	signatureCommand()
}

// QueueSignature has a document wait for its signature. A known one changes nothing.
type QueueSignature struct {
	events.SignatureSubject
	Total    money.Amount
	IssuedAt time.Time
	Messages bool
}

// BeginSigning reports that the document is handed over from now on. Fails: signature_not_found, signature_over.
type BeginSigning struct {
	SignatureID id.Signature
	Round       int
}

// RecordSignature reports the tax authority's signature. A second one changes nothing. Fails: signature_not_found.
type RecordSignature struct {
	SignatureID   id.Signature
	ControlNumber string
	Verification  string
	SignedAt      time.Time
}

// RefuseSignature reports the gateway's no. One of an earlier round changes nothing. Fails: signature_not_found.
type RefuseSignature struct {
	SignatureID id.Signature
	Round       int
	Code        string
	Message     string
}

// RetrySignature has a refused document wait again. Fails: signature_not_found, signature_not_refused.
type RetrySignature struct {
	SignatureID id.Signature
	Reason      string
}

// WithdrawSignature reports that the document needs no signature. One that is signed stays so. Fails:
// signature_not_found.
type WithdrawSignature struct{ SignatureID id.Signature }

// VoidSignature reports that the invoice was voided: its signature is withdrawn, or taken back by another document when
// the gateway may have it. An invoice that needed no signature changes nothing.
type VoidSignature struct{ SignatureID id.Signature }

func (ConfigureTaxGateway) CommandName() string { return "billing.ConfigureTaxGateway" }
func (TellTaxContact) CommandName() string      { return "billing.TellTaxContact" }
func (QueueSignature) CommandName() string      { return "billing.QueueSignature" }
func (BeginSigning) CommandName() string        { return "billing.BeginSigning" }
func (RecordSignature) CommandName() string     { return "billing.RecordSignature" }
func (RefuseSignature) CommandName() string     { return "billing.RefuseSignature" }
func (RetrySignature) CommandName() string      { return "billing.RetrySignature" }
func (WithdrawSignature) CommandName() string   { return "billing.WithdrawSignature" }
func (VoidSignature) CommandName() string       { return "billing.VoidSignature" }

func (ConfigureTaxGateway) taxGatewayCommand() {}
func (TellTaxContact) taxContactCommand()      {}
func (QueueSignature) signatureCommand()       {}
func (BeginSigning) signatureCommand()         {}
func (RecordSignature) signatureCommand()      {}
func (RefuseSignature) signatureCommand()      {}
func (RetrySignature) signatureCommand()       {}
func (WithdrawSignature) signatureCommand()    {}
func (VoidSignature) signatureCommand()        {}

func (c ConfigureTaxGateway) Target() Target { return At(TaxGatewayCategory, c.OrgID) }
func (c TellTaxContact) Target() Target      { return At(TaxContactCategory, c.OrgID) }
func (c QueueSignature) Target() Target      { return At(SignatureCategory, c.SignatureID) }
func (c BeginSigning) Target() Target        { return At(SignatureCategory, c.SignatureID) }
func (c RecordSignature) Target() Target     { return At(SignatureCategory, c.SignatureID) }
func (c RefuseSignature) Target() Target     { return At(SignatureCategory, c.SignatureID) }
func (c RetrySignature) Target() Target      { return At(SignatureCategory, c.SignatureID) }
func (c WithdrawSignature) Target() Target   { return At(SignatureCategory, c.SignatureID) }
func (c VoidSignature) Target() Target       { return At(SignatureCategory, c.SignatureID) }

// deviceShape is the serial number of a device, or the number of a branch.
var deviceShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,39}$`)

// maxTaxAddress bounds the address of a gateway, in bytes.
const maxTaxAddress = 300

// Validate checks form: what is on needs everything, and what is off keeps what it has.
func (c ConfigureTaxGateway) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(len(c.Address) <= maxTaxAddress, "address", "must have at most 300 bytes")
	f.Check(c.Serial == "" || deviceShape.MatchString(c.Serial), "serial", "must be at most 40 letters and digits")
	f.Check(c.Branch == "" || deviceShape.MatchString(c.Branch), "branch", "must be at most 40 letters and digits")
	if c.On {
		f.Check(c.Address != "", "address", "is required")
		f.Check(c.Serial != "", "serial", "is required")
		f.Check(c.Branch != "", "branch", "is required")
		f.Check(!c.SecretRef.IsZero(), "secret", "is required")
	}
	return f.Err()
}

// Validate checks form.
func (c QueueSignature) Validate() error {
	var f failure.Faults
	f.Check(!c.SignatureID.IsZero(), "signatureId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Document == events.TaxInvoice || c.Document == events.TaxCreditNote ||
		c.Document == events.TaxCancellation, "document", "is unknown")
	f.Check(c.Number != "", "number", "is required")
	return f.Err()
}

// Validate checks form.
func (c RecordSignature) Validate() error {
	var f failure.Faults
	f.Check(c.ControlNumber != "", "controlNumber", "is required")
	f.Check(c.Verification != "", "verification", "is required")
	f.Check(!c.SignedAt.IsZero(), "signedAt", "is required")
	return f.Err()
}

// Validate checks form.
func (c RefuseSignature) Validate() error {
	var f failure.Faults
	f.Check(c.Code != "", "code", "is required")
	return f.Err()
}

// Validate checks form.
func (c RetrySignature) Validate() error {
	var f failure.Faults
	f.Check(strings.TrimSpace(c.Reason) != "", "reason", "is required")
	checkLines(&f, "reason", c.Reason)
	f.Check(len([]rune(c.Reason)) <= maxReason, "reason", "must have at most 500 characters")
	return f.Err()
}

// Validate checks form.
func (c TellTaxContact) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (BeginSigning) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (WithdrawSignature) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (VoidSignature) Validate() error { return nil }

// ErrNoTaxGateway is the failure for an organization that never configured a tax gateway.
func ErrNoTaxGateway() error {
	return failure.NewNotFound("tax_gateway_not_found", "No tax gateway is configured.")
}

// ErrNoSignature is the failure for a document that needs no signature or belongs to another organization.
func ErrNoSignature() error {
	return failure.NewNotFound("signature_not_found", "There is no such document for the tax authority.")
}
