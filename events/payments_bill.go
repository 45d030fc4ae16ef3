package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// BillOptInEvent is an event of "billoptin-<id of environment and shortcode>": how the platform is known to the
// provider's bill manager. Source: docs/rules/payments-billmanager.md#platform-level.
//
//sumtype:decl
type BillOptInEvent interface {
	Event
	billOptInEvent()
}

// BillManagerOptedIn records that the bill manager knows a shortcode of the platform, and under which key. A later one
// takes the place of an earlier one.
type BillManagerOptedIn struct {
	OptInID     id.Shortcode `json:"optInId"`
	Environment string       `json:"environment"`
	Shortcode   string       `json:"shortcode"`
	Reminders   bool         `json:"reminders"` // the bill manager reminds customers itself
	KeyRef      id.Secret    `json:"keyRef"`    // in the vault
	At          time.Time    `json:"at"`
}

func (BillManagerOptedIn) EventType() string { return "payments.BillManagerOptedIn.v1" }
func (BillManagerOptedIn) billOptInEvent()   {}

// BillManagerEvent is an event of "billmanager-<organization id>": whether the invoices of an organization go to the
// bill manager. Source: docs/rules/payments-billmanager.md#bill-settings.
//
//sumtype:decl
type BillManagerEvent interface {
	Event
	billManagerEvent()
}

// BillManagerConfigured records all settings that apply from now on. Left says that it is off because the organization
// takes money on a shortcode of its own from now on.
type BillManagerConfigured struct {
	OrgID     id.Organization `json:"orgId"`
	On        bool            `json:"on"`
	Reminders bool            `json:"reminders"` // the bill manager's own take the place of ours
	Left      bool            `json:"left,omitempty"`
	At        time.Time       `json:"at"`
}

func (BillManagerConfigured) EventType() string { return "payments.BillManagerConfigured.v1" }
func (BillManagerConfigured) billManagerEvent() {}

// BillEvent is an event of "bill-<invoice id>": one invoice at the bill manager. Source:
// docs/rules/payments-billmanager.md#states.
//
//sumtype:decl
type BillEvent interface {
	Event
	billEvent()
	bill() BillSubject
}

// BillSubject names the invoice of a bill.
type BillSubject struct {
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	InvoiceID    id.Invoice      `json:"invoiceId"`
	Number       string          `json:"number"`
}

// bill makes every event that embeds BillSubject name its invoice.
func (s BillSubject) bill() BillSubject { return s }

// BillOf is the invoice that an event of a bill is about.
func BillOf(e BillEvent) BillSubject { return e.bill() }

// Reasons for which a bill is taken back.
const (
	BillVoided    = "voided"         // the invoice was voided, credited whole or written off
	BillElsewhere = "paid_elsewhere" // the invoice was paid in another way
	BillTurnedOff = "turned_off"     // the organization does not use the bill manager any more
	BillByPerson  = "by_person"
	BillChanged   = "changed"   // a credit note has lowered what is due; it is sent again with the new sum
	BillForgotten = "forgotten" // the customer was forgotten
)

// BillNotSigned is the reason for which a bill is not sent yet: the tax authority has not signed its invoice.
const BillNotSigned = "document_not_signed"

// BillQueued records that an invoice waits to be sent to the bill manager, for the first time or again.
type BillQueued struct {
	BillSubject
	Round int       `json:"round"` // number of times that it was queued before
	At    time.Time `json:"at"`
}

// BillOffered records that the bill may be at the bill manager from now on, under a reference that was never used
// before. It comes before each call.
type BillOffered struct {
	BillSubject
	Reference string       `json:"reference"`
	Try       int          `json:"try"`    // 1 for the first call with this bill
	Size      int          `json:"size"`   // number of bills in the call
	Amount    money.Amount `json:"amount"` // that the customer is asked for
	At        time.Time    `json:"at"`
}

// BillFreed records that the bill is certainly not at the bill manager under its reference: it was not sent, or it was
// taken back there after an answer was lost. It can be offered again. Doubted says that the call may have been the
// fault of the bills that were in it.
type BillFreed struct {
	BillSubject
	Reference string    `json:"reference"`
	Doubted   bool      `json:"doubted"`
	At        time.Time `json:"at"`
}

// BillDelayed records that the bill is looked at again later: the bill manager has given no clear answer about it,
// which is a doubt, or may still be at work on the call with it, or the bill cannot be sent yet for a reason of ours.
type BillDelayed struct {
	BillSubject
	Until   time.Time `json:"until"`
	Doubted bool      `json:"doubted"`
	Reason  string    `json:"reason,omitempty"` // BillNotSigned; "" = it is because of the bill manager
	At      time.Time `json:"at"`
}

// BillSent records that the bill manager took the bill.
type BillSent struct {
	BillSubject
	Reference string    `json:"reference"`
	At        time.Time `json:"at"`
}

// BillFailed records that the bill cannot be sent, or not be taken back, and why: a code of ours, or the provider's in
// its own words. A person tries again.
type BillFailed struct {
	BillSubject
	Code    string        `json:"code"`
	Message personal.Text `json:"message"`
	At      time.Time     `json:"at"`
}

// BillRecalled records that a bill is to be taken back which the bill manager has, or may have.
type BillRecalled struct {
	BillSubject
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// BillCancelled records that the bill manager does not have the bill, or not any more.
type BillCancelled struct {
	BillSubject
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// BillSettled records that nothing is due on the invoice any more.
type BillSettled struct {
	BillSubject
	At time.Time `json:"at"`
}

// BillReopened records that money which paid the invoice was taken back, so that something is due on it again. A bill
// that the bill manager does not have any more is queued again then.
type BillReopened struct {
	BillSubject
	At time.Time `json:"at"`
}

// BillPaid records a payment of the bill that the bill manager reported.
type BillPaid struct {
	BillSubject
	ReceiptID     id.Receipt   `json:"receiptId"`
	ReceiptNumber string       `json:"receiptNumber"`
	Amount        money.Amount `json:"amount"`
	PaidAt        time.Time    `json:"paidAt"`
	At            time.Time    `json:"at"`
}

// BillAcknowledged records that the bill manager was told that the payment was booked. It sends the customer a receipt,
// unless it refused the news.
type BillAcknowledged struct {
	BillSubject
	ReceiptID     id.Receipt   `json:"receiptId"`
	ReceiptNumber string       `json:"receiptNumber"`
	Amount        money.Amount `json:"amount"`
	Refused       string       `json:"refused,omitempty"` // the provider's code; "" = it took the news
	At            time.Time    `json:"at"`
}

func (BillQueued) EventType() string       { return "payments.BillQueued.v1" }
func (BillOffered) EventType() string      { return "payments.BillOffered.v1" }
func (BillFreed) EventType() string        { return "payments.BillFreed.v1" }
func (BillDelayed) EventType() string      { return "payments.BillDelayed.v1" }
func (BillSent) EventType() string         { return "payments.BillSent.v1" }
func (BillFailed) EventType() string       { return "payments.BillFailed.v1" }
func (BillRecalled) EventType() string     { return "payments.BillRecalled.v1" }
func (BillCancelled) EventType() string    { return "payments.BillCancelled.v1" }
func (BillSettled) EventType() string      { return "payments.BillSettled.v1" }
func (BillReopened) EventType() string     { return "payments.BillReopened.v1" }
func (BillPaid) EventType() string         { return "payments.BillPaid.v1" }
func (BillAcknowledged) EventType() string { return "payments.BillAcknowledged.v1" }
func (BillQueued) billEvent()              {}
func (BillOffered) billEvent()             {}
func (BillFreed) billEvent()               {}
func (BillDelayed) billEvent()             {}
func (BillSent) billEvent()                {}
func (BillFailed) billEvent()              {}
func (BillRecalled) billEvent()            {}
func (BillCancelled) billEvent()           {}
func (BillSettled) billEvent()             {}
func (BillReopened) billEvent()            {}
func (BillPaid) billEvent()                {}
func (BillAcknowledged) billEvent()        {}

// PersonalSubject is the customer: the provider's words may name him.
func (e BillFailed) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }

func (BillFailed) remark() {}
