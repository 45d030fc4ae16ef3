package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// SendMessage tells a customer of something that happened to a subscription, unless it was told on that day already. It
// waits for the hours in which messages go, and ends without a message when it is too late or no longer true.
type SendMessage struct {
	OrgID          id.Organization        `json:"orgId"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	SubscriptionID id.Subscription        `json:"subscriptionId"`
	Template       events.MessageTemplate `json:"template"`
	DueAt          time.Time              `json:"dueAt,omitzero"`     // of the debt; zero = the message is about none
	At             time.Time              `json:"at"`                 // when it happened
	Until          time.Time              `json:"until"`              // from here on nobody is told any more
	Position       uint64                 `json:"position"`           // of the event; read models must have reached it
	CapPeriod      events.CapPeriod       `json:"capPeriod,omitzero"` // of a message about a cap
	CapCount       events.CapCount        `json:"capCount,omitzero"`  // of a message about a cap, when it happened
	OutageID       id.Outage              `json:"outageId,omitzero"`  // of a message about an outage
	InvoiceID      id.Invoice             `json:"invoiceId,omitzero"` // of a message about an invoice
	ReceiptID      id.Receipt             `json:"receiptId,omitzero"` // of a message about money that has come
	Move           int                    `json:"move,omitempty"`     // of that money; see events.ReceiptCredited
	RequestID      id.Support             `json:"requestId,omitzero"` // of a message about an answer to it
	Number         int                    `json:"number,omitempty"`   // of that answer in the request
	NotBefore      time.Time              `json:"notBefore,omitzero"` // zero = at once
}

// From implements Timed.
func (c SendMessage) From() time.Time { return c.NotBefore }

// Yields implements Yielding: who has just paid does not wait for the messages of a run.
func (c SendMessage) Yields() bool { return c.Template.OfRun() }

// TellRun tells the customers of a billing run of its invoices. One job takes a part of them, after the given invoice,
// and the next job the rest.
type TellRun struct {
	OrgID     id.Organization `json:"orgId"`
	RunID     id.BillingRun   `json:"runId"`
	At        time.Time       `json:"at"`        // when the run was over
	NotBefore time.Time       `json:"notBefore"` // when the first part goes
	Until     time.Time       `json:"until"`     // from here on nobody is told any more
	Position  uint64          `json:"position"`  // of the event; read models must have reached it
	After     id.Invoice      `json:"after"`     // zero = from the first one on
}

// From implements Timed.
func (c TellRun) From() time.Time { return c.NotBefore }

// WakeMessages has the messages of an organization go on that waited for a person who has released them.
type WakeMessages struct {
	OrgID     id.Organization `json:"orgId"`
	NotBefore time.Time       `json:"notBefore"` // when every program has seen the release
}

// From implements Timed.
func (c WakeMessages) From() time.Time { return c.NotBefore }

// TakeMessageReport records what the SMS provider reports about a message. It waits a while for a message whose record
// comes after the report.
type TakeMessageReport struct {
	Reference string    `json:"reference"` // of the provider
	Delivered bool      `json:"delivered"`
	Reason    string    `json:"reason,omitempty"` // why it did not arrive, in the provider's words
	At        time.Time `json:"at"`               // when the report came
}

// ForgetMessages removes the kept messages of a forgotten customer.
type ForgetMessages struct {
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
}

func (SendMessage) Kind() string       { return "messaging_send" }
func (TellRun) Kind() string           { return "messaging_tell_run" }
func (WakeMessages) Kind() string      { return "messaging_wake" }
func (TakeMessageReport) Kind() string { return "messaging_report" }
func (ForgetMessages) Kind() string    { return "messaging_forget" }
