package commands

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// MessageCategory begins the names of the streams of messages.
const MessageCategory = "message"

// MessageCommand acts on one message to a customer, from the wish to send it to its end.
//
//sumtype:decl
type MessageCommand interface {
	Command
	messageCommand()
}

// QueueMessage asks for a message. A second one with the same id changes nothing, unless the message of another sender
// was dropped.
type QueueMessage struct {
	MessageID      id.Message
	OrgID          id.Organization
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	Template       events.MessageTemplate
	Until          time.Time
	Sender         id.Any
	OutageID       id.Outage // zero = it is not about an outage of the network
}

// AddressMessage records the address before the message is handed to the gateway. Fails: not_found, message_over.
type AddressMessage struct {
	MessageID id.Message
	Channel   events.MessageChannel
	To        personal.Text
	Back      string // why it takes the way back from WhatsApp; "" = it does not
}

// ConfirmMessage records that the gateway took the message. Fails: not_found, message_over.
type ConfirmMessage struct {
	MessageID id.Message
	Reference string // under which the provider reports about it; "" = it does not
	Cost      string // in the provider's words; "" = not known
}

// DoubtMessage records that the gateway's answer was lost. Fails: not_found, message_over.
type DoubtMessage struct {
	MessageID id.Message
}

// ReportMessage records what the provider reports about a message that it took. What was delivered stays so, whatever
// is reported later. Fails: not_found, message_over for one that was not handed over.
type ReportMessage struct {
	MessageID id.Message
	Delivered bool
	Reason    string // why it was not delivered, in the provider's words
}

// FailMessage records why the message cannot be sent. Fails: not_found.
type FailMessage struct {
	MessageID id.Message
	Code      string
}

// DropMessage records why the message is not sent any more. Fails: not_found.
type DropMessage struct {
	MessageID id.Message
	Code      string
}

func (QueueMessage) CommandName() string   { return "messaging.QueueMessage" }
func (AddressMessage) CommandName() string { return "messaging.AddressMessage" }
func (ConfirmMessage) CommandName() string { return "messaging.ConfirmMessage" }
func (DoubtMessage) CommandName() string   { return "messaging.DoubtMessage" }
func (ReportMessage) CommandName() string  { return "messaging.ReportMessage" }
func (FailMessage) CommandName() string    { return "messaging.FailMessage" }
func (DropMessage) CommandName() string    { return "messaging.DropMessage" }

func (c QueueMessage) Target() Target   { return At(MessageCategory, c.MessageID) }
func (c AddressMessage) Target() Target { return At(MessageCategory, c.MessageID) }
func (c ConfirmMessage) Target() Target { return At(MessageCategory, c.MessageID) }
func (c DoubtMessage) Target() Target   { return At(MessageCategory, c.MessageID) }
func (c ReportMessage) Target() Target  { return At(MessageCategory, c.MessageID) }
func (c FailMessage) Target() Target    { return At(MessageCategory, c.MessageID) }
func (c DropMessage) Target() Target    { return At(MessageCategory, c.MessageID) }

func (QueueMessage) messageCommand()   {}
func (AddressMessage) messageCommand() {}
func (ConfirmMessage) messageCommand() {}
func (DoubtMessage) messageCommand()   {}
func (ReportMessage) messageCommand()  {}
func (FailMessage) messageCommand()    {}
func (DropMessage) messageCommand()    {}

// Validate checks form.
func (c QueueMessage) Validate() error {
	var f failure.Faults
	f.Check(!c.MessageID.IsZero(), "messageId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.SubscriberID.IsZero(), "subscriberId", "is required")
	f.Check(c.Template != "", "template", "is required")
	f.Check(!c.Until.IsZero(), "until", "is required")
	return f.Err()
}

// Validate checks form.
func (c AddressMessage) Validate() error {
	var f failure.Faults
	f.Check(slices.Contains(events.Channels(), c.Channel), "channel", "must be sms, email or whatsapp")
	f.Check(c.Back == "" || c.Channel != events.ChannelWhatsApp, "channel", "must not be whatsapp again")
	f.Check(c.To.Reveal() != "", "to", "is required")
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (ConfirmMessage) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (DoubtMessage) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (ReportMessage) Validate() error { return nil }

// Validate checks form.
func (c FailMessage) Validate() error { return checkMessageCode(c.Code) }

// Validate checks form.
func (c DropMessage) Validate() error { return checkMessageCode(c.Code) }

// checkMessageCode requires a code.
func checkMessageCode(code string) error {
	var f failure.Faults
	f.Check(code != "", "code", "is required")
	return f.Err()
}
