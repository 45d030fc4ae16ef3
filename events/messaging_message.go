package events

import (
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// MessageEvent is an event of "message-<message id>": one message to a customer. Its text is in no event; the address
// is sealed with the key of the customer.
//
//sumtype:decl
type MessageEvent interface {
	Event
	messageEvent()
}

// MessageTemplate names what a message says; its words are those of the API.
type MessageTemplate string

// The templates.
const (
	ReminderBefore  MessageTemplate = "reminder_before"  // some days are left to pay
	ReminderDue     MessageTemplate = "reminder_due"     // today is the last day to pay
	ReminderOverdue MessageTemplate = "reminder_overdue" // it is overdue, and access goes on for a while
	NoticeGarden    MessageTemplate = "walled_garden"    // only the payment page can be reached
	NoticeSuspended MessageTemplate = "suspended"        // there is no access any more
	NoticeRestored  MessageTemplate = "restored"         // access is whole again

	NoticeCapWarned    MessageTemplate = "cap_warned"    // four fifths of the traffic of a cap are used
	NoticeCapThrottled MessageTemplate = "cap_throttled" // all of it is used, and access is slow
	NoticeCapStopped   MessageTemplate = "cap_stopped"   // all of it is used, and there is no access

	NoticeOutage     MessageTemplate = "outage"      // the network is down where the customer is
	NoticeOutageOver MessageTemplate = "outage_over" // it is up again

	NoticeInvoice MessageTemplate = "invoice_signed" // the tax authority has signed an invoice

	NoticeIssued  MessageTemplate = "invoice" // an invoice was issued
	NoticeReceipt MessageTemplate = "receipt" // money has come

	NoticeSupport MessageTemplate = "support_answer" // a support request was answered

	CodeToSignIn   MessageTemplate = "sign_in_code"    // the one-time code of a sign-in
	CodeOfAddress  MessageTemplate = "address_code"    // that of another address for a sign-in
	AddressChanged MessageTemplate = "address_changed" // the address of a sign-in is another one now
)

// Templates lists what customers, and all who sign in, can be told.
func Templates() []MessageTemplate {
	return []MessageTemplate{
		ReminderBefore, ReminderDue, ReminderOverdue, NoticeGarden, NoticeSuspended, NoticeRestored, NoticeCapWarned,
		NoticeCapThrottled, NoticeCapStopped, NoticeOutage, NoticeOutageOver, NoticeInvoice, NoticeIssued,
		NoticeReceipt, NoticeSupport, CodeToSignIn, CodeOfAddress, AddressChanged,
	}
}

// Texts implements httpapi.Enumerated: all templates.
func (MessageTemplate) Texts() []string {
	var names []string
	for _, t := range Templates() {
		names = append(names, string(t))
	}
	return names
}

// Words are those that the texts of a message may have in braces.
func (t MessageTemplate) Words() []string {
	words := []string{"org", "account", "link"}
	switch {
	case t.HasCode():
		return []string{"org", "host", "otp"}
	case t == AddressChanged:
		return []string{"org", "host"}
	case t == NoticeInvoice:
		return append(words, "amount", "number", "control", "verification")
	case t == NoticeIssued:
		return append(words, "amount", "number", "due", "pay", "shortcode")
	case t == NoticeReceipt:
		return append(words, "amount", "code", "until", "rest")
	case t == NoticeSupport:
		return append(words, "portal")
	}
	words = append(words, "amount", "plan", "shortcode", "due", "pay")
	switch {
	case t.AboutCap():
		return append(words, "used", "allowed", "resets", "then")
	case t.AboutOutage():
		return append(words, "since", "what")
	}
	return words
}

// Needed reports whether the message goes to customers who want no more than they need: it asks for payment at the last
// moment, tells of a change of their access, is a document of the tax authority, answers what they have asked, or is
// about their sign-in.
func (t MessageTemplate) Needed() bool {
	switch t {
	case ReminderDue, ReminderOverdue, NoticeGarden, NoticeSuspended, NoticeRestored, NoticeCapThrottled,
		NoticeCapStopped, NoticeInvoice, NoticeSupport, CodeToSignIn, CodeOfAddress, AddressChanged:
		return true
	case ReminderBefore, NoticeCapWarned, NoticeOutage, NoticeOutageOver, NoticeIssued, NoticeReceipt:
	}
	return false
}

// HasCode reports whether the message brings a one-time code.
func (t MessageTemplate) HasCode() bool { return t == CodeToSignIn || t == CodeOfAddress }

// AboutSignIn reports whether the message is about a sign-in, of a customer or of staff. Whoever waits for it cannot go
// on without it, so it has a text on every way.
func (t MessageTemplate) AboutSignIn() bool { return t.HasCode() || t == AddressChanged }

// AboutOutage reports whether the message is about an outage of the network.
func (t MessageTemplate) AboutOutage() bool { return t == NoticeOutage || t == NoticeOutageOver }

// AboutDocument reports whether the message is about one invoice or receipt, whatever it is for.
func (t MessageTemplate) AboutDocument() bool {
	return t == NoticeInvoice || t == NoticeIssued || t == NoticeReceipt
}

// Turn names the line in which messages to one customer go one after the other, because what one says depends on
// another: those of a cut and its end, those of a debt, and those of outages that become one. "" = the message waits
// for no other.
func (t MessageTemplate) Turn() string {
	switch {
	case t.AboutAccess():
		return "access"
	case t.Reminds() || t == NoticeIssued:
		return "debts"
	case t.AboutOutage():
		return "outages"
	}
	return ""
}

// AtOnce reports whether the message waits for no hours: the customer has just paid, or waits for the answer.
func (t MessageTemplate) AtOnce() bool { return t == NoticeReceipt || t == NoticeSupport }

// OfRun reports whether the message is one of those that a run makes for thousands of customers at once, each of whom
// has days for what it says. All others are about what has just happened to the customer.
func (t MessageTemplate) OfRun() bool { return t.Reminds() || t == NoticeIssued || t == NoticeInvoice }

// Reminds reports whether the message asks for payment ahead of a cut. All such messages of one day have one cause.
func (t MessageTemplate) Reminds() bool {
	return t == ReminderBefore || t == ReminderDue || t == ReminderOverdue
}

// OfDunning reports whether the message comes of dunning, whose policy has hours of its own for messages.
func (t MessageTemplate) OfDunning() bool { return t.Reminds() || t.AboutAccess() }

// AboutCap reports whether the message is about the traffic that a cap allows.
func (t MessageTemplate) AboutCap() bool {
	return t == NoticeCapWarned || t == NoticeCapThrottled || t == NoticeCapStopped
}

// AboutAccess reports whether the message tells of a cut or of its end.
func (t MessageTemplate) AboutAccess() bool {
	return t == NoticeGarden || t == NoticeSuspended || t == NoticeRestored
}

// MessageChannel is the way on which a message goes; its words are those of the API.
type MessageChannel string

// The channels.
const (
	ChannelSMS      MessageChannel = "sms"
	ChannelEmail    MessageChannel = "email"
	ChannelWhatsApp MessageChannel = "whatsapp" // of customers who chose it, with the others as the way back
)

// Channels lists all ways.
func Channels() []MessageChannel { return []MessageChannel{ChannelSMS, ChannelEmail, ChannelWhatsApp} }

// Texts implements httpapi.Enumerated: all ways.
func (MessageChannel) Texts() []string {
	return []string{string(ChannelSMS), string(ChannelEmail), string(ChannelWhatsApp)}
}

// MessageQueued records that a message is to be sent. Its id follows from its cause and its day. It comes again when
// another job of the same cause takes up a message that was dropped.
type MessageQueued struct {
	MessageID      id.Message      `json:"messageId"`
	OrgID          id.Organization `json:"orgId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Template       MessageTemplate `json:"template"`
	Until          time.Time       `json:"until"`             // from here on it is not sent any more
	Sender         id.Any          `json:"sender"`            // the job that sends it; others of its cause wait
	OutageID       id.Outage       `json:"outageId,omitzero"` // zero also in old events about outages
	At             time.Time       `json:"at"`
}

// MessageAddressed records to whom the message goes, before it is handed to the gateway. It comes again when it went
// by WhatsApp in vain, and takes the way back.
type MessageAddressed struct {
	MessageID    id.Message     `json:"messageId"`
	SubscriberID id.Subscriber  `json:"subscriberId"`
	Channel      MessageChannel `json:"channel"`
	To           personal.Text  `json:"to"` // phone number (E.164) or e-mail address
	// Back is why it takes the way back: "undelivered", or the code of a refusal such as "gateway_failed"; "" = it
	// does not.
	Back string    `json:"back,omitempty"`
	At   time.Time `json:"at"`
}

// MessageSent records that the gateway took the message.
type MessageSent struct {
	MessageID    id.Message      `json:"messageId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Template     MessageTemplate `json:"template"`
	Channel      MessageChannel  `json:"channel"`
	Reference    string          `json:"reference,omitempty"` // under which the provider reports; "" = it does not
	Cost         string          `json:"cost,omitempty"`      // in the provider's words: "KES 0.8000"; "" = not known
	At           time.Time       `json:"at"`
}

// MessageDoubted records that nobody knows whether the gateway took the message: its answer was lost. It is not handed
// over again.
type MessageDoubted struct {
	MessageID    id.Message      `json:"messageId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Template     MessageTemplate `json:"template"`
	Channel      MessageChannel  `json:"channel"`
	At           time.Time       `json:"at"`
}

// MessageDelivered records the provider's report that the message has reached the phone.
type MessageDelivered struct {
	MessageID    id.Message    `json:"messageId"`
	SubscriberID id.Subscriber `json:"subscriberId"`
	At           time.Time     `json:"at"`
}

// MessageUndelivered records the provider's report that the message has not reached the phone, and will not.
type MessageUndelivered struct {
	MessageID    id.Message      `json:"messageId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Template     MessageTemplate `json:"template"`
	Reason       string          `json:"reason"` // in the provider's words, such as "AbsentSubscriber"
	At           time.Time       `json:"at"`
}

// MessageFailed records that the message cannot be sent.
type MessageFailed struct {
	MessageID    id.Message      `json:"messageId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Template     MessageTemplate `json:"template"`
	Code         string          `json:"code"` // such as "no_address"
	At           time.Time       `json:"at"`
}

// MessageDropped records that the message was not sent because it came too late, or is no longer true.
type MessageDropped struct {
	MessageID    id.Message      `json:"messageId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Template     MessageTemplate `json:"template"`
	Code         string          `json:"code"` // such as "expired"
	At           time.Time       `json:"at"`
}

func (MessageQueued) EventType() string      { return "messaging.MessageQueued.v1" }
func (MessageAddressed) EventType() string   { return "messaging.MessageAddressed.v1" }
func (MessageSent) EventType() string        { return "messaging.MessageSent.v1" }
func (MessageDoubted) EventType() string     { return "messaging.MessageDoubted.v1" }
func (MessageDelivered) EventType() string   { return "messaging.MessageDelivered.v1" }
func (MessageUndelivered) EventType() string { return "messaging.MessageUndelivered.v1" }
func (MessageFailed) EventType() string      { return "messaging.MessageFailed.v1" }
func (MessageDropped) EventType() string     { return "messaging.MessageDropped.v1" }

func (MessageQueued) messageEvent()      {}
func (MessageAddressed) messageEvent()   {}
func (MessageSent) messageEvent()        {}
func (MessageDoubted) messageEvent()     {}
func (MessageDelivered) messageEvent()   {}
func (MessageUndelivered) messageEvent() {}
func (MessageFailed) messageEvent()      {}
func (MessageDropped) messageEvent()     {}

func (e MessageAddressed) PersonalSubject() uuid.UUID { return e.SubscriberID.UUID() }
