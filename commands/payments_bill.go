package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Categories of the platform's opt-in at the bill manager, of the settings of an organization, whose id is its own, and
// of bills, whose id is that of their invoice.
const (
	BillOptInCategory   = "billoptin"
	BillManagerCategory = "billmanager"
	BillCategory        = "bill"
)

// BillKeyPurpose is the purpose under which the vault seals the key of an opt-in.
const BillKeyPurpose = "bill_manager_key"

// BillOptInID follows from an environment and a shortcode: the platform opts in to each with the record of its own.
func BillOptInID(environment, shortcode string) id.Shortcode {
	return id.Derive[id.Shortcode]("bill manager", environment, shortcode)
}

// BillOptInCommand is a command to an opt-in of the platform.
//
//sumtype:decl
type BillOptInCommand interface {
	Command
	billOptInCommand()
}

// RecordBillOptIn reports that the bill manager knows a shortcode. The vault has the key already.
type RecordBillOptIn struct {
	OptInID     id.Shortcode
	Environment string
	Shortcode   string
	Reminders   bool
	KeyRef      id.Secret
}

// BillManagerCommand is a command to the settings of an organization.
//
//sumtype:decl
type BillManagerCommand interface {
	Command
	billManagerCommand()
}

// ConfigureBillManager replaces all settings.
type ConfigureBillManager struct {
	OrgID     id.Organization
	On        bool
	Reminders bool
}

// LeaveBillManager turns the bill manager off because the organization takes money on a shortcode of its own. An
// organization without it changes nothing.
type LeaveBillManager struct{ OrgID id.Organization }

// BillCommand is about one invoice at the bill manager.
//
//sumtype:decl
type BillCommand interface {
	Command
	billCommand()
}

// QueueBill has an invoice wait to be sent. One that waits, or is there, changes nothing; one that waits for something
// else goes now. Again queues one that was cancelled, too. Fails: bill_over.
type QueueBill struct {
	events.BillSubject
	Again bool
}

// OfferBill reports that the bill leaves the house from now on. One that was queued again since its sum was read does
// not wait under this round any more; one that was in another call since does not wait for this try. Fails:
// bill_not_found, bill_not_waiting.
type OfferBill struct {
	InvoiceID id.Invoice
	Round     int
	Try       int          // 1 for the first call with this bill; the reference in the call is that of the try
	Size      int          // number of bills in the call
	Amount    money.Amount // that the customer is asked for
}

// FreeBill reports that the bill manager certainly does not have the bill under a reference. Another reference changes
// nothing. Fails: bill_not_found.
type FreeBill struct {
	InvoiceID id.Invoice
	Reference string
	Doubted   bool
}

// DelayBill has a bill looked at again later. Doubted says that the bill manager has given no clear answer about it.
// With a Reason it waits for that until then, and one that does not wait to be sent changes nothing. Fails:
// bill_not_found.
type DelayBill struct {
	InvoiceID id.Invoice
	Until     time.Time
	Doubted   bool
	Reason    string // events.BillNotSigned, or none
}

// ConfirmBill reports that the bill manager took it. Another reference changes nothing. Fails: bill_not_found.
type ConfirmBill struct {
	InvoiceID id.Invoice
	Reference string
}

// FailBill reports why the bill cannot be sent, or not be taken back. One that waits for neither changes nothing, nor
// does one that the bill manager has, or may have, under another reference. Gone says that it certainly does not have
// it. Fails: bill_not_found.
type FailBill struct {
	InvoiceID id.Invoice
	Reference string // of the call; "" = there was none
	Code      string
	Message   string
	Gone      bool
}

// RecallBill takes a bill back. One that the bill manager does not have is cancelled at once. One that has ended
// changes nothing. Fails: bill_not_found.
type RecallBill struct {
	InvoiceID id.Invoice
	Reason    string // of events.BillVoided and its siblings
}

// ConfirmRecall reports that the bill manager does not have the bill any more. Another reference changes nothing.
// Fails: bill_not_found.
type ConfirmRecall struct {
	InvoiceID id.Invoice
	Reference string
}

// SettleBill reports that nothing is due on the invoice any more. Fails: bill_not_found.
type SettleBill struct{ InvoiceID id.Invoice }

// ReopenBill reports that something is due on the invoice again. An invoice that never was at the bill manager changes
// nothing.
type ReopenBill struct{ InvoiceID id.Invoice }

// PayBill reports a payment through the bill manager. A known one changes nothing. Fails: bill_not_found.
type PayBill struct {
	InvoiceID     id.Invoice
	ReceiptID     id.Receipt
	ReceiptNumber string
	Amount        money.Amount
	PaidAt        time.Time
}

// AcknowledgeBill reports that the bill manager was told that a payment was booked. Fails: bill_not_found.
type AcknowledgeBill struct {
	InvoiceID id.Invoice
	ReceiptID id.Receipt
	Refused   string // the provider's code when it refused the news
}

func (RecordBillOptIn) CommandName() string      { return "payments.RecordBillOptIn" }
func (ConfigureBillManager) CommandName() string { return "payments.ConfigureBillManager" }
func (LeaveBillManager) CommandName() string     { return "payments.LeaveBillManager" }
func (QueueBill) CommandName() string            { return "payments.QueueBill" }
func (OfferBill) CommandName() string            { return "payments.OfferBill" }
func (FreeBill) CommandName() string             { return "payments.FreeBill" }
func (DelayBill) CommandName() string            { return "payments.DelayBill" }
func (ConfirmBill) CommandName() string          { return "payments.ConfirmBill" }
func (FailBill) CommandName() string             { return "payments.FailBill" }
func (RecallBill) CommandName() string           { return "payments.RecallBill" }
func (ConfirmRecall) CommandName() string        { return "payments.ConfirmRecall" }
func (SettleBill) CommandName() string           { return "payments.SettleBill" }
func (ReopenBill) CommandName() string           { return "payments.ReopenBill" }
func (PayBill) CommandName() string              { return "payments.PayBill" }
func (AcknowledgeBill) CommandName() string      { return "payments.AcknowledgeBill" }

func (RecordBillOptIn) billOptInCommand()        {}
func (ConfigureBillManager) billManagerCommand() {}
func (LeaveBillManager) billManagerCommand()     {}
func (QueueBill) billCommand()                   {}
func (OfferBill) billCommand()                   {}
func (FreeBill) billCommand()                    {}
func (DelayBill) billCommand()                   {}
func (ConfirmBill) billCommand()                 {}
func (FailBill) billCommand()                    {}
func (RecallBill) billCommand()                  {}
func (ConfirmRecall) billCommand()               {}
func (SettleBill) billCommand()                  {}
func (ReopenBill) billCommand()                  {}
func (PayBill) billCommand()                     {}
func (AcknowledgeBill) billCommand()             {}

func (c RecordBillOptIn) Target() Target      { return At(BillOptInCategory, c.OptInID) }
func (c ConfigureBillManager) Target() Target { return At(BillManagerCategory, c.OrgID) }
func (c LeaveBillManager) Target() Target     { return At(BillManagerCategory, c.OrgID) }
func (c QueueBill) Target() Target            { return At(BillCategory, c.InvoiceID) }
func (c OfferBill) Target() Target            { return At(BillCategory, c.InvoiceID) }
func (c FreeBill) Target() Target             { return At(BillCategory, c.InvoiceID) }
func (c DelayBill) Target() Target            { return At(BillCategory, c.InvoiceID) }
func (c ConfirmBill) Target() Target          { return At(BillCategory, c.InvoiceID) }
func (c FailBill) Target() Target             { return At(BillCategory, c.InvoiceID) }
func (c RecallBill) Target() Target           { return At(BillCategory, c.InvoiceID) }
func (c ConfirmRecall) Target() Target        { return At(BillCategory, c.InvoiceID) }
func (c SettleBill) Target() Target           { return At(BillCategory, c.InvoiceID) }
func (c ReopenBill) Target() Target           { return At(BillCategory, c.InvoiceID) }
func (c PayBill) Target() Target              { return At(BillCategory, c.InvoiceID) }
func (c AcknowledgeBill) Target() Target      { return At(BillCategory, c.InvoiceID) }

// Validate checks form.
func (c RecordBillOptIn) Validate() error {
	var f failure.Faults
	f.Check(!c.OptInID.IsZero() && c.OptInID == BillOptInID(c.Environment, c.Shortcode), "optInId", "is wrong")
	f.Check(c.Shortcode != "", "shortcode", "is required")
	f.Check(!c.KeyRef.IsZero(), "keyRef", "is required")
	return f.Err()
}

// Validate checks form.
func (c ConfigureBillManager) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	return f.Err()
}

// Validate checks form.
func (c LeaveBillManager) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	return f.Err()
}

// Validate checks form.
func (c QueueBill) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(!c.InvoiceID.IsZero(), "invoiceId", "is required")
	f.Check(c.Number != "", "number", "is required")
	return f.Err()
}

// Validate checks form.
func (c OfferBill) Validate() error {
	var f failure.Faults
	f.Check(c.Try > 0, "try", "must be positive")
	f.Check(c.Size > 0, "size", "must be positive")
	f.Check(c.Amount.Positive(), "amount", "must be positive")
	return f.Err()
}

// Validate checks form.
func (c FailBill) Validate() error {
	var f failure.Faults
	f.Check(c.Code != "", "code", "is required")
	return f.Err()
}

// Validate checks form.
func (c RecallBill) Validate() error {
	var f failure.Faults
	f.Check(c.Reason != "", "reason", "is required")
	return f.Err()
}

// Validate checks form.
func (c PayBill) Validate() error {
	var f failure.Faults
	f.Check(!c.ReceiptID.IsZero(), "receiptId", "is required")
	f.Check(c.Amount.Positive(), "amount", "must be positive")
	return f.Err()
}

// Validate has nothing to check: an unknown reference changes nothing.
func (FreeBill) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (DelayBill) Validate() error { return nil }

// Validate has nothing to check: an unknown reference changes nothing.
func (ConfirmBill) Validate() error { return nil }

// Validate has nothing to check: an unknown reference changes nothing.
func (ConfirmRecall) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (SettleBill) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (ReopenBill) Validate() error { return nil }

// Validate has nothing to check: an unknown receipt changes nothing.
func (AcknowledgeBill) Validate() error { return nil }

// ErrNoBillOptIn is the failure while the bill manager does not know the platform.
func ErrNoBillOptIn() error {
	return failure.NewNotFound("bill_opt_in_not_found", "The platform has not opted in to the bill manager.")
}

// ErrNoBillManager is the failure for an organization that never configured the bill manager.
func ErrNoBillManager() error {
	return failure.NewNotFound("bill_manager_not_found", "The bill manager is not configured.")
}

// ErrNoBill is the failure for an invoice that never was at the bill manager, or is another organization's.
func ErrNoBill() error {
	return failure.NewNotFound("bill_not_found", "There is no such bill at the bill manager.")
}
