// Package messaging has the rules about messages to customers: each is sent once, whoever asks for it.
package messaging

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Messages defines the messages to customers: a stream for each, with an id that follows from its cause and its day.
func Messages() aggregates.Definition[Message, commands.MessageCommand, events.MessageEvent] {
	return aggregates.Definition[Message, commands.MessageCommand, events.MessageEvent]{
		Category: commands.MessageCategory, Missing: commands.ErrNotFound, Evolve: evolveMessage,
		Decide: decideMessage, Owner: func(s Message) id.Organization { return s.Org }, First: commands.QueueMessage{},
		Commands: []commands.MessageCommand{
			commands.QueueMessage{}, commands.AddressMessage{}, commands.ConfirmMessage{}, commands.FailMessage{},
			commands.DropMessage{},
		},
	}
}

// Message is one message. The zero value does not exist.
type Message struct {
	Org        id.Organization
	Subscriber id.Subscriber
	Template   events.MessageTemplate
	Channel    events.MessageChannel // "" before it has an address
	Until      time.Time
	Sender     id.Any
	Over       bool // it was sent, failed or was dropped
	Dropped    bool // it told nobody
}

// evolveMessage applies one recorded event.
func evolveMessage(s Message, e events.MessageEvent) Message {
	switch e := e.(type) {
	case events.MessageQueued:
		return Message{
			Org: e.OrgID, Subscriber: e.SubscriberID, Template: e.Template, Until: e.Until, Sender: e.Sender,
		}
	case events.MessageAddressed:
		s.Channel = e.Channel
	case events.MessageSent, events.MessageFailed:
		s.Over = true
	case events.MessageDropped:
		s.Over, s.Dropped = true, true
	}
	return s
}

// decideMessage only dispatches. A message that is over changes no more, but one that was dropped may be taken up.
func decideMessage(s Message, c commands.MessageCommand, now time.Time) ([]events.MessageEvent, error) {
	if q, ok := c.(commands.QueueMessage); ok {
		return decideQueueMessage(s, q, now), nil
	}
	if s.Org.IsZero() {
		return nil, commands.ErrNotFound()
	}
	switch c := c.(type) {
	case commands.QueueMessage: // above
	case commands.AddressMessage:
		if s.Over {
			return nil, errMessageOver()
		}
		return []events.MessageEvent{events.MessageAddressed{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, Channel: c.Channel, To: c.To, At: now,
		}}, nil
	case commands.ConfirmMessage:
		if s.Over || s.Channel == "" {
			return nil, errMessageOver()
		}
		return []events.MessageEvent{events.MessageSent{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, Template: s.Template, Channel: s.Channel, At: now,
		}}, nil
	case commands.FailMessage:
		if s.Over {
			return nil, nil
		}
		return []events.MessageEvent{events.MessageFailed{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, Template: s.Template, Code: c.Code, At: now,
		}}, nil
	case commands.DropMessage:
		if s.Over {
			return nil, nil
		}
		return []events.MessageEvent{events.MessageDropped{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, Template: s.Template, Code: c.Code, At: now,
		}}, nil
	}
	return nil, nil
}

// decideQueueMessage begins a message, unless its cause was told that day already, or another job is about to. What was
// dropped told nobody, so another job may begin it again.
func decideQueueMessage(s Message, c commands.QueueMessage, now time.Time) []events.MessageEvent {
	if !s.Org.IsZero() && (!s.Dropped || s.Sender == c.Sender) {
		return nil
	}
	return []events.MessageEvent{events.MessageQueued{
		MessageID: c.MessageID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, SubscriptionID: c.SubscriptionID,
		Template: c.Template, Until: c.Until.UTC(), Sender: c.Sender, OutageID: c.OutageID, At: now,
	}}
}

// errMessageOver is the failure for a message that was sent, failed or was dropped, or has no address yet.
func errMessageOver() error {
	return failure.NewConflict("message_over", "This message is not on its way.")
}
